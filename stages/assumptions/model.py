"""What the ledger is made of: the contract of a task, findings, and the ledger of one patch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Counted = Literal["article", "extended", "drift", "note"]
How = Literal["static", "runtime", "both"]

IMPORT, ENVIRONMENT, FILE = "import", "environment", "file"
ARTICLE_KINDS = (IMPORT, ENVIRONMENT, FILE)
EXTENDED_KINDS = (
    "dynamic_import",  # a module that can't be named, or a changed import path
    "env_escape",  # the environment handed on whole
    "env_write",  # the environment changed
    "exec",  # code that can't be read
    "native",  # a library loaded past the interpreter
    "opaque",  # a name that can't be known
    "parse_error",  # a source that can't be read
    "shell",  # another program started
    "socket",  # the network used
)
DRIFT_KINDS = (
    "annotation_changed",
    "async_changed",
    "default_changed",
    "kind_changed",
    "missing",
    "newly_required",
    "removed",
    "renamed",
    "reordered",
    "return_changed",
)
NOTE_KINDS = (
    *("added_optional", "binary", "default_added", "diff_bounded"),
    *("file_write", "kind_widened", "unexamined"),  # file_write: outside of the tree, as it ran
)


@dataclass(frozen=True)
class Allow:
    """What a task allows. `imports` are dotted prefixes or distribution names, `env` exact names,
    `files_write` path patterns (see `globs`)."""

    imports: tuple[str, ...]
    stdlib: bool
    env: tuple[str, ...]
    files_write: tuple[str, ...]


@dataclass(frozen=True)
class Interface:
    """The pinned definition. `function` may be `Class.method`; `signature` reads `(a: int, b=1) -> str`,
    with `async` before it where the definition is one. Without module or function nothing is pinned."""

    module: str | None
    function: str | None
    signature: str | None


@dataclass(frozen=True)
class Finding:
    """One thing that the ledger notes. `line` is 1-based in the produced file, 0 where none applies. `seen`: in the
    patch's text, as it ran, or both; what is only seen as it ran counts where `how` begins with `direct`."""

    kind: str
    path: str
    line: int
    symbol: str
    how: str
    counted: Counted
    seen: How = "static"

    @property
    def key(self) -> tuple[str, int, str, str, str, str]:
        return (self.path, self.line, self.kind, self.symbol, self.how, self.counted)


@dataclass(frozen=True)
class Ledger:
    """The findings of one patch, sorted by path, line, kind, symbol, and the lines that it added."""

    findings: tuple[Finding, ...]
    generated_lines: int
    interface_checked: bool

    def of(self, counted: Counted, kind: str | None = None) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.counted == counted and kind in (None, f.kind))

    @property
    def invented_imports(self) -> int:
        return len(self.of("article", IMPORT))

    @property
    def invented_env(self) -> int:
        return len(self.of("article", ENVIRONMENT))

    @property
    def unauthorised_files(self) -> int:
        return len(self.of("article", FILE))

    @property
    def violations(self) -> int:
        """The article's three kinds together."""
        return len(self.of("article"))

    @property
    def extended(self) -> int:
        return len(self.of("extended"))

    @property
    def interface_drift(self) -> int:
        return len(self.of("drift"))

    @property
    def parse_errors(self) -> int:
        return len(self.of("extended", "parse_error"))


@dataclass(frozen=True)
class Densities:
    """Raw counts of many ledgers and their rates per 1,000 generated lines, sum over sum."""

    ledgers: int
    generated_lines: int
    invented_imports: int
    invented_env: int
    unauthorised_files: int
    violations: int
    extended: int
    interface_checked: int
    interface_drifted: int

    @property
    def assumption_per_kloc(self) -> Fraction | None:
        """Violations per 1,000 generated lines; None where no line was generated."""
        return _per_kloc(self.violations, self.generated_lines)

    @property
    def extended_per_kloc(self) -> Fraction | None:
        return _per_kloc(self.extended, self.generated_lines)

    @property
    def interface_drift_rate(self) -> Fraction | None:
        """Share of the checked ledgers with at least one drift; None where none was checked."""
        return Fraction(self.interface_drifted, self.interface_checked) if self.interface_checked else None


def densities(ledgers: Iterable[Ledger]) -> Densities:
    """Sum the ledgers of an arm. Rates are of sums, so that a small patch weighs little."""
    rows = list(ledgers)
    return Densities(
        ledgers=len(rows),
        generated_lines=sum(r.generated_lines for r in rows),
        invented_imports=sum(r.invented_imports for r in rows),
        invented_env=sum(r.invented_env for r in rows),
        unauthorised_files=sum(r.unauthorised_files for r in rows),
        violations=sum(r.violations for r in rows),
        extended=sum(r.extended for r in rows),
        interface_checked=sum(r.interface_checked for r in rows),
        interface_drifted=sum(r.interface_checked and r.interface_drift > 0 for r in rows),
    )


def _per_kloc(count: int, lines: int) -> Fraction | None:
    return Fraction(1000 * count, lines) if lines else None
