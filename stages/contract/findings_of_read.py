"""What reading foreign logs may find wrong with them, by name; a protocol says which of these withhold."""

from __future__ import annotations

from collections.abc import Sequence

FINDINGS_OF_READ = {
    "duplicate_rows": "The same trial stands in the log more than once with one outcome; it is counted once.",
    "conflicting_rows": "The same trial stands in the log more than once with several outcomes; none of them counts.",
    "nested_copies": "Files with the same bytes, or one run's folders within another's, were read once.",
    "torn_line": "A file ends within a line: a trial that was written there is lost.",
    "unfinished_run": "The log says that its run didn't end, or ended before all of its trials.",
    "total_disagrees": "A total or rate that the log claims isn't what its rows give.",
    "part_of_pack": "The log covers fewer items than the data set that it names.",
    "items_in_one_arm": "Items stand in one arm only.",
    "repeats_differ": "Items don't all have the same repeats in both arms.",
    "cached_repeats": "Rows were answered from a cache, so they repeat an earlier trial instead of being one.",
    "not_scored": "Trials have no outcome in the log: unscored, not a number, cancelled or invalidated.",
    "score_out_of_range": "A score lies outside of what its scale allows; such trials have no outcome.",
    "item_differs": "An item has one id and different contents in the two arms.",
    "oracle_unstable": "One patch got different verdicts.",
    "patch_differs": "The patch that was judged isn't the one that the log's predictions hold.",
    "machinery_only": "A patch touches nothing but the tests' own files; a pass by it counts as broken.",
    "unread_patches": "A patch, or a piece of one, can't be read; what it assumes isn't known.",
    "union_of_arms": "One arm passes exactly what several others together pass: the best of several runs is no run.",
    "restated_run": "One run or trial stands under two arms, or with two outcomes in two versions of a log.",
    "mixed_servers": "Trials of one arm were served by several models, providers or servers.",
    "waits_in_wall_time": "Wall time holds queueing and back-off; it compares nothing.",
    "tries_collapsed": "Several tries on one trial count as one trial, with the last of them as its outcome.",
    "other_arms": "Rows of arms other than the two that are compared; they aren't counted.",
    "no_strata": "The log names no strata; all items are one.",
    "synthetic": "The log says of itself that its rows are synthetic.",
}
"""Name to what it says."""

WITHHOLDING = (
    *("conflicting_rows", "torn_line", "unfinished_run", "total_disagrees", "cached_repeats", "score_out_of_range"),
    *("item_differs", "oracle_unstable", "union_of_arms", "restated_run", "mixed_servers", "synthetic"),
    "patch_differs",
)
"""Those that withhold by default."""


def withholds(kind: str, withhold_on: Sequence[str]) -> bool:
    """Whether a finding withholds under a protocol: what is synthetic stays so, whatever a protocol says."""
    return kind == "synthetic" or kind in withhold_on
