"""Parse unified diffs as git writes them into files, hunks and numbered lines. Pure; other text yields nothing."""

import re
from collections.abc import Iterable, Iterator

from halocline.protocol.kinds import Diff, Remark
from halocline.protocol.values import Value

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_BEGIN = "diff --git "


class Hunk(Value, frozen=True):
    """Lines with their signs; `numbers` are line numbers of the new file, None for removed lines."""

    head: str
    lines: tuple[str, ...]
    numbers: tuple[int | None, ...]


class FileDiff(Value, frozen=True):
    """The changes to one file. Without hunks it is binary, or only its name or mode changed."""

    path: str
    hunks: tuple[Hunk, ...]

    @property
    def lines(self) -> frozenset[int]:
        """The lines of the new file that the diff shows."""
        return frozenset(number for hunk in self.hunks for number in hunk.numbers if number is not None)


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Return the files of a diff, in order."""
    return tuple(
        _parse_file(part) for part in re.split(rf"^(?={_BEGIN})", text, flags=re.MULTILINE) if part.startswith(_BEGIN)
    )


def number_diff(files: Iterable[FileDiff]) -> Iterator[str]:
    """Yield the diff with line numbers, for a reader who refers to its lines."""
    for file in files:
        yield f"## {file.path}"
        if not file.hunks:
            yield "(no lines: binary, or only its name or mode changed)"
        for hunk in file.hunks:
            yield hunk.head
            for line, number in zip(hunk.lines, hunk.numbers, strict=True):
                yield f"{line[:1]} {'' if number is None else number:>5} | {line[1:]}"


def diff_with_remarks(file: FileDiff, remarks: tuple[Remark, ...]) -> Diff:
    """Return the hunks that have remarks, for display."""
    places = {remark.line for remark in remarks}
    kept = [hunk for hunk in file.hunks if places & set(hunk.numbers)]
    lines = [line for hunk in kept for line in (hunk.head, *hunk.lines)]
    return Diff(
        file.path,
        "\n".join([f"--- a/{file.path}", f"+++ b/{file.path}", *lines]) + "\n",
        sum(line.startswith("+") for hunk in file.hunks for line in hunk.lines),
        sum(line.startswith("-") for hunk in file.hunks for line in hunk.lines),
        remarks,
    )


def _parse_file(text: str) -> FileDiff:
    head, *bodies = re.split(r"^(?=@@ -)", text, flags=re.MULTILINE)
    return FileDiff(_parse_path(head), tuple(_parse_hunk(body.removesuffix("\n").split("\n")) for body in bodies))


def _parse_path(head: str) -> str:
    """Return the new name; for a deleted file, the old one."""
    names = {line[:4]: line[4:].rstrip("\t") for line in head.split("\n") if line.startswith(("--- ", "+++ "))}
    for name in (names.get("+++ ", ""), names.get("--- ", "")):
        if name and name != "/dev/null":
            return _unquote_name(name)[2:]
    renamed = re.search(r"^rename to (.*)$", head, re.MULTILINE)
    return _unquote_name(renamed[1]) if renamed else head.split("\n", 1)[0].rpartition(" b/")[2]


def _unquote_name(name: str) -> str:
    """Return a name without git's quoting."""
    if not name.startswith('"'):
        return name
    return name[1:-1].encode("latin-1", "replace").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def _parse_hunk(lines: list[str]) -> Hunk:
    head, *body = lines
    found = _HUNK.match(head)
    at = int(found[2]) if found else 1
    numbers: list[int | None] = []
    for line in body:
        new = not line.startswith(("-", "\\"))
        numbers.append(at if new else None)
        at += new
    return Hunk(head, tuple(body), tuple(numbers))
