"""What can be wrong with the values of params.yaml."""

from __future__ import annotations

from collections.abc import Callable

from tests.cli.refusals import Case, Damage, candidate, parametrised, protocol, put, text

ARM = "arms.candidate"


def _written(key: str, value: str) -> Damage:
    """A key of the protocol written as these very characters."""
    return text("params.yaml", "protocol:\n", f"protocol:\n  {key}: {value}\n")


NUMBERS = [
    Case("NaN", _written("alpha", ".nan"), ("params.yaml:", ".nan, which is no finite number"), process=True),
    Case("infinity", _written("alpha", "-.inf"), ("params.yaml:", "-.inf, which is no finite number")),
    Case("NaN as text", protocol(alpha="NaN"), ("params.yaml: protocol.alpha", "'NaN'", "not a finite number")),
    Case("1e999999", _written("alpha", "1e999999"), ("params.yaml: protocol.alpha", "digits")),
    Case("an exponent beyond all bounds", _written("alpha", "1e" + "9" * 40), ("params.yaml:", "beyond all bounds")),
    Case("10**400", _written("alpha", str(10**400)), ("params.yaml:", "over 60 digits")),
    Case("10**50", _written("alpha", str(10**50)), ("params.yaml: protocol.alpha", "more than 40 digits")),
    Case("10**400 as text", protocol(alpha=str(10**400)), ("params.yaml: protocol.alpha",)),
    Case("a count of 10**20", _written("family", str(10**20)), ("protocol.family", "2**53")),
    Case("a ratio of a ratio", protocol(alpha="1/2/3"), ("params.yaml: protocol.alpha", "no number")),
    Case("a very long ratio", protocol(alpha="1" + "/1" * 50_000), ("params.yaml: protocol.alpha", "no number")),
    Case("a ratio by zero", protocol(alpha="1/0"), ("params.yaml: protocol.alpha", "division by zero")),
    Case("digits of another script", protocol(alpha="٠.٠٥"), ("params.yaml: protocol.alpha", "no number")),
    Case("a boolean for a share", protocol(alpha=True), ("params.yaml: protocol.alpha", "a boolean is no number")),
    Case("a boolean for a count", protocol(family=True), ("params.yaml: protocol.family", "found True", "integer")),
    Case("a float for a count", _written("family", "1.0"), ("params.yaml: protocol.family", "1.0", "whole number")),
    Case("text for a count", protocol(trial_budget="3"), ("params.yaml: protocol.trial_budget", "'3'", "integer")),
    Case("a negative count", protocol(retry_ceiling=-1), ("params.yaml: protocol.retry_ceiling", "-1")),
    Case("a negative share", protocol(max_excluded_share=-0.1), ("params.yaml: protocol.max_excluded_share", "-0.1")),
    Case(
        "a limit without its rule",
        protocol(max_surviving_mutants="0.5", exclusion_rules=["lost"]),
        ("params.yaml: protocol", "max_surviving_mutants: only with its rule, oracle_weak"),
    ),
    Case("more than all mutants", protocol(max_surviving_mutants=2), ("protocol.max_surviving_mutants", "found 2")),
    Case("zero repeats", protocol(trial_budget=0), ("params.yaml: protocol.trial_budget", "found 0"), process=True),
    Case("an alpha of zero", protocol(alpha=0), ("params.yaml: protocol.alpha", "between 0 and 1")),
    Case("too many repeats", protocol(trial_budget=1001), ("params.yaml: protocol.trial_budget", "1000")),
    Case("a time budget of a year", protocol(time_budget_s=31536000), ("params.yaml: protocol.time_budget_s", "86400")),
    Case("a share above 1", protocol(min_detectable_effect=5), ("protocol.min_detectable_effect", "from 0 to 1")),
    Case("no workers", text("params.yaml", "workers: 2", "workers: 0"), ("params.yaml: run.workers", "'auto' or ")),
]

KEYS = [
    Case("a misspelt key", protocol(trial_budgte=3), ("protocol.trial_budgte", "did you mean 'trial_budget'?")),
    Case("a misspelt section", text("params.yaml", "protocol:", "protocl:"), ("protocl", "did you mean 'protocol'?")),
    Case("a misspelt key that another needs", candidate(comand=["x"]), (f"{ARM}.comand", "did you mean 'command'?")),
    Case("a missing section", put("params.yaml", "study: {}\n"), ("params.yaml: arms", "missing")),
    Case("a list for a section", put("params.yaml", "protocol: [1]\n"), ("params.yaml: protocol",)),
    Case("nothing for a section", text("params.yaml", "mode: benchmark", ""), ("params.yaml: study",)),
    Case("a mode that there isn't", text("params.yaml", "benchmark", "real"), ("study.mode", "'real'", "'tutorial'")),
    Case("yes for a switch", _written("envelope", "{allow_route_change: yes}"), ("allow_route_change", "'yes'")),
    Case("a rule that there isn't", protocol(exclusion_rules=["looks_bad"]), ("protocol.exclusion_rules.0",)),
    Case("a rule twice", protocol(exclusion_rules=["lost", "lost"]), ("protocol.exclusion_rules", "each name once")),
    Case("a margin without its claim", protocol(margin=0.1), ("params.yaml: protocol", "noninferiority")),
    Case("a campaign that is no id", protocol(campaign="../2"), ("params.yaml: protocol.campaign", "an id")),
    Case("a seed below zero", text("params.yaml", "pack:\n", "pack:\n  mutation_seed: -1\n"), ("pack.mutation_seed",)),
    Case(
        "a seed for a pack without budgets",
        text("params.yaml", "pack:\n", "pack:\n  mutation_seed: 1\n"),
        ("mutation seed 1", "no task has a mutation_budget.rename_identifiers", "nothing would change"),
    ),
]

STRATA = [
    Case("weights that don't sum to 1", protocol(strata_weights={"left": 0.5, "right": 0.4}), ("sum to exactly 1",)),
    Case("thirds in decimals", protocol(strata_weights={"left": 0.333, "right": 0.666}), ("sum to exactly 1",)),
    Case("a negative weight", protocol(strata_weights={"left": -1, "right": 2}), ("no negative weight",)),
    Case("a weight that is no number", protocol(strata_weights={"left": "x"}), ("strata_weights.left", "'x'")),
    Case("weights by a word", protocol(strata_weights="equall"), ("protocol.strata_weights", "'proportional'")),
    Case("a weight for no stratum", protocol(strata_weights={"left": 0.5, "up": 0.5}), ("strata_weights", "left, up")),
    Case("a case series that is large", protocol(case_series=["left"], min_stratum_items=2), ("'left' has 2 items",)),
    Case("only case series", protocol(case_series=["left", "right"]), ("protocol.case_series", "no stratum left")),
    Case("a case series of no stratum", protocol(case_series=["up"]), ("protocol.case_series", "stratum 'up'")),
    Case("merges in a circle", protocol(merges={"left": "right", "right": "left"}), ("protocol", "itself merged")),
    Case("a merge into itself", protocol(merges={"left": "left"}), ("protocol", "merges: left into left")),
    Case("a merge of no stratum", protocol(merges={"up": "left"}), ("protocol.merges", "stratum 'up'", "left, right")),
]

ARMS = [
    Case("no command", candidate(command=[]), (f"{ARM}.command", "at least 1")),
    Case("a command for a shell", candidate(command="python3 x"), (f"{ARM}.command", "'python3 x'", "list")),
    Case("a misspelt placeholder", candidate(command=["a", "{statment}"]), (ARM, "did you mean {statement}?")),
    Case("a placeholder in the program", candidate(command=["{seed}"]), (ARM, "install as placeholders, not {seed}")),
    Case("a placeholder for nothing", candidate(command=["a", "{model}"]), (ARM, "declares no model")),
    Case("a placeholder for a version", candidate(version_command=["a", "{statement}"]), (ARM, "version_command")),
    Case("no install path", candidate(install_paths=[]), (ARM, "declares no install_paths"), process=True),
    Case("an install path that leaves", candidate(install_paths=["../x"]), (f"{ARM}.install_paths.0", "'../x'")),
    Case("an absolute install path", candidate(install_paths=["/opt/x"]), (f"{ARM}.install_paths.0", "'/opt/x'")),
    Case("install paths of one name", candidate(install_paths=["a/x", "b/x"]), (f"{ARM}.install_paths", "different")),
    Case("a variable with its value", candidate(env=["KEY=1"]), (f"{ARM}.env.0", "'KEY=1'")),
    Case("a name that is no id", candidate(name="a b"), (f"{ARM}.name", "'a b'", "an id")),
    Case("a negative seed", candidate(seed=-1), (f"{ARM}.seed", "-1")),
    Case("a temperature in words", candidate(temperature="warm"), (f"{ARM}.temperature", "'warm'", "'hidden'")),
    Case("a provider", candidate(session={"provider": "x"}), (f"{ARM}.session.provider", "'x'", "openai")),
    Case("a provider without its address", candidate(session={"provider": "vllm"}), (f"{ARM}.session", "upstream")),
    Case(
        "a key for the agent",
        candidate(session={"provider": "openai", "key_env": "KEY"}, env=["KEY"]),
        (ARM, "env: without KEY"),
    ),
    Case(
        "a session without a way out", candidate(session={"provider": "openai"}), ("protocol.tools.network", "provider")
    ),
    Case("a variable twice", candidate(env=["A"], variables={"A": "1"}), (ARM, "variables: A is passed")),
]


@parametrised(NUMBERS)
def test_a_number_that_is_none_or_out_of_bounds_is_refused_in_one_line(
    case: Case, refuse: Callable[[Case], None]
) -> None:
    refuse(case)


@parametrised(KEYS)
def test_a_key_that_is_unknown_missing_or_of_another_kind_is_refused_in_one_line(
    case: Case, refuse: Callable[[Case], None]
) -> None:
    refuse(case)


@parametrised(STRATA)
def test_a_design_that_the_pack_cant_carry_is_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)


@parametrised(ARMS)
def test_an_arm_that_cant_be_called_as_written_is_refused_in_one_line(
    case: Case, refuse: Callable[[Case], None]
) -> None:
    refuse(case)
