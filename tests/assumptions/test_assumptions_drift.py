"""Interface drift: what breaks a caller of the pinned signature, and nothing else."""

from __future__ import annotations

import pytest
from assumptions_corpus import ALLOW, entries, written

from stages.assumptions import Interface, examine
from stages.contract.errors import InputError

PINNED = "(payment_id: str, attempt: int, *, wait: float = 1.5) -> RetryPlan"
HEAD = "from billing.types import RetryPlan\n\n"
GOOD = HEAD + "def schedule_retry(payment_id: str, attempt: int, *, wait: float = 1.5) -> RetryPlan: ...\n"


def drifts(
    text: str | dict[str, str],
    signature: str | None = PINNED,
    function: str = "schedule_retry",
    module: str = "billing.retry",
    counted: str = "drift",
) -> list[str]:
    files = text if isinstance(text, dict) else {"billing/retry.py": text}
    tree = {"billing/__init__.py": ""} | files
    ledger = examine(entries(tree), [], ALLOW, Interface(module, function, signature))
    assert ledger.interface_checked
    return [f"{f.kind} {f.symbol}" for f in ledger.findings if f.counted == counted]


def sig(parameters: str, returns: str = " -> RetryPlan", lead: str = "") -> str:
    return f"{HEAD}{lead}def schedule_retry({parameters}){returns}: ...\n"


CHANGES: dict[str, tuple[str | dict[str, str], list[str]]] = {
    "renamed": (sig("payment: str, attempt: int, *, wait: float = 1.5"), ["renamed payment_id"]),
    "keyword renamed": (sig("payment_id: str, attempt: int, *, delay: float = 1.5"), ["renamed wait"]),
    "renamed and retyped": (
        sig("payment: int, attempt: int, *, wait: float = 1.5"),
        ["annotation_changed payment_id", "renamed payment_id"],
    ),
    "removed": (sig("payment_id: str, *, wait: float = 1.5"), ["removed attempt"]),
    "keyword removed": (sig("payment_id: str, attempt: int"), ["removed wait"]),
    "swallowed by stars": (sig("*args, **kwargs"), ["removed attempt", "removed payment_id", "removed wait"]),
    "reordered": (sig("attempt: int, payment_id: str, *, wait: float = 1.5"), ["reordered schedule_retry"]),
    "pushed back": (
        sig("payment_id: str, urgent: bool = False, attempt: int = 0, *, wait: float = 1.5"),
        ["reordered schedule_retry"],
    ),
    "one more at the end": (
        sig("payment_id: str, attempt: int, who: str, *, wait: float = 1.5"),
        ["newly_required who"],
    ),
    "one more at the start": (
        sig("who: str, payment_id: str, attempt: int, *, wait: float = 1.5"),
        ["newly_required who"],
    ),
    "one more keyword": (sig("payment_id: str, attempt: int, *, wait: float = 1.5, who: str"), ["newly_required who"]),
    "default gone": (sig("payment_id: str, attempt: int, *, wait: float"), ["newly_required wait"]),
    "another default": (sig("payment_id: str, attempt: int, *, wait: float = 2.5"), ["default_changed wait"]),
    "another kind of default": (sig("payment_id: str, attempt: int, *, wait: float = None"), ["default_changed wait"]),
    "keyword only now": (sig("payment_id: str, *, attempt: int, wait: float = 1.5"), ["kind_changed attempt"]),
    "positional only now": (sig("payment_id: str, /, attempt: int, *, wait: float = 1.5"), ["kind_changed payment_id"]),
    "int to str": (sig("payment_id: str, attempt: str, *, wait: float = 1.5"), ["annotation_changed attempt"]),
    "str to int": (sig("payment_id: int, attempt: int, *, wait: float = 1.5"), ["annotation_changed payment_id"]),
    "no annotation": (sig("payment_id, attempt: int, *, wait: float = 1.5"), ["annotation_changed payment_id"]),
    "optional now": (
        sig("payment_id: str | None, attempt: int, *, wait: float = 1.5"),
        ["annotation_changed payment_id"],
    ),
    "another return": (
        sig("payment_id: str, attempt: int, *, wait: float = 1.5", " -> dict"),
        ["return_changed schedule_retry"],
    ),
    "no return": (sig("payment_id: str, attempt: int, *, wait: float = 1.5", ""), ["return_changed schedule_retry"]),
    "async": (
        sig("payment_id: str, attempt: int, *, wait: float = 1.5", lead="async "),
        ["async_changed schedule_retry"],
    ),
    "another of that name": (
        GOOD.replace("from billing.types import RetryPlan", "from ledger import Other as RetryPlan"),
        ["return_changed schedule_retry"],
    ),
    "gone": (HEAD, ["missing billing.retry.schedule_retry"]),
    "another case": (GOOD.replace("schedule_retry", "ScheduleRetry"), ["missing billing.retry.schedule_retry"]),
    "moved into a class": (
        "class A:\n    def schedule_retry(self): ...\n",
        ["missing billing.retry.schedule_retry"],
    ),
    "broken": ("def (:\n", ["missing billing.retry.schedule_retry"]),
    "no file": ({}, ["missing billing.retry.schedule_retry"]),
    "made at run time": ("schedule_retry = build()\n", ["missing billing.retry.schedule_retry"]),
    "defined again": (
        GOOD + "def schedule_retry(): ...\n",
        [
            "removed attempt",
            "removed payment_id",
            "removed wait",
            "return_changed schedule_retry",
        ],
    ),
    "round in a circle": (
        {
            "billing/retry.py": "from .other import schedule_retry\n",
            "billing/other.py": "from .retry import schedule_retry\n",
        },
        ["missing billing.retry.schedule_retry"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_breaks_callers_is_drift(name: str) -> None:
    text, expected = CHANGES[name]
    assert sorted(drifts(text)) == sorted(expected)


def test_of_at_least_25_distinct_changes_every_one_is_found_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    right = wrong = missed = 0
    rows = []
    for name, (text, expected) in CHANGES.items():
        got = drifts(text)
        right += len(set(got) & set(expected))
        wrong += len(set(got) - set(expected))
        missed += len(set(expected) - set(got))
        rows.append(f"{name:<24}{', '.join(sorted(expected)):<58}{'found' if sorted(got) == sorted(expected) else got}")
    assert len(CHANGES) >= 25
    assert len({str(text) for text, _ in CHANGES.values()}) == len(CHANGES)
    assert CHANGES["int to str"][1] == ["annotation_changed attempt"]
    with capsys.disabled():
        print("\n" + "\n".join(rows))
        print(f"{len(CHANGES)} changes: {right} drifts found, {wrong} wrong, {missed} missed")
    assert (wrong, missed) == (0, 0)


HOLDS: dict[str, str | dict[str, str]] = {
    "as pinned": GOOD,
    "quoted": sig("payment_id: 'str', attempt: 'int', *, wait: 'float' = 1.5", " -> 'RetryPlan'"),
    "with its module": "import billing.types\n"
    + GOOD.replace(HEAD, "").replace("RetryPlan", "billing.types.RetryPlan"),
    "with its module under another name": "from billing import types as t\n"
    + GOOD.replace(HEAD, "").replace("RetryPlan", "t.RetryPlan"),
    "under another name": "from billing.types import RetryPlan as P\n"
    + GOOD.replace(HEAD, "").replace("RetryPlan", "P"),
    "an alias": "Id = str\n" + GOOD.replace("payment_id: str", "payment_id: Id"),
    "a named default": "WAIT = 1.5\n" + GOOD.replace("= 1.5", "= WAIT").replace("WAIT = WAIT", "WAIT = 1.5"),
    "in a condition": "if True:\n    " + GOOD.replace(HEAD, "") + "\n",
    "overloaded": "from typing import overload\n@overload\ndef schedule_retry(x): ...\n" + GOOD,
    "re-exported": {"billing/retry.py": "from ._impl import schedule_retry\n", "billing/_impl.py": GOOD},
    "re-exported under another name": {
        "billing/retry.py": "from ._impl import f as schedule_retry\n",
        "billing/_impl.py": GOOD.replace("schedule_retry", "f"),
    },
    "by a star": {"billing/retry.py": "from billing._impl import *\n", "billing/_impl.py": GOOD},
    "assigned": GOOD.replace("schedule_retry", "_f") + "schedule_retry = _f\n",
    "through a module": {
        "billing/retry.py": "from . import _impl\nschedule_retry = _impl.f\n",
        "billing/_impl.py": GOOD.replace("schedule_retry", "f"),
    },
    "a package": {"billing/retry/__init__.py": "from .core import schedule_retry\n", "billing/retry/core.py": GOOD},
    "under src": {"src/pay/retry.py": GOOD},
}


@pytest.mark.parametrize("name", HOLDS)
def test_a_definition_that_means_the_same_is_no_drift(name: str) -> None:
    module = "pay.retry" if name == "under src" else "billing.retry"
    assert drifts(HOLDS[name], module=module) == []


WIDER = {
    "one more with a default": (
        sig("payment_id: str, attempt: int, who: str = '', *, wait: float = 1.5"),
        ["added_optional who"],
    ),
    "anything more": (sig("payment_id: str, attempt: int, *, wait: float = 1.5, **more"), ["added_optional **more"]),
    "a default": (sig("payment_id: str, attempt: int = 0, *, wait: float = 1.5"), ["default_added attempt"]),
    "no longer keyword only": (sig("payment_id: str, attempt: int, wait: float = 1.5"), ["kind_widened wait"]),
}


@pytest.mark.parametrize("name", WIDER)
def test_what_only_widens_the_interface_is_a_note(name: str) -> None:
    text, expected = WIDER[name]
    assert drifts(text) == []
    assert drifts(text, counted="note") == expected


@pytest.mark.parametrize(
    ("pinned", "produced", "equal"),
    [
        ("Optional[str]", "str | None", True),
        ("Union[int, str]", "str | int", True),
        ("str | None", "Optional['str']", True),
        ("List[int]", "list[int]", True),
        ("typing.Dict[str, List[int]]", "dict[str, list[int]]", True),
        ("Annotated[int, 'cents']", "int", True),
        ("Callable[[int], str]", "collections.abc.Callable[[int], str]", True),
        ("Literal['a', 'b']", "Literal['b', 'a']", True),
        ("None", "type(None)", False),
        ("list", "list[int]", False),
        ("list[int]", "list[str]", False),
        ("Callable[[int], str]", "Callable[[str], str]", False),
        ("Optional[str]", "str", False),
        ("int | str", "int | str | None", False),
        ("tuple[int, ...]", "tuple[int]", False),
        ("Literal['a']", "Literal['b']", False),
        ("Path", "pathlib.Path", True),
        ("pathlib.Path", "Path", True),
        ("Path", "os.PathLike", False),
    ],
)
def test_annotations_are_compared_by_what_they_mean(pinned: str, produced: str, equal: bool) -> None:
    found = drifts(f"def f(x: {produced}): ...\n", f"(x: {pinned})", "f")
    assert found == ([] if equal else ["annotation_changed x"])


@pytest.mark.parametrize(
    ("text", "function", "signature", "expected"),
    [
        ("class A:\n    def f(self, x: int): ...\n", "A.f", "(x: int)", []),
        ("class A:\n    def f(self, x: int): ...\n", "A.f", "(self, x: int)", []),
        ("class A:\n    @classmethod\n    def f(cls, x): ...\n", "A.f", "(x)", []),
        ("class A:\n    @staticmethod\n    def f(x): ...\n", "A.f", "(x)", []),
        ("class A:\n    def f(self, y): ...\n", "A.f", "(x)", ["renamed x"]),
        ("class A:\n    def g(self): ...\n", "A.f", "(x)", ["missing billing.retry.A.f"]),
        ("class B:\n    def f(self, x): ...\nclass A(B): ...\n", "A.f", "(x)", []),
        ("class A:\n    class B:\n        def f(self, x): ...\n", "A.B.f", "(x)", []),
        ("class A:\n    def __init__(self, x: int): ...\n", "A", "(x: int)", []),
        ("class A:\n    def __init__(self, x: str): ...\n", "A", "(x: int)", ["annotation_changed x"]),
        (
            "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n    y: int = 0\n",
            "A",
            "(x: int, y: int = 0)",
            [],
        ),
        ("f = lambda x: x\n", "f", "(x)", []),
        ("async def f(x): ...\n", "f", "async (x)", []),
        ("def f(x): ...\n", "f", "async def f(x)", ["async_changed f"]),
        ("def f(x): ...\n", "f", None, []),
    ],
)
def test_methods_classes_and_lambdas_are_found(
    text: str, function: str, signature: str | None, expected: list[str]
) -> None:
    assert drifts(text, signature, function) == expected


def test_a_change_of_int_to_str_is_shown_with_both() -> None:
    tree = {"billing/retry.py": sig("payment_id: str, attempt: str, *, wait: float = 1.5")}
    ledger = examine(entries(tree), [], ALLOW, Interface("billing.retry", "schedule_retry", PINNED))
    (finding,) = ledger.of("drift")
    assert (finding.path, finding.line, finding.how) == ("billing/retry.py", 3, "int to str")


def test_nothing_pinned_is_nothing_checked() -> None:
    for interface in (None, Interface(None, None, None), Interface("billing.retry", None, None)):
        ledger = examine(entries({}), [written("billing/retry.py", GOOD)], ALLOW, interface)
        assert not ledger.interface_checked
        assert ledger.interface_drift == 0


def test_a_pinned_signature_that_is_no_python_is_refused_in_one_line() -> None:
    for text in ("payment_id", "(a, a)", "(a", "(): ...\nimport os\ndef g()", ""):
        with pytest.raises(InputError, match=r"interface\.signature: .*expected a signature") as caught:
            drifts(GOOD, text)
        assert "\n" not in str(caught.value)
