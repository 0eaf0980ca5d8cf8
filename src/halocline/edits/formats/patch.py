"""Parse apply_patch, the envelope that GPT models are trained on. Lenient where the meaning is clear.

*** Begin Patch
*** Update File: path          (or `*** Add File: path` with + lines, or `*** Delete File: path`)
*** Move to: other path
@@ class Name
 an unchanged line
-a removed line
+an added line
*** End of File
*** End Patch
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import count, pairwise

from msgspec.structs import replace

from halocline.edits.edit import Edit, Grain
from halocline.edits.text import EditError, to_lf
from halocline.protocol.file_names import PATCH_SECTION
from halocline.protocol.values import Value

_BEGIN, _END, _EOF = "*** Begin Patch", "*** End Patch", "*** End of File"
SECTION = PATCH_SECTION
_PATH_LINE = re.compile(r"(?m)^(\*\*\* (?:(?:Add|Update|Delete) File|Move to): *)(.*\S)")
_MOVE = re.compile(r"\*\*\* Move to: *(.*\S)\s*")
_HEADER = re.compile(r"@@+(?: ?-(\d{1,9})(?:,(\d+))?( \+\d+(?:,\d+)?)? @@+)?(.*)")
_WRAPPER = re.compile(
    r"\s*(?:```\w*|%%bash.*|#!.*|(?:bash|sh) -\w*c.*|.*\bapply_patch\b.*|.*<<-? ?['\"]?\w+['\"]?.*)?\s*"
)
_WRAPPER_END = re.compile(r"\s*(?:```|\w+|['\")]+)?\s*")
_ADVICE = (
    "Send the whole patch again: `*** Begin Patch`, file sections, `*** End Patch`. In an update, every line starts "
    "with a space (unchanged), `-` (removed) or `+` (added)."
)


class MalformedPatch(EditError):
    """The text is not a complete patch."""

    code = "malformed_patch"

    def __init__(self, text: str) -> None:
        super().__init__(text, _ADVICE)


class Action(StrEnum):
    """The action on a file."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


class Section(Value, frozen=True):
    """One file of a patch. `lines` are a new file's content; `move_to` is empty if the file keeps its name."""

    action: Action
    path: str
    move_to: str = ""
    lines: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the section touches."""
        return (self.path, self.move_to) if self.move_to else (self.path,)


Numbered = tuple[int, str]
"""A line of the patch with its number (from 1)."""


def parse_patch(text: str) -> list[Section]:
    """Return the files of a patch, in order.

    Raises:
        MalformedPatch: an envelope line is missing, a line belongs nowhere, or a file appears twice.
    """
    sections = [_parse_section(*part) for part in _list_files(text)]
    if not sections:
        raise MalformedPatch("The patch changes no file.")
    paths = [path for section in sections for path in section.paths]
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise MalformedPatch(f"The patch names {twice[0]} twice. Put all changes to a file in one section.")
    return sections


def keep_files(text: str, places: Collection[int]) -> str:
    """Return the patch with only the files at these places of it, as they are written."""
    kept = [[first, *rest] for place, (first, rest) in enumerate(_list_files(text)) if place in places]
    return "\n".join([_BEGIN, *(line for part in kept for _, line in part), _END])


def _list_files(text: str) -> Iterator[tuple[Numbered, list[Numbered]]]:
    return _split_files(_find_body(list(enumerate(to_lf(text).split("\n"), 1))))


def map_paths(text: str, change: Callable[[str], str]) -> str:
    """Return the patch with its paths changed. Only lines that every patch reads as its own are looked at."""
    return _PATH_LINE.sub(lambda found: found[1] + change(found[2]), text)


def _find_body(lines: list[Numbered]) -> list[Numbered]:
    """Return what is between the envelope's lines, without a shell wrapper."""
    marks = [text.strip() for _, text in lines]
    begin = marks.index(_BEGIN) if _BEGIN in marks else None
    end = len(marks) - 1 - marks[::-1].index(_END) if _END in marks else None
    match begin, end:
        case None, None if not any(_BEGIN in text for text in marks):
            return _without_envelope(lines)
        case int(), int() if begin < end:
            before, after = lines[:begin], lines[end + 1 :]
            _require_that(all(_WRAPPER.fullmatch(text) for _, text in before), before, "before the patch")
            _require_that(all(_WRAPPER_END.fullmatch(text) for _, text in after), after, "after the patch")
            return lines[begin + 1 : end]
        case _:
            missing = _END if end is None else _BEGIN
            raise MalformedPatch(f"The patch has no line `{missing}` where it belongs; it may have been cut off.")


def _require_that(condition: bool, lines: Sequence[Numbered], where: str) -> None:
    if not condition:
        raise MalformedPatch(f"Unexpected text {where}: {next(text for _, text in lines if text.strip())[:80]!r}.")


def _without_envelope(lines: list[Numbered]) -> list[Numbered]:
    """Return the body of a patch without an envelope; it must start with a file."""
    first = next((i for i, (_, text) in enumerate(lines) if SECTION.fullmatch(text)), None)
    if first is None or not all(_WRAPPER.fullmatch(text) for _, text in lines[:first]):
        raise MalformedPatch(f"This is not a patch: a patch starts with `{_BEGIN}`.")
    wrapped = any("<<" in text or "```" in text for _, text in lines[:first])
    last = len(lines)
    while wrapped and last and _WRAPPER_END.fullmatch(lines[last - 1][1]):
        last -= 1
    return lines[first:last]


def _split_files(body: list[Numbered]) -> Iterator[tuple[Numbered, list[Numbered]]]:
    """Yield each file's first line and the lines that belong to it."""
    body = list(_without_padding(body))
    begins = [i for i, (_, text) in enumerate(body) if SECTION.fullmatch(text)]
    stray = next(((at, text) for at, text in body[: begins[0] if begins else None] if text.strip()), None)
    if stray:
        raise MalformedPatch(f"Line {stray[0]} of the patch belongs to no file: {stray[1][:80]!r}.")
    for begin, end in pairwise([*begins, len(body)]):
        yield body[begin], body[begin + 1 : end]


def _without_padding(body: Iterable[Numbered]) -> Iterator[Numbered]:
    """Strip indented first lines of files, but not in an update: an indented line there is a line of the file."""
    is_update = False
    for number, text in body:
        if found := SECTION.fullmatch(text if is_update else text.strip()):
            is_update, text = found[1] == "Update", found[0]
        yield number, text


def _parse_section(first: Numbered, lines: list[Numbered]) -> Section:
    found = SECTION.fullmatch(first[1])
    assert found is not None
    action, path = Action(found[1].lower()), found[2]
    match action:
        case Action.ADD:
            return Section(action, path, lines=tuple(_added_lines(_without_blank_end(lines))))
        case Action.DELETE:
            _require_that(not any(text.strip() for _, text in lines), lines, f"after `{first[1]}`")
            return Section(action, path)
        case Action.UPDATE:
            return _parse_update(path, lines)


def _added_lines(lines: list[Numbered]) -> Iterator[str]:
    for number, text in lines:
        if text and not text.startswith("+"):
            raise MalformedPatch(
                f"Line {number} of the patch is in a new file but does not start with `+`: {text[:80]!r}."
            )
        yield text[1:]


def _parse_update(path: str, lines: list[Numbered]) -> Section:
    move_to = ""
    if lines and (moved := _MOVE.fullmatch(lines[0][1])):
        move_to, lines = moved[1], lines[1:]
    numbers = count(1)
    edits = tuple(replace(hunk, number=next(numbers)) for hunk in parse_hunks(lines, only_moves=bool(move_to)))
    if not edits and not move_to:
        raise MalformedPatch(f"The section for {path} changes nothing.")
    return Section(Action.UPDATE, path, "" if move_to == path else move_to, edits=edits)


def parse_hunks(lines: Sequence[Numbered], *, only_moves: bool = False) -> Iterator[Edit]:
    """Yield the hunks of one file, all with the number 1. Consecutive headers lead to one place.

    With `only_moves`, hunks may change nothing: Codex's grammar requires one when a file is renamed.
    """
    headers: list[str] = []
    body: list[Numbered] = []
    near: re.Match[str] | None = None
    for number, text in lines:
        if text.rstrip() == _EOF:
            yield _make_hunk(headers, body, near, only_moves, at_end=True)
            headers, body, near = [], [], None
        elif found := _HEADER.fullmatch(text):
            if body and any(line for _, line in body):
                yield _make_hunk(headers, body, near, only_moves)
                headers, near = [], None
            body = []
            near = found if found[1] else near
            header = found[4].removeprefix(" ").rstrip().removesuffix("@@").rstrip()
            headers += [header] if header else []
        elif text[:1] in ("", " ", "+", "-", "\\"):
            body.append((number, text))
        else:
            raise MalformedPatch(f"Line {number} of the patch starts with neither a space, `-` nor `+`: {text[:80]!r}.")
    if any(line for _, line in body):
        yield _make_hunk(headers, body, near, only_moves)
    elif headers:
        raise MalformedPatch(f"The patch ends after `@@ {headers[-1]}`, without a changed line.")


def _make_hunk(
    headers: list[str], body: list[Numbered], near: re.Match[str] | None, only_moves: bool, *, at_end: bool = False
) -> Edit:
    """Build one hunk. Added lines without context, header and line number belong at the file's end."""
    lines = [text for _, text in _without_blank_end(body) if not text.startswith("\\")]
    search = tuple(line[1:] for line in lines if not line.startswith("+"))
    replacement = tuple(line[1:] for line in lines if not line.startswith("-"))
    if search == replacement and not only_moves:
        where = f"line {body[0][0]}" if body else _EOF
        raise MalformedPatch(f"The hunk at {where} of the patch changes nothing: it has no `-` and no `+` line.")
    line = int(near[1]) if near else 0
    at_end = at_end or not (search or headers or line)
    # A number whose count of lines is wrong was made up.
    is_true = near is not None and (near[3] is None or int(near[2] or 1) == len(search))
    return Edit(1, search, replacement, "hunk", Grain.LINES, tuple(headers), at_end, near=line if is_true else 0)


def _without_blank_end(lines: list[Numbered]) -> list[Numbered]:
    """Drop trailing empty lines, which only separate parts; an intended empty line has its sign."""
    last = len(lines)
    while last and not lines[last - 1][1]:
        last -= 1
    return lines[:last]
