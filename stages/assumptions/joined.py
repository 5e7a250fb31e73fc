"""What was read in a patch and what it was seen to do, as one list in which nothing stands twice.

A deed that the text already told only marks the finding `both`. One that it didn't is a finding of its own: it
counts where the patch did it directly, and is a note where a library or the tree's old code stands between. Where
the text left a name open (`opaque`, `dynamic_import`, a program unknown) and the deed says it, the deed stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stages.assumptions.distributions import import_prefixes
from stages.assumptions.model import ARTICLE_KINDS, ENVIRONMENT, EXTENDED_KINDS, IMPORT, Allow, Counted, Finding
from stages.assumptions.permission import Habits, Verdict, judge_act, judge_import
from stages.assumptions.seen import Seen
from stages.assumptions.tables import SHELL
from stages.assumptions.workspace import Workspace
from stages.contract.ran import DIRECT, Ran

_KINDS = frozenset((*ARTICLE_KINDS[:2], *EXTENDED_KINDS, "file_write"))
_LEFT_OPEN = {"opaque": ENVIRONMENT, "dynamic_import": IMPORT, "shell": "shell"}


def joined(
    read: Sequence[Finding], ran: Iterable[Ran], workspace: Workspace, allow: Allow, before: Habits
) -> list[Finding]:
    """The findings of the text, marked where they were seen to happen, and those that only the run showed."""
    found = list(read)
    places: dict[tuple[str, str | int], list[int]] = {}
    for i, finding in enumerate(found):
        places.setdefault((finding.path, finding.kind), []).append(i)
        places.setdefault((finding.path, finding.line), []).append(i)
    fresh: list[Finding] = []
    explained: set[int] = set()
    for one in _reduced(ran, workspace):
        same = [i for i in places.get((one.path, one.kind), ()) if _same(found[i], one)]
        for i in same:
            found[i] = replace(found[i], seen="both")
        if same:
            continue
        verdict = _judged(one, workspace, allow, before)
        if verdict.standing == "fine":
            continue
        already = verdict.standing == "already"
        counted = "note" if already or one.how != DIRECT else _counted(one.kind)
        how = one.how + verdict.why + (", already in the tree" if already else "")
        here = places.get((one.path, one.line), ()) if counted != "note" else ()
        left = [i for i in here if _leaves_open(found[i], one)]
        explained.update(left)
        how = "; ".join([how, *(found[i].how for i in left)])
        fresh.append(Finding(one.kind, one.path, one.line, verdict.symbol, how, counted, "both" if left else "runtime"))
    return [finding for i, finding in enumerate(found) if i not in explained] + fresh


def _reduced(ran: Iterable[Ran], workspace: Workspace) -> list[Ran]:
    """Each deed of a file once, direct before others. Importing `a.b` imports `a` at the same line."""
    known = sorted({one for one in ran if one.path in workspace.files and one.kind in _KINDS})
    deeper = {
        (one.path, one.line, one.symbol[:end])
        for one in known
        if one.kind == IMPORT
        for end, letter in enumerate(one.symbol)
        if letter == "."
    }
    kept: dict[tuple[str, str, str], Ran] = {}
    for one in sorted(known, key=lambda one: (one.path, one.how != DIRECT, one.line, one)):
        if one.kind != IMPORT or (one.path, one.line, one.symbol) not in deeper:
            kept.setdefault((one.path, one.kind, one.symbol), one)
    return list(kept.values())


def _same(finding: Finding, one: Ran) -> bool:
    """Whether both are about one thing: a module and its parts, a program, a key; sockets and escapes by file."""
    if (finding.path, finding.kind) != (one.path, one.kind):
        return False
    if one.kind == IMPORT:
        return _below(finding.symbol, one.symbol) or _below(one.symbol, finding.symbol)
    return one.kind in ("socket", "env_escape") or finding.symbol == one.symbol


def _leaves_open(finding: Finding, one: Ran) -> bool:
    """Whether the text told that something of this kind is done on the line, and not what."""
    if (finding.path, finding.line, _LEFT_OPEN.get(finding.kind)) != (one.path, one.line, one.kind):
        return False
    return finding.counted == "extended" and (finding.kind != "shell" or finding.symbol in SHELL)


def _judged(one: Ran, workspace: Workspace, allow: Allow, before: Habits) -> Verdict:
    """By the rules for what is read. At run time a folder of the tree is a module, and parents come with a module."""
    lines = (one.line, one.line)
    if one.kind == IMPORT:
        prefixes = [prefix for entry in allow.imports for prefix in import_prefixes(entry)]
        if workspace.locate(one.symbol, one.path) is not None or any(_below(p, one.symbol) for p in prefixes):
            return Verdict("fine", one.symbol)
        return judge_import(Seen(IMPORT, one.symbol, one.how, lines, known=True), one.path, workspace, allow, before)
    if one.kind == "socket" and any(kind == "socket" for kind, _ in before.acts):
        return Verdict("already", one.symbol)
    return judge_act(Seen(one.kind, one.symbol, one.how, lines, known=True), one.path, True, allow, before)


def _counted(kind: str) -> Counted:
    return "article" if kind in ARTICLE_KINDS else "extended" if kind in EXTENDED_KINDS else "note"


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")
