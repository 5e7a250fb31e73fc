"""Hard limits. Nothing that a study writes can loosen them."""

from __future__ import annotations

from fractions import Fraction

MAX_YAML_BYTES = 256 * 1024
MAX_YAML_DEPTH = 20
MAX_YAML_NODES = 20_000
MAX_JSON_BYTES = 256 * 1024 * 1024
MAX_JSON_DEPTH = 100
MAX_LINE_BYTES = 64 * 1024

MAX_ITEMS = 100_000
MAX_FILES_PER_ITEM = 20_000
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_ITEM_BYTES = 64 * 1024 * 1024
MAX_WHEEL_BYTES = 64 * 1024 * 1024
MAX_WHEEL_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_PATH_CHARS = 240
MAX_RENAMED = 10_000
MAX_STATEMENT_BYTES = 64 * 1024  # it also travels as one environment variable, which Linux bounds at 128 KiB

MAX_TRIAL_BUDGET = 1_000
MAX_TIME_BUDGET_S = 24 * 3600
MAX_ORACLE_TIMEOUT_S = 3600
MAX_RETRY_CEILING = 10
MAX_REPLACEMENTS = 5
MAX_FAMILY = 10_000

TRANSCRIPT_BYTES = 1_000_000
PATCH_FILE_BYTES = 8 * 1024 * 1024
PATCH_BYTES = 32 * 1024 * 1024

# A protocol looser than these still runs; its decision is withheld as protocol_below_floor.
FLOOR_ALPHA = Fraction(1, 20)
FLOOR_EXCLUDED_SHARE = Fraction(1, 10)
FLOOR_STRATUM_ITEMS = 5
FLOOR_KEPT_ITEMS = 20
FLOOR_MARGIN = Fraction(1, 10)  # beyond, "not worse" would hold for runners that are plainly worse
