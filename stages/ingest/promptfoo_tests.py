"""What promptfoo's rows are of: which test, which provider, which prompt; and whether all are there."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.text import kind
from stages.ingest.lines import finite
from stages.ingest.model import Notes, Options
from stages.ingest.values import clean, count, field_of, identity, mapping, name


@dataclass(frozen=True)
class Test:
    """What one row is of. `key` tells the trials of an item and arm apart."""

    called: str
    digest: str
    provider: str
    prompt: int
    index: int | None  # of the test, repeats counted
    key: Hashable


class Tests:
    """The tests of some logs. Names are whole once all rows are known."""

    def __init__(self) -> None:
        self._digests: dict[str, set[str]] = {}
        self._prompts: dict[str, set[int]] = {}
        self._known: dict[str, str] = {}

    def add(self, where: str, row: dict[str, Any], source: int, options: Options) -> Test:
        """What a row is of. Raises InputError where it doesn't say so."""
        case = mapping(where, row.get("testCase"), "testCase")
        variables = case.get("vars", row.get("vars"))
        digest = _digest(where, {"vars": variables, "assert": case.get("assert")})
        column = options.columns.get("item_id")
        said = case.get("description") or row.get("description") if column is None else field_of(row, column)
        if said is None and column is not None:
            raise InputError(where, f"no {column}", "the item's id")
        called = f"test-{digest[:12]}" if said in (None, "") else name(where, said, column or "description")
        told = _provider(where, row.get("provider"))
        provider = clean(told) or told
        if self._known.setdefault(provider, told) != told:
            raise InputError(where, f"two providers are called {provider}", "a label for each, without secrets")
        prompt = count(where, row.get("promptIdx"), "promptIdx") or 0
        index = count(where, row.get("testIdx"), "testIdx")
        key: Hashable = identity(where, row.get("id"), "id") or (source, prompt, where if index is None else index)
        self._digests.setdefault(called, set()).add(digest if column is None else "")  # an id that was declared stands
        self._prompts.setdefault(provider, set()).add(prompt)
        return Test(called, digest, provider, prompt, index, key)

    def item(self, test: Test) -> str:
        """The item's id: the test's name, with its digest where several tests have that name."""
        return test.called if len(self._digests[test.called]) == 1 else f"{test.called}#{test.digest[:8]}"

    def arm(self, test: Test) -> str:
        """The arm's label: the provider, with its prompt where it has several."""
        return test.provider if len(self._prompts[test.provider]) == 1 else f"{test.provider}#{test.prompt}"

    def arms(self) -> dict[str, str]:
        """Arm to provider."""
        return {
            one if len(prompts) == 1 else f"{one}#{prompt}": one
            for one, prompts in self._prompts.items()
            for prompt in sorted(prompts)
        }


def _digest(where: str, content: dict[str, Any]) -> str:
    try:
        return sha256(json.dumps(content, sort_keys=True, allow_nan=True).encode())
    except (ValueError, TypeError, RecursionError):
        raise InputError(where, "its vars and assert can't be written as JSON", "plain data") from None


def _provider(where: str, value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("label") or value.get("id")
    if not isinstance(value, str):
        raise InputError(where, f"provider is {kind(value)}", "a provider with label or id")
    return name(where, value, "provider")


def check_totals(where: str, about: dict[str, Any], rows: Sequence[tuple[Test, dict[str, Any]]], notes: Notes) -> None:
    """Note totals of an evaluation, and of its prompts, that the rows don't give."""
    good: tuple[str | None, ...] = ("passed",)
    bad: tuple[str | None, ...] = ("failed",)
    died: tuple[str | None, ...] = ("aborted", "timeout", "lost", None)
    stats = mapping(where, about.get("stats"), "stats")
    prompts = about.get("prompts")
    if prompts is None:
        prompts = field_of(about, "table.head.prompts")
    claims: list[tuple[str, dict[str, Any], dict[str, tuple[str | None, ...]], int | None]]
    claims = [("", stats, {"successes": good, "failures": bad, "errors": died}, None)]
    for number, prompt in enumerate(prompts if isinstance(prompts, list) else ()):
        metrics = mapping(where, mapping(where, prompt, "a prompt").get("metrics"), "metrics")
        own: dict[str, tuple[str | None, ...]] = {"testPassCount": good, "testFailCount": bad, "testErrorCount": died}
        claims.append((f"prompt {number}: ", metrics, own, number))
    for prefix, said, keys, only in claims:
        if "errors" not in said and "testErrorCount" not in said:
            keys = {key: (*which, *died) if which == bad else which for key, which in keys.items()}
        for key, which in keys.items():
            claimed = finite(said.get(key))
            found = sum(v["status"] in which and only in (None, test.prompt) for test, v in rows)
            if claimed is not None and claimed != found:
                notes.add("total_disagrees", where, f"{prefix}{key} is {claimed:g}, the rows give {found}")


def check_cells(where: str, tests: Sequence[Test], notes: Notes) -> None:
    """Note tests that some provider has a row of and another has none: the evaluation was interrupted."""
    if any(test.index is None for test in tests):
        return
    columns = {(test.provider, test.prompt) for test in tests}
    there = {(test.index, test.provider, test.prompt) for test in tests}
    names = {test.index: test.called for test in tests}
    gone = {index for index in names for column in columns if (index, *column) not in there}
    most = max(int(index or 0) for index in names) + 1
    absent = most * len(columns) - len(there)
    if absent > 0:
        found = f"{absent} of {most * len(columns)} rows of {most} tests and {len(columns)} providers aren't there"
        notes.add("unfinished_run", where, found, absent, sorted({names[index] for index in gone}))
