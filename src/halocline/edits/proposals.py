"""The text that an edit proposes: as it is written, as it waits for approval, in part, and as a person changed it.

Pure. What cannot be known exactly is None, and never a guess.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from halocline.edits.diff import make_diff
from halocline.edits.edit import UnplacedEdits
from halocline.edits.formats import blocks, exact, patch
from halocline.edits.plan import all_or_none, what_fits
from halocline.edits.preview.growing_arguments import GrowingArguments
from halocline.edits.swapping import swap_hunks
from halocline.edits.text import EditError, TextFile, common_ends, lines_of
from halocline.protocol.kinds import Diff
from halocline.protocol.values import JsonObject, Value

UNLIMITED = 1 << 60
"""Characters of a diff that is applied and not shown."""
_NOTHING = "/dev/null"
_HEAD = re.compile(r"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)")
_CUT = re.compile(r"^(?=@@ -\d)", re.MULTILINE)


class ProposedText(Value, frozen=True):
    """A file before an edit and after it, with LF line endings. None: it does not exist."""

    path: str
    before: str | None
    after: str | None


def apply_diff(before: str | None, diff: Diff) -> ProposedText | None:
    """Return a file with an edit applied; None if the diff is cut, or was made of another text."""
    lines = diff.text.split("\n")
    shown = (_count_lines(lines, "+"), _count_lines(lines, "-"))
    if shown != (diff.added, diff.removed):
        return None
    try:
        after = swap_hunks(before or "", diff.text, back=False)
    except EditError:
        return None
    return ProposedText(diff.path, before, None if f"+++ {_NOTHING}" in lines else after)


def _count_lines(lines: Sequence[str], sign: str) -> int:
    """Count the changed lines of one side, without the header above the first hunk."""
    first = next((at for at, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    return sum(line.startswith(sign) for line in lines[first:])


class GrowingProposal:
    """The text that an edit proposes so far, fed with the pieces of its call's arguments."""

    def __init__(self, name: str, aliases: Mapping[str, str]) -> None:
        self._name = name
        self._aliases = aliases
        self._arguments = GrowingArguments()
        self._fields: dict[str, list[str]] = {}
        self._ended: set[str] = set()

    def feed(self, arguments: str) -> None:
        """Take more of the arguments' JSON."""
        for piece in self._arguments.feed(arguments):
            name = self._aliases.get(piece.field, piece.field)
            self._fields.setdefault(name, []).append(piece.text)
            if piece.ends:
                self._ended.add(name)

    @property
    def path(self) -> str:
        """The path once it is complete; empty before, and for a patch of several files."""
        return self._field("path") if "path" in self._ended else ""

    def text(self, before: str) -> str | None:
        """Return the file with what is written so far; None if nothing can be said yet."""
        match self._name:
            case "write_to_file" if "content" in self._fields:
                return self._whole(before)
            case "replace_in_file" if "diff" in self._fields:
                return self._replaced(before)
        return None

    def _field(self, name: str) -> str:
        return "".join(self._fields.get(name, ()))

    def _whole(self, before: str) -> str:
        """The new lines, and below them the old ones that they have not reached."""
        content = self._field("content")
        if "content" in self._ended:
            return content
        written = content[: content.rfind("\n") + 1]
        return written + "".join(before.splitlines(keepends=True)[written.count("\n") :])

    def _replaced(self, before: str) -> str | None:
        """The file with the blocks that are complete and have a place."""
        lines = self._field("diff").split("\n")
        ends = [
            at
            for at, line in enumerate(lines[:-1])
            if (found := blocks.marker_in(line, at)) and found.kind is blocks.Kind.END
        ]
        if not ends:
            return before
        try:
            return what_fits(TextFile(before), blocks.parse_blocks("\n".join(lines[: ends[-1] + 1]))).file.view
        except (UnplacedEdits, EditError):
            return None


def rewrite_arguments(name: str, given: JsonObject, texts: Sequence[ProposedText]) -> JsonObject | None:
    """Return arguments with which the same tool makes exactly these texts; None if it cannot.

    `texts` are all files of the call, with `after` as a person wants it; `given` has the tool's own parameter names.
    """
    match name, texts:
        case "write_to_file", [ProposedText(after=str(after))]:
            return {**given, "content": after}
        case "replace_in_file", [ProposedText(before=str(before), after=str(after))]:
            found = _find_replacement(before, after)
            return {"path": given["path"], "old_text": found[0], "new_text": found[1]} if found else None
        case "apply_patch", _ if not given.get("folder"):
            return _rewrite_patch(given, texts)
    return None


def _find_replacement(before: str, after: str) -> tuple[str, str] | None:
    """Return the changed lines before and after, with as many around them as make their place certain."""
    old, new = before.split("\n"), after.split("\n")
    same, tail = common_ends(old, new)
    for around in (3, 30, 300, len(old)):
        above, below = max(0, same - around), max(0, tail - around)
        pair = "\n".join(old[above : len(old) - below]), "\n".join(new[above : len(new) - below])
        if _does_replace(before, after, *pair):
            return pair
    return None


def _does_replace(before: str, after: str, old: str, new: str) -> bool:
    try:
        return all_or_none(TextFile(before), exact.parse_exact(old, new)).file.view == after
    except EditError:
        return False


def _rewrite_patch(given: JsonObject, texts: Sequence[ProposedText]) -> JsonObject | None:
    sections = [line for text in texts for line in _make_section(text)]
    whole = "\n".join(["*** Begin Patch", *sections, "*** End Patch"])
    try:
        made = {one.path: one for one in patch.parse_patch(whole)}
        for text in texts:
            if text.before is not None and text.after is not None and text.before != text.after:
                if all_or_none(TextFile(text.before), made[text.path].edits).file.view != text.after:
                    return None
            elif text.before is None and text.after is not None and not text.after.endswith("\n"):
                return None
    except (EditError, KeyError):
        return None
    return {**given, "input": whole}


def _make_section(text: ProposedText) -> list[str]:
    if text.after == text.before:
        return []
    if text.after is None:
        return [f"*** Delete File: {text.path}"]
    if text.before is None:
        return [f"*** Add File: {text.path}", *(f"+{line}" for line in lines_of(text.after))]
    hunks = make_diff(text.path, text.before, text.after, UNLIMITED).text.split("\n")
    first = next((at for at, line in enumerate(hunks) if line.startswith("@@ ")), len(hunks))
    body = ["@@" if line.startswith("@@ ") else line for line in hunks[first:] if line[:1] != "\\"]
    return [f"*** Update File: {text.path}", *(body[:-1] if body and not body[-1] else body)]


class ProposedHunk(Value, frozen=True):
    """One change of a file: the number of its first changed line, and the changed lines with their signs.

    Lines are counted from 1; a removed one by its place in the old text, an added one by that in the new.
    """

    path: str
    line: int
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return len(self.lines) - self.added


def list_hunks(diffs: Sequence[Diff]) -> list[ProposedHunk]:
    """Return the hunks of an edit in order."""
    return [hunk for diff in diffs for hunk in _hunks_of(diff)]


def take_hunks(texts: Sequence[ProposedText], diffs: Sequence[Diff], taken: Collection[int]) -> dict[str, str | None]:
    """Return the texts of the files that would differ, by path, if only the hunks with these places were made.

    `texts` are the files of the diffs, in the same order. Raises EditError.
    """
    wanted: dict[str, str | None] = {}
    first = 0
    for text, diff in zip(texts, diffs, strict=True):
        head, *hunks = _CUT.split(diff.text)
        kept = [hunk for at, hunk in enumerate(hunks, first) if at in taken]
        first += len(hunks)
        if len(kept) < len(hunks):
            part = swap_hunks(text.before or "", "".join([head, *kept]), back=False)
            wanted[text.path] = part if kept else text.before
    return wanted


def _hunks_of(diff: Diff) -> Iterator[ProposedHunk]:
    for part in _CUT.split(diff.text):
        if head := _HEAD.match(part):
            lines = [line for line in part.split("\n")[1:] if line[:1] in ("+", "-", " ")]
            above = next((at for at, line in enumerate(lines) if line[0] != " "), 0)
            first = int(head["old" if lines[above][0] == "-" else "new"])
            yield ProposedHunk(diff.path, first + above, tuple(line for line in lines if line[0] != " "))
