"""Every reason and every rule in one registry, in the order in which reasons are named.

Report, README and `weighbridge explain` are generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Why a comparison is withheld: what it says, and what would have to change. `process` reasons are about how the
    study was run; the others are about its numbers."""

    id: str
    says: str
    change: str
    process: bool = True


@dataclass(frozen=True)
class Rule:
    """Why an item, a trial or a pair isn't counted. `scope`: item, trial, pair or event."""

    id: str
    scope: str
    says: str


PUBLISHED = "publish_blocked_delta_only"

_R = Reason
REASONS: dict[str, Reason] = {
    r.id: r
    for r in [
        _R(
            "not_a_benchmark",
            "The study is marked exploratory or a tutorial, so its outcomes are a dated transcript that compares nothing.",
            "Run it with study.mode: benchmark.",
        ),
        _R(
            "placebo_passed",
            "An item whose oracle is impossible was passed, so no verdict of this batch can be trusted.",
            "Find out how the oracle was passed, mend it, and start a new campaign.",
        ),
        _R(
            "no_negative_control",
            "No placebo was scored in both arms, or none with a kind of oracle that items have; nothing shows that it can fail.",
            "Add placebo items to the pack, one at least for each kind of oracle.",
        ),
        _R(
            "outcomes_not_of_manifest",
            "Some trials belong to another plan than the frozen one.",
            "Score the trials of this plan, or restore the manifest that they belong to.",
        ),
        _R(
            "pack_changed_after_run",
            "The pack was edited under the same id, revision and campaign after trials existed.",
            "Undo the edit, or give the pack a new revision and run new trials.",
        ),
        _R(
            "protocol_changed_after_run",
            "The protocol was edited after the trials had started.",
            "Restore it, or name a new protocol.campaign and run new trials.",
        ),
        _R(
            "protocol_below_floor",
            "The protocol is looser than the hard limits.",
            "Use alpha of at most 0.05, max_excluded_share of at most 0.10, at least 5 items a stratum and 20 in all.",
        ),
        _R(
            "posthoc_exclusion",
            "An exclusion was asked for by a rule that wasn't registered, or that nothing on the frozen bytes bears out.",
            "Take it out of data/exclusions.jsonl, or register the rule and run a new campaign.",
        ),
        _R(
            "trials_missing",
            "Not every planned trial was scored or excluded by a rule.",
            "Run `weighbridge run`: finished trials are kept, missing ones are run; a stopped campaign needs a new one.",
        ),
        _R(
            "log_unsound",
            "What was found while the logs were read can't be true of sound runs, or hides what happened.",
            "Mend what wrote the logs and run again; protocol.withhold_on names the findings that withhold.",
        ),
        _R(
            "not_isolated",
            "Agents ran without isolation, so they could have read the oracle.",
            "Run where user namespaces are allowed; `weighbridge doctor` says what is missing.",
        ),
        _R(
            "arms_unequal",
            "The two arms ran under different limits or isolation, or were served differently where the protocol forbids it.",
            "Run both arms on equal machines under the same limits, served by the same model, region and quota.",
        ),
        _R(
            "not_interleaved",
            "The arms ran one after the other, so a shift of the session falls on one of them.",
            "Use arms.order: interleaved.",
        ),
        _R(
            "runner_changed",
            "A runner's version or installed files changed during the campaign.",
            "Pin what is installed and start a new campaign.",
        ),
        _R(
            "no_session_evidence",
            "The session stamps are missing, or were asserted by a person.",
            "Record stamps while trials run; they can't be filled in afterwards.",
        ),
        _R(
            "no_assumption_ledger",
            "There is no ledger of assumptions beside the score.",
            "Score the patches; a pass rate alone is not published.",
        ),
        _R(
            "retrospective",
            "The slice was named after the outcomes could be seen.",
            "Freeze the protocol first and run new trials.",
        ),
        _R(
            "registration_missing",
            "The protocol demands a registration that this campaign hasn't.",
            "Register before the first trial of a new campaign.",
        ),
        _R(
            "family_exceeded",
            "More candidates were tried against this control on this slice than the protocol's family allows.",
            "Declare the family before the first of them is run.",
        ),
        _R(
            "too_few_clean_tasks",
            "Too few items are left after exclusions.",
            "More items, or fewer exclusions.",
            False,
        ),
        _R(
            "stratum_too_small",
            "A stratum of the summary has too few items left.",
            "More items of that stratum.",
            False,
        ),
        _R(
            "no_variance",
            "Nothing shows how much the difference would vary: all items of every stratum differ alike, or one stands alone.",
            "Items on which the arms differ.",
            False,
        ),
        _R(
            "below_minimum_detectable_effect",
            "The difference is smaller than the registered smallest effect worth publishing.",
            "Nothing: the registered effect was fixed before the run.",
            False,
        ),
        _R(
            "interval_crosses_zero",
            "The interval doesn't exclude zero (or, for noninferiority, the margin).",
            "More items or repeats, planned beforehand.",
            False,
        ),
        _R(
            "bracket_undecided",
            "The interval could only be bracketed, and its two ends disagree.",
            "Equal numbers of repeats, which give an exact interval.",
            False,
        ),
        _R(
            "sign_flip_not_significant",
            "The exact sign-flip test doesn't agree that the difference is more than luck.",
            "More items or repeats, planned beforehand.",
            False,
        ),
        _R(
            "strata_disagree",
            "A stratum moves beyond the minimum effect against the summary: the strata are the result.",
            "Publish the strata as they are; no summary stands over them.",
            False,
        ),
        _R(
            "weights_decide",
            "Equal and proportional weights give opposite signs.",
            "Publish the strata as they are.",
            False,
        ),
        _R(
            "observed_disagrees",
            "With excluded trials counted as observed the study would not publish the same direction.",
            "Fewer exclusions.",
            False,
        ),
        _R(
            "excluded_as_fail_disagrees",
            "With excluded trials counted as fails the study would not publish the same direction.",
            "Fewer exclusions.",
            False,
        ),
        _R(
            "beside_as_fail_disagrees",
            "With passes that could not be found apart from the tests counted as fails the study would not publish the "
            "same direction.",
            "Oracles that ask for plain values, so that every tree can be judged apart.",
            False,
        ),
        _R(
            "exclusion_asymmetry",
            "Exclusions fell on one arm more than on the other.",
            "A cause that hits both arms.",
            False,
        ),
        _R(
            "too_many_exclusions",
            "More pairs were excluded than the protocol allows.",
            "A cleaner session.",
            False,
        ),
    ]
}

_U = Rule
RULES: dict[str, Rule] = {
    r.id: r
    for r in [
        _U(
            "missing_fixture",
            "item",
            "Something that the oracle needs is absent: no test, or no reference solution.",
        ),
        _U(
            "leaked_solution",
            "item",
            "The reference solution, or every hidden test, can be read in the statement or in the workspace.",
        ),
        _U(
            "oracle_broken",
            "item",
            "The oracle doesn't fail on the untouched workspace, doesn't pass the reference solution, or passes a wrong one; "
            "or that solution breaks the task's own contract.",
        ),
        _U("oracle_flaky", "item", "The oracle gave two verdicts on the same bytes before any arm ran."),
        _U(
            "oracle_weak",
            "item",
            "The oracle passes more small faults in the reference solution than max_surviving_mutants allows.",
        ),
        _U(
            "missing_stamp",
            "trial",
            "An attempt has no session stamp, or one that can't be read or can't be of this trial.",
        ),
        _U("stamp_unavailable", "trial", "A field of the session stamp could not be observed."),
        _U("foreign_server", "trial", "The trial was served by a server outside the envelope."),
        _U("queue_delay", "trial", "The trial waited longer than the envelope allows."),
        _U("retries", "trial", "The trial took more retries than the envelope allows."),
        _U("quota_state", "trial", "The quota state was outside the envelope."),
        _U("route_change", "trial", "The route changed during the trial."),
        _U("conversation_empty", "trial", "The trial's first request carried on an earlier conversation."),
        _U("stamp_inconsistent", "trial", "The session stamp contradicts itself."),
        _U("lost", "trial", "The harness lost the trial, once; a trial lost twice is a fail."),
        _U(
            "pair_partner",
            "pair",
            "The other arm's trial of the same item and repeat was excluded or is missing.",
        ),
        _U("too_few_pairs", "item", "Fewer than half of the item's pairs were kept."),
    ]
}


def ordered(found: set[str]) -> list[str]:
    """Reasons in the registry's order. Raises KeyError for one that isn't registered."""
    for one in found:
        REASONS[one]
    return [one for one in REASONS if one in found]
