"""Workflows and custom commands: Markdown files whose text the user sends to the model by typing `/name`.

What must stay true: such a file is text. Nothing in it is run, it changes no permission, a project's file does not lead
out of the project by a link, and the project's file wins over the user's of the same name.
"""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from halocline.context.instructions.markdown_head import read_fields, split_head
from halocline.files.regular import read_beginning, why_not_regular
from halocline.protocol.config_locations import OWN_WORDS, PROJECT_WORDS
from halocline.protocol.values import Value

OWN = (("workflow", "workflows"), ("command", "commands"))
"""Folders in Halocline's home, with the kind of their files."""
MOST = 500
DEEPEST = 4
LONGEST_NAME = 100
LONGEST_FILE = 100_000

_PLACE = re.compile(r"\$(?:(?P<all>ARGUMENTS)\b|(?P<one>[1-9])(?!\d))")
_COMMAND = re.compile(r"!`[^`\n]+`")


class Places(Value, frozen=True):
    """The workspace, Halocline's home folder and the user's."""

    workspace: Path
    own: Path
    person: Path


class WordFile(Value, frozen=True):
    """One file, not read yet. `shown` is its path for display."""

    name: str
    kind: str
    path: str
    shown: str


class WordText(Value, frozen=True):
    """Contents of a file. `ignored` are fields of its front matter that have no effect here."""

    body: str
    description: str = ""
    hint: str = ""
    ignored: tuple[str, ...] = ()
    has_commands: bool = False
    cut: bool = False


class FoundWords(Value, frozen=True):
    """The files by name, and a remark on each that is ignored."""

    files: dict[str, WordFile]
    skipped: tuple[str, ...] = ()


def found_words(places: Places) -> FoundWords:
    """Find the files without reading them."""
    files: dict[str, WordFile] = {}
    skipped: list[str] = []
    inside = os.path.realpath(places.workspace)
    for kind, folder, within in _command_folders(places, inside):
        for path in _files_below(folder):
            name = ":".join(path.relative_to(folder).with_suffix("").parts)
            short = shown_path(path, places)
            if within and not os.path.realpath(path).startswith(f"{within}/"):
                skipped.append(f"{short} is ignored: it is a link that leads out of the project.")
            elif why := why_not_regular(path):
                skipped.append(f"{short} is ignored: {why}.")
            elif not name.isprintable() or len(name) > LONGEST_NAME or any(map(str.isspace, name)):
                skipped.append(f"{short} is ignored: its name cannot be typed as a command.")
            else:
                files.setdefault(name, WordFile(name, kind, str(path), short))
    return FoundWords(files, tuple(skipped))


def read_word(file: WordFile) -> WordText:
    """Read a file. Raises OSError."""
    data = read_beginning(file.path, LONGEST_FILE + 1)
    head, body = split_head(data[:LONGEST_FILE].decode("utf-8-sig", "replace"))
    said = read_fields(head)
    return WordText(
        body=body.strip(),
        description=said.get("description", "") or _first_line(body),
        hint=said.get("argument-hint", ""),
        ignored=tuple(name for name in ("allowed-tools", "model") if said.get(name)),
        has_commands=_COMMAND.search(body) is not None,
        cut=len(data) > LONGEST_FILE,
    )


def fill_arguments(body: str, arguments: str, *, is_command: bool = True) -> str:
    """Fill in `$ARGUMENTS` and `$1` to `$9`; placeholders in the arguments themselves are not expanded.

    A `$2` without a second argument becomes empty in a command; elsewhere it stays, as it is likely part of a script.
    """
    words = _split_arguments(arguments)

    def value(match: re.Match[str]) -> str:
        if match["all"]:
            return arguments
        at = int(match["one"]) - 1
        return words[at] if at < len(words) else "" if is_command else match[0]

    return _PLACE.sub(value, body)


def _split_arguments(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # an unclosed quote, as in don't
        return arguments.split()


def _command_folders(places: Places, inside: str) -> Iterator[tuple[str, Path, str]]:
    yield from ((kind, places.workspace / name, inside) for kind, name in PROJECT_WORDS)
    yield from ((kind, places.own / name, "") for kind, name in OWN)
    yield from ((kind, places.person / name, "") for kind, name in OWN_WORDS)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the Markdown files in a folder and up to `DEEPEST` levels below, at most `MOST`; links are not entered."""
    left = MOST
    for here, folders, names in os.walk(folder):
        deep = len(Path(here).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if deep < DEEPEST else []
        for name in sorted(names):
            if name.endswith(".md") and not name.startswith(".") and os.path.exists(os.path.join(here, name)):
                left -= 1
                yield Path(here, name)
            if not left:
                return


def shown_path(path: Path, places: Places) -> str:
    """Return the path for display: relative to the workspace, or with `~/`."""
    for root, start in ((places.workspace, ""), (places.person, "~/")):
        if path.is_relative_to(root):
            return f"{start}{path.relative_to(root)}"
    return str(path)


def _first_line(body: str) -> str:
    """Return the first line, to replace a missing description."""
    lines = (line.strip().lstrip("#").strip() for line in body.split("\n"))
    return next(filter(None, lines), "")
