"""Unified diffs as git and plain `diff -u` write them: which files, and which lines were added where.

Read and never applied. A hunk that ends before its header says so is read as far as it goes and marked as `short`;
one that goes on is refused, since lines beyond it would be applied by some tools and dropped by others. Lines are
bytes without their LF; a CR stays. A file that stands in several patches of a series comes out several times.
"""

from __future__ import annotations

import re

from stages.contract import limits
from stages.contract.errors import InputError
from stages.ingest.diff_model import FileDiff, Hunk
from stages.ingest.diff_paths import header_paths, named, one_path, quoted, tree_path

MAX_FILES = 20_000
MAX_LINES = 1_000_000
WHAT = "a unified diff, as `git diff` writes it"
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_MODE = re.compile(rb"(old|new|new file|deleted file) mode ([0-7]{6})")
_INDEX = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+ ([0-7]{6})")
_BINARY = re.compile(rb"Binary files (.+) and (.+) differ")
_SIGNATURE = (b"-- ", b"--")  # below a mailed patch
_EXTENDED = tuple(
    b"old mode |new mode |new file mode |deleted file mode |similarity index |dissimilarity index |index |"
    b"rename from |rename to |copy from |copy to ".split(b"|")
)


def parse_diff(data: bytes, where: object = "patch") -> list[FileDiff]:
    """The files of a diff in its order; none for an empty one. Text around diffs, as in mails, is passed over.

    Raises InputError naming the line: for what holds no diff, hunks that are malformed or too long, paths that lead
    out of the tree or aren't UTF-8, merges (`@@@`), more than 32 MiB, 1,000,000 lines or 20,000 files.
    """
    if len(data) > limits.PATCH_BYTES:
        raise InputError(where, f"{len(data):,} bytes", f"a patch of at most {limits.PATCH_BYTES:,}")
    if data.count(b"\n") > MAX_LINES:
        raise InputError(where, f"more than {MAX_LINES:,} lines", "a patch of one trial")
    if not data.strip():
        return []
    reader = _Reader(data.split(b"\n"), where)
    files = reader.files()
    if not files:
        raise InputError(where, "no diff in it", WHAT)
    return files


class _Reader:
    """A place in the lines of one diff."""

    def __init__(self, lines: list[bytes], where: object) -> None:
        if lines and not lines[-1]:
            lines.pop()
        self.lines, self.at, self._where = lines, 0, where

    def files(self) -> list[FileDiff]:
        found: list[FileDiff] = []
        while self.at < len(self.lines):
            line = self._line()
            if line.startswith((b"diff --cc ", b"diff --combined ", b"@@@ ")):
                raise self.error("the diff of a merge", WHAT)
            if line.startswith(b"diff --git "):
                found.append(self._git())
            elif self._plain_header():
                found.append(self._hunks(FileDiff(None, None), b""))
            elif binary := _BINARY.fullmatch(line):
                found.append(self._pair(FileDiff(None, None, binary=True), binary[1], binary[2], b""))
                self.at += 1
            elif line.startswith(b"Only in "):
                raise self.error("a file of which only the name stands here", "its content", "use diff -ruN")
            elif line.startswith(b"@@ -"):
                raise self.error("a hunk before any file", "`--- ` and `+++ ` with the file's paths before it")
            else:
                self.at += 1
            if len(found) > MAX_FILES:
                raise self.error(f"more than {MAX_FILES:,} files", "a patch of one trial")
        return found

    def error(self, found: str, expected: str, todo: str = "") -> InputError:
        return InputError(f"{self._where}: line {self.at + 1}", found, expected, todo)

    def _line(self, ahead: int = 0) -> bytes:
        """A line without a CR at its end, as headers are read; empty beyond the end."""
        at = self.at + ahead
        return self.lines[at].rstrip(b"\r") if at < len(self.lines) else b""

    def _plain_header(self, ahead: int = 0) -> bool:
        return self._line(ahead).startswith(b"--- ") and self._line(ahead + 1).startswith(b"+++ ")

    def _path(self, raw: bytes) -> str:
        try:
            return tree_path(raw)
        except ValueError as error:
            raise self.error(str(error), "a path within the tree") from None

    def _git(self) -> FileDiff:
        header = self._line().removeprefix(b"diff --git ")
        file = FileDiff(None, None)
        named: dict[bytes, bytes] = {}
        self.at += 1
        while self._line().startswith(_EXTENDED):
            line = self._line()
            mode, index = _MODE.fullmatch(line), _INDEX.fullmatch(line)
            if mode:
                word, bits = mode[1], mode[2].decode()
                if word.startswith(b"new"):
                    file.mode_after = bits
                else:
                    file.mode_before = bits
                file.op = "add" if word == b"new file" else "delete" if word == b"deleted file" else file.op
            elif index:
                file.mode_before = file.mode_after = index[1].decode()
            elif line.startswith((b"rename ", b"copy ")):
                word, way, path = line.split(b" ", 2)
                named[way] = path
                file.op = "rename" if word == b"rename" else "copy"
            self.at += 1
        if self._plain_header():
            file = self._hunks(file, header)
        else:
            self._named(file, header, named)
            file.binary = self._binary()
            if file.op == "modify" and not file.binary and file.mode_before != file.mode_after:
                file.op = "mode"
        if named:
            try:
                old, new = (self._path(quoted(named[way])) for way in (b"from", b"to"))
            except (KeyError, ValueError):
                raise self.error("half of a rename or copy", "`rename from` and `rename to`") from None
            if file.hunks and (file.before, file.after) != (old, new):
                raise self.error("a rename and hunks of other files", WHAT)
            file.before, file.after = old, new
        return file

    def _named(self, file: FileDiff, header: bytes, named: dict[bytes, bytes]) -> None:
        """Paths of a file without hunks, from git's own line."""
        if named:
            return
        try:
            path = self._path(one_path(header))
        except ValueError as error:
            raise self.error(str(error), WHAT) from None
        file.before = None if file.op == "add" else path
        file.after = None if file.op == "delete" else path

    def _binary(self) -> bool:
        if self._line().startswith(b"Binary files "):
            self.at += 1
            return True
        if self._line() != b"GIT binary patch":
            return False
        while self.at < len(self.lines) and not self._line().startswith(b"diff --git "):
            self.at += 1
        return True

    def _hunks(self, file: FileDiff, header: bytes) -> FileDiff:
        """The two paths, and all hunks up to the next file or text."""
        self._pair(file, self._line()[4:], self._line(1)[4:], header)
        self.at += 2
        if not self._line().startswith(b"@@ -"):
            raise self.error("no hunk after a file's paths", "`@@ -1,2 +1,3 @@`")
        while self._line().startswith(b"@@ -"):
            file.hunks.append(self._hunk())
        ahead = 0
        while self.at + ahead < len(self.lines) and not self._line(ahead).strip():
            ahead += 1
        rest = self._line(ahead)
        if rest[:1] in (b"+", b"-", b"\\", b" ") and not self._plain_header(ahead) and rest not in _SIGNATURE:
            raise self.error("lines beyond the end that the hunk's header says", "headers that count their lines")
        if not header and len(file.hunks) == 1:  # without git, only the hunk tells a new or deleted file
            signs = {sign for sign, _ in file.hunks[0].lines}
            if file.hunks[0].old_start == 0 and signs <= {"+"}:
                file.before, file.op = None, "add"
            elif file.hunks[0].new_start == 0 and signs <= {"-"}:
                file.after, file.op = None, "delete"
        return file

    def _pair(self, file: FileDiff, old: bytes, new: bytes, header: bytes) -> FileDiff:
        """The paths of both sides, and what they say of the file."""
        try:
            before, after = header_paths(old, new, header)
        except ValueError as error:
            raise self.error(str(error), "`--- a/PATH` and `+++ b/PATH`") from None
        file.before = None if before is None else self._path(before)
        file.after = None if after is None else self._path(after)
        if file.before is None and file.after is None:
            raise self.error("a file from nowhere to nowhere", WHAT)
        if file.before is None:
            file.op = "add"
        elif file.after is None:
            file.op = "delete"
        elif not header:
            file.before = file.after  # plain diffs may name a copy of the file
        elif file.before != file.after and file.op not in ("rename", "copy"):
            raise self.error("two different paths and no rename", WHAT)
        told = named(header) if header else None
        if told is not None and {before, after} - {told, None}:
            raise self.error("another path than the `diff --git` line's", WHAT)
        return file

    def _hunk(self) -> Hunk:
        match = _HUNK.match(self._line())
        if match is None:
            raise self.error("a malformed hunk header", "`@@ -1,2 +1,3 @@`")
        old, new = (1 if count is None else int(count) for count in (match[2], match[4]))
        hunk = Hunk(int(match[1]), int(match[3]))
        self.at += 1
        while old or new:
            if self.at >= len(self.lines) or (self._plain_header() and self._line(2).startswith(b"@@ -")):
                break
            line = self.lines[self.at]
            sign = line[:1].decode("latin-1") if line not in (b"", b"\r") else " "
            if sign == "\\":
                self._bare(hunk)
                continue
            if sign not in " +-":
                break
            if (sign != "+" and not old) or (sign != "-" and not new):
                raise self.error("more lines than the hunk's header says", "headers that count their lines")
            old, new = old - (sign != "+"), new - (sign != "-")
            hunk.lines.append((sign, line[1:] if line not in (b"", b"\r") else line))
            self.at += 1
        hunk.short = bool(old or new)
        if self._line().startswith(b"\\"):
            self._bare(hunk)
        return hunk

    def _bare(self, hunk: Hunk) -> None:
        """`\\ No newline at end of file`, of the line before it."""
        if not hunk.lines:
            raise self.error("no line that could lack its end", WHAT)
        hunk.ends_bare += hunk.lines[-1][0]
        self.at += 1
