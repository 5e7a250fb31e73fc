"""A pack under other identifiers: what is published can be learnt by heart, what is drawn from a seed can't.

`mutate_pack` takes the bytes of a frozen pack and a seed. In every task whose budget allows it, spellings that the
task owns are exchanged for drawn ones in workspace, statement, oracle, solution and wrong solutions alike. Item ids
and the pack's id stay, so a mutated pack is a look at its ancestor; revisions name the seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stages.contract import limits
from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.task import Pack, Task
from stages.contract.trees import LINK, Entry
from stages.contract.types import plain, validate
from stages.packs.mutate_file import take_in
from stages.packs.mutate_names import new_name
from stages.packs.mutate_outside import outside_names
from stages.packs.mutate_source import Source, identifiers, is_python, own_tops, parse, path_words
from stages.packs.mutate_survey import Survey
from stages.packs.mutate_text import code_parts, replace_spans, words
from stages.packs.read import FrozenItem, FrozenPack

_SHORTEST = 3
_CONVENTIONS = frozenset({"self", "cls", "args", "kwargs", "main"})


@dataclass(frozen=True)
class Mutation:
    """What was done to one task: old names to new ones, and the visible names that stayed, with a key of WHY.

    `foreign` are its files with source code of other languages and other text, which are never changed.
    """

    item_id: str
    budget: int | None
    renamed: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)


def mutate_pack(pack: FrozenPack, seed: int) -> tuple[FrozenPack, list[Mutation]]:
    """The pack under the names of this seed, and what was done to each task.

    Raises InputError for a pack that was mutated already, or where a revision has no room for the seed.
    """
    if pack.pack.mutated is not None:
        found = f"is a pack that seed {pack.pack.mutated.seed} made"
        raise InputError(f"pack {pack.pack.id}", found, "its ancestor", "mutate that one, or take away the seed")
    done = [mutate_item(item, seed) for item in pack.items]
    made = {**plain(pack.pack), "revision": f"{pack.pack.revision}-m{seed}"}
    made["mutated"] = {"seed": seed, "rev": pack.pack.revision}
    return FrozenPack(validate(Pack, made, "pack.yaml"), [item for item, _ in done]), [each for _, each in done]


def changed(done: list[Mutation], seed: int) -> None:
    """Raises InputError where a mutation changes nothing, since the pack would only seem to be another one."""
    if any(each.renamed for each in done):
        return
    if not any(each.budget != 0 for each in done):
        found = "no task has a mutation_budget.rename_identifiers, so nothing would change"
        raise InputError(f"mutation seed {seed}", found, "a budget in at least one task.yaml", "give tasks a budget")
    found = "no task with a mutation_budget has an identifier that could be renamed, so nothing would change"
    raise InputError(f"mutation seed {seed}", found, "identifiers of a task's own in its Python files")


def mutate_item(item: FrozenItem, seed: int) -> tuple[FrozenItem, Mutation]:
    """A task under the names of this seed; the very same task where its budget or its code allow no change."""
    allowed = item.task.mutation_budget.rename_identifiers
    budget = None if allowed is True else int(allowed)
    if budget == 0:
        return item, Mutation(item.task.id, 0)
    read = _read(item)
    ranked, kept = _candidates(item, read)
    chosen = ranked[:budget]
    kept |= dict.fromkeys(ranked[len(chosen) :], "budget")
    taken = {*read.words, *outside_names()}
    names: dict[str, str] = {}
    for old in chosen:
        names[old] = new_name(seed, item.task.id, old, taken)
        taken.add(names[old])
    done = Mutation(item.task.id, budget, names, dict(sorted(kept.items())), read.foreign)
    return (_renamed(item, read, names, seed) if names else item), done


@dataclass(frozen=True)
class _Read:
    """A task's files as they were understood: by digest the Python ones, and every word that stands anywhere."""

    sources: dict[str, Source]
    survey: Survey
    words: set[str]
    foreign: list[str]


def _trees(item: FrozenItem) -> Iterator[tuple[str, list[Entry]]]:
    yield from (("workspace", item.tree), (item.task.oracle.path, item.oracle), ("solution", item.solution))
    yield from ((f"wrong/{name}", files) for name, files in item.wrong.items())


def _read(item: FrozenItem) -> _Read:
    files = [(f"{role}/{e.path}", e) for role, entries in _trees(item) for e in entries]
    entries = [e for _, e in files]
    paths = path_words(entries)
    survey = Survey(own_tops(entries), frozenset(paths))
    task, statement = item.task, item.statement.decode("utf-8")
    declared = plain(task)
    every = {*words(statement), *words(_text(declared)), *paths}
    for name in paths:
        survey.keep(name, "path")
    for key in ("interface", "allow", "oracle", "canaries", "source", "environment"):
        for name in words(_text(declared[key])):
            survey.keep(name, "pinned")
    for code, part in code_parts(statement):
        for name in () if code else words(part):
            survey.keep(name, "prose")
    sources: dict[str, Source] = {}
    foreign: list[str] = []
    for path, entry in files:
        every |= words(entry.content.decode("utf-8", "replace"))
        if entry.mode == LINK or (is_python(entry) and entry.sha256 in sources):
            continue
        source = parse(entry)
        if source is not None:
            sources[entry.sha256] = source
            take_in(survey, source)
            continue
        foreign.append(path)
        for name in words(entry.content.decode("latin-1")):
            survey.keep(name, "text")
    survey.conclude()
    return _Read(sources, survey, every, foreign)


def _text(value: Any) -> str:
    """All text in a dump, its keys aside."""
    if isinstance(value, dict | list):
        return "\n".join(_text(each) for each in (value.values() if isinstance(value, dict) else value))
    return value if isinstance(value, str) else ""


def _candidates(item: FrozenItem, read: _Read) -> tuple[list[str], dict[str, str]]:
    """Names to rename, the most identifying first, and those that an agent sees too but that stay.

    Only what an agent can see counts: identifiers of the workspace, and code of the statement.
    """
    seen: Counter[str] = Counter()
    for entry in item.tree:
        if entry.sha256 in read.sources:
            seen.update(identifiers(read.sources[entry.sha256].tree))
    for code, part in code_parts(item.statement.decode("utf-8")):
        seen.update(words(part) if code else ())
    survey = read.survey
    own = [n for n in seen if n in survey.ranks and _worth(n)]
    kept = {name: survey.kept[name] for name in own if name in survey.kept}
    ranked = sorted((n for n in own if n not in kept), key=lambda n: (survey.ranks[n], -seen[n], n))
    return ranked, kept


def _worth(name: str) -> bool:
    """Whether a name says anything, and is free to be another one."""
    return (
        name.isascii() and len(name.strip("_")) >= _SHORTEST and not name.startswith("__") and name not in _CONVENTIONS
    )


def _renamed(item: FrozenItem, read: _Read, names: Mapping[str, str], seed: int) -> FrozenItem:
    from stages.packs.mutate_rewrite import rewrite  # libcst is slow to import

    made = {key: rewrite(source, names).encode() for key, source in read.sources.items()}

    def tree(entries: list[Entry]) -> list[Entry]:
        return [replace(e, content=made.get(e.sha256, e.content)) if is_python(e) else e for e in entries]

    statement = replace_spans(item.statement.decode("utf-8"), names).encode()
    where = f"tasks/{item.task.id}/task.yaml"
    if len(statement) > limits.MAX_STATEMENT_BYTES:
        raise InputError(where, f"a mutated statement of {len(statement):,} bytes", f"{limits.MAX_STATEMENT_BYTES:,}")
    task: dict[str, Any] = {**plain(item.task), "rev": f"{item.task.rev}-m{seed}"}
    task["mutated"] = {"seed": seed, "rev": item.task.rev}
    if item.task.prompt_sha256 is not None:
        task["prompt_sha256"] = sha256(statement)
    if item.task.source.git is not None:
        task["source"] = {"path": "workspace"}
    wrong = {name: tree(files) for name, files in item.wrong.items()}
    return FrozenItem(
        validate(Task, task, where),
        statement,
        tree(item.tree),
        tree(item.oracle),
        tree(item.solution),
        wrong,
        item.wheels,
    )
