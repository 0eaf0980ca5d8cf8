"""Workflows and custom commands: Markdown files whose text the user sends to the model by typing `/name`.

What must stay true: such a file is text. Nothing in it is run, it changes no permission, a project's file does not lead
out of the project by a link, and the project's file wins over the user's of the same name.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from halocline.context.file_walk import find_files
from halocline.context.text_files import load_text
from halocline.context.user_files.command_dialects import has_commands, split_command
from halocline.files.regular import why_not_regular
from halocline.protocol.config_locations import COMMAND_ROWS, Dialect, Row
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.values import Value

KINDS = {"workflows": "workflow", "commands": "command"}
PREFIXES: dict[Dialect, str] = {"codex": "prompts:"}
"""What comes before a command's name in its own program."""
MOST = 500
DEEPEST = 4
LONGEST_NAME = 100
LONGEST_FILE = 100_000
_TEXT = (".md",)


class Places(Value, frozen=True):
    """The workspace, Halocline's home folder and the user's, and the other folders and the plug-ins of a task."""

    workspace: Path
    own: Path
    person: Path
    roots: tuple[Path, ...] = ()
    plugins: tuple[Plugin, ...] = ()


class WordFile(Value, frozen=True):
    """One file, not read yet. `shown` is its path for display."""

    name: str
    kind: str
    path: str
    shown: str
    dialect: Dialect = "plain"
    plugin: str = ""
    """The folder of the plug-in that has it."""


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
    """Find the files without reading them. The first of a name wins; a task's other folders come last."""
    files: dict[str, WordFile] = {}
    skipped: list[str] = []
    for row, folder, within in _list_folders(places):
        for path in islice(find_files(folder, row.endings, deepest=DEEPEST, within=within), MOST):
            name = _name_of(path.relative_to(folder).as_posix(), row)
            short = shown_path(path, places)
            if within and not os.path.realpath(path).startswith(f"{within}/"):
                skipped.append(f"{short} is ignored: it is a link that leads out of the project.")
            elif not path.exists():
                skipped.append(f"{short} is ignored: it is a link that leads nowhere.")
            elif why := why_not_regular(path):
                skipped.append(f"{short} is ignored: {why}.")
            elif not name.isprintable() or len(name) > LONGEST_NAME or any(map(str.isspace, name)):
                skipped.append(f"{short} is ignored: its name cannot be typed as a command.")
            else:
                files.setdefault(name, WordFile(name, KINDS[row.holds], str(path), short, row.dialect))
    files |= {word.name: word for plugin in places.plugins for word in _list_of_plugin(plugin)}
    return FoundWords(files, tuple(skipped))


def _list_of_plugin(plugin: Plugin) -> Iterator[WordFile]:
    """Yield the commands of a plug-in, whose files were checked when it was read."""
    row = Row("", "", plugin.name, plugin.dialect, _TEXT, "commands")
    for place in map(Path, plugin.paths("command")):
        found = [place] if place.is_file() else islice(find_files(place, _TEXT, deepest=DEEPEST), MOST)
        for path in found:
            name = _name_of(path.name if path == place else path.relative_to(place).as_posix(), row)
            if plugin.has("command", name) and not any(map(str.isspace, name)):
                shown = f"the plug-in {plugin.name}"
                yield WordFile(plugin.named(name), "command", str(path), shown, plugin.dialect, plugin.folder)


def read_word(file: WordFile) -> WordText:
    """Read a file. Raises OSError."""
    read = load_text(file.path, LONGEST_FILE)
    said, body = split_command(file.dialect, read.text)
    body = body.replace("${CLAUDE_PLUGIN_ROOT}", file.plugin or "${CLAUDE_PLUGIN_ROOT}")
    return WordText(
        body=body.strip(),
        description=said.get("description", "") or _first_line(body),
        hint=said.get("argument-hint", ""),
        ignored=tuple(name for name in ("allowed-tools", "model") if said.get(name)),
        has_commands=has_commands(file.dialect, body),
        cut=read.is_cut,
    )


def _list_folders(places: Places) -> Iterator[tuple[Row, Path, str]]:
    """Yield the folders to look into, with what they hold, and the folder that their files may not lead out of."""
    tops = {"~/.halocline": places.own, "~": places.person, "": places.workspace}
    inside = os.path.realpath(places.workspace)
    for row in COMMAND_ROWS:
        yield row, tops[row.root] / row.path, "" if row.root else inside
    for root in places.roots:
        yield from ((row, root / row.path, os.path.realpath(root)) for row in COMMAND_ROWS if not row.root)


def _name_of(path: str, row: Row) -> str:
    ending = max((one for one in row.endings if path.endswith(one)), key=len, default="")
    return PREFIXES.get(row.dialect, "") + path.removesuffix(ending).replace("/", ":")


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
