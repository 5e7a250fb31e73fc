"""The assumption ledger of a patch whose tree isn't there: from its added lines, and the context that it shows.

What a tree would tell is taken from the diff or left open:
- An import of the tree's own, as the paths of the diff or a leading dot say, is a note: whether such a module is there
  can't be seen. If the allow list names modules of that package, those that it doesn't name count.
- What removed lines or context already do is a note (`already in the tree`).
- `os`, `sys`, `subprocess`, `importlib` mean those modules in a piece of a file that doesn't show its imports.
- A piece that can't be parsed without the rest gives its imports, line by line, and is a note `unexamined` with the
  number of its added lines: environment reads and the like in them aren't counted.
`generated_lines` are all lines that the diff adds to text files. Nothing is run. No interface is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stages.assumptions import Allow, Finding, Ledger, examine
from stages.contract import task
from stages.contract.errors import one_line
from stages.contract.trees import FILE, LINK, Change
from stages.ingest.diffs import FileDiff, only_machinery, parse_diff, weakened
from stages.ingest.patch_pieces import Piece, pieces
from stages.ingest.secrets import clean

_ALL = Allow((), False, (), ("**",))
_UNSEEN = "no such module in the tree"
_OWN = "of the tree's own, as its paths say; without the tree it can't be looked up"
_KNOWN = "already in the tree"
_ROOTS = ("src", "lib", "python")


@dataclass(frozen=True)
class PatchLedger:
    """What a patch assumes, as far as it shows without its tree. `unread_lines`: added lines of pieces that can't be
    parsed alone. `machinery_only`, `weakened_assertions`: see `diffs`."""

    ledger: Ledger
    unread_lines: int
    machinery_only: bool
    weakened_assertions: int

    def counts(self) -> dict[str, int]:
        """The counts by the names that the trial ledger has for them, and how many lines weren't read."""
        found = self.ledger
        return {
            "invented_imports": found.invented_imports,
            "invented_env": found.invented_env,
            "unauthorised_files": found.unauthorised_files,
            "violations": found.violations,
            "generated_lines": found.generated_lines,
            "extended": found.extended,
            "unread_lines": self.unread_lines,
        }

    def rows(self) -> list[dict[str, Any]]:
        """The findings, numbered from 0, as rows of the findings' table have them."""
        return [{"number": n, **vars(finding)} for n, finding in enumerate(self.ledger.findings)]


def patch_ledger(diff: bytes | Sequence[FileDiff], allow: Allow | task.Allow, where: object = "patch") -> PatchLedger:
    """The ledger of a unified diff under an allow list. Raises InputError for what is no diff (see `parse_diff`)."""
    files = parse_diff(diff, where) if isinstance(diff, bytes) else list(diff)
    asked = allow if isinstance(allow, Allow) else _plain(allow)
    before, after = pieces(files, "-"), pieces(files, "+")
    known = {(f.kind, f.symbol) for f in _seen(_changes(before, files, "-"), before, _ALL) if f.kind != "parse_error"}
    own = _own_packages(files)
    findings = []
    for finding in _seen(_changes(after, files, "+"), after, asked):
        piece = after.get(finding.path)
        if finding.kind == "parse_error" and (piece is None or not piece.whole):
            how = f"a piece that isn't read to its end ({finding.how})"
            finding = Finding("unexamined", finding.path, 0, finding.path, how, "note")
        elif finding.kind == "import" and finding.counted == "article" and _is_own(finding, own, asked, files):
            finding = replace(finding, counted="note", how=f"{finding.how.replace(', ' + _UNSEEN, '')}, {_OWN}")
        elif finding.counted in ("article", "extended") and _already(finding, known):
            finding = replace(finding, counted="note", how=_KNOWN)
        findings.append(finding)
    unread = 0
    for path, piece in after.items():
        if piece.alone:
            unread += len(piece.alone)
            how = f"{len(piece.alone)} added lines in pieces that can't be parsed without the rest of the file"
            findings.append(Finding("unexamined", path, 0, path, how, "note"))
    lines = sum(len(file.added) for file in files if not file.binary and file.mode_after != LINK)
    tidy = {replace(f, symbol=one_line(clean(f.symbol), 120), how=one_line(clean(f.how), 200)) for f in findings}
    ledger = Ledger(tuple(sorted(tidy, key=lambda f: f.key)), lines, False)
    return PatchLedger(ledger, unread, only_machinery(files), weakened(files))


def _plain(allow: task.Allow) -> Allow:
    return Allow(tuple(allow.imports), allow.stdlib, tuple(allow.env), tuple(allow.files_write))


def _changes(made: dict[str, Piece], files: Sequence[FileDiff], side: str) -> list[Change]:
    """One side of a diff as a patch onto an empty tree: on the side after, with what it deletes and special files."""
    changes = {
        path: Change(path, piece.op, piece.was, piece.mode, None, None, piece.content) for path, piece in made.items()
    }
    for file in files if side == "+" else ():
        if file.op in ("delete", "rename") and file.before is not None:
            changes.setdefault(
                file.before, Change(file.before, "delete", file.mode_before or FILE, None, None, None, None)
            )
    return list(changes.values())


def _seen(changes: Sequence[Change], made: dict[str, Piece], allow: Allow) -> Iterable[Finding]:
    """Findings in lines that one side has, at their numbers in the file; those of lines put there are left out."""
    for finding in examine((), changes, allow, None).findings:
        piece = made.get(finding.path)
        if piece is None or finding.line == 0 or finding.kind == "parse_error":
            yield finding
            continue
        place = piece.places[finding.line - 1] if finding.line <= len(piece.places) else None
        if place is not None and (place or piece.side == "-"):
            how = f"{finding.how}, by this line alone" if place in piece.alone else finding.how
            yield replace(finding, line=place, how=how)


def _already(finding: Finding, known: set[tuple[str, str]]) -> bool:
    if finding.kind != "import":
        return (finding.kind, finding.symbol) in known and finding.line > 0
    return any(kind == "import" and (_below(finding.symbol, s) or _below(s, finding.symbol)) for kind, s in known)


def _below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith((prefix + ".", prefix + "/"))


def _own_packages(files: Iterable[FileDiff]) -> set[str]:
    """Top-level names that the paths of Python files show to be the tree's own."""
    found = set()
    for file in files:
        for path in (file.before, file.after):
            if path is not None and path.endswith((".py", ".pyi")):
                parts = path.split("/")
                while len(parts) > 1 and parts[0] in _ROOTS:
                    parts = parts[1:]
                found.add(parts[0].rpartition(".")[0] if len(parts) == 1 else parts[0])
    return found


def _is_own(finding: Finding, own: set[str], allow: Allow, files: Iterable[FileDiff]) -> bool:
    """Whether an import is of a module that only the tree could show."""
    if "out of the tree" in finding.how:
        return False
    if finding.path.endswith(".java"):
        package = "/".join(finding.symbol.split(".")[:2])
        return any(f"/{package}/" in f"/{file.path}" for file in files if file.path.endswith(".java"))
    top = finding.symbol.partition(".")[0]
    if any(entry.partition(".")[0] == top for entry in allow.imports if "." in entry):
        return False  # the list goes module by module
    if finding.how.startswith("relative import") or _UNSEEN in finding.how:
        return True
    return finding.path.endswith((".py", ".pyi", ".pyw")) and top in own
