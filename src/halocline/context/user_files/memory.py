"""Memory: notes that a person accepted, with which later tasks in the same folder begin.

Two Markdown files: the project's, which everybody has, and the person's own for that folder. A note is one item of a
list and ends in its date and task. What must stay true: whatever else a person wrote there stays as it is, and what a
reader of the rendered file would not see (comments) is not given to a model.
"""

import os
import re
from pathlib import Path

from halocline.files.regular import read_beginning
from halocline.protocol.values import Value

PROJECT = ".halocline/memory.md"
LONGEST = 8_000
"""Characters of one file that a model is given, and up to which notes are added."""
LONGEST_NOTE = 500
HEAD = "<!-- Notes for Halocline, one item each. Edit them as you like; halo memory shows them. -->\n\n"
ABOUT = (
    "Notes from earlier tasks, each accepted by a person. Keep to them; where they contradict the files as they are "
    "now, the files win."
)
CUT = "[The rest of these notes is left out.]"

_ITEM = re.compile(r"[-*+][ \t]+(.*\S)")
_FROM = re.compile(r"[ \t]*\((\d{4}-\d\d-\d\d), task ([\w-]+)\)$")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class Memo(Value, frozen=True):
    """One note; `line` is where it stands in its file, from 0. `date` and `task` are empty for one a person wrote."""

    text: str
    date: str
    task: str
    line: int


def personal_file(folder: Path, workspace: Path) -> Path:
    """Where a person's own notes on a workspace are; `folder` holds those of all workspaces."""
    from hashlib import sha256

    real = os.path.realpath(workspace)
    name = re.sub(r"[^\w.-]", "_", os.path.basename(real))[:40].strip(".") or "root"
    return folder / f"{name}-{sha256(os.fsencode(real)).hexdigest()[:8]}.md"


def leads_out(workspace: Path) -> bool:
    """Whether the project's file is a link to a place outside the project."""
    inside = os.path.realpath(workspace).rstrip("/")
    return not os.path.realpath(workspace / PROJECT).startswith(f"{inside}/")


def parse_memos(text: str) -> tuple[Memo, ...]:
    """The notes of a file, in order."""
    items = ((line, _ITEM.match(words)) for line, words in enumerate(text.split("\n")))
    return tuple(_parse_memo(item[1], line) for line, item in items if item)


def line_of(note: str, date: str, task: str) -> str:
    """A note as it stands in a file."""
    return f"- {' '.join(note.split())} ({date}, task {task})"


def add_memo(text: str, line: str) -> str:
    """The file with one note more, at its end."""
    return f"{text.rstrip()}\n{line}\n" if text.strip() else f"{HEAD}{line}\n"


def replace_memo(text: str, memo: Memo, *lines: str) -> str:
    """The file with these lines in the place of a note; with none, the note is gone."""
    every = text.split("\n")
    return "\n".join([*every[: memo.line], *lines, *every[memo.line + 1 :]])


def memory_section(workspace: Path, folder: Path) -> str:
    """What the system prompt says of the notes; nothing when there are none."""
    project = "" if leads_out(workspace) else _notes_for_model(workspace / PROJECT)
    sources = {
        f"Of the project, from {PROJECT} in it:": project,
        "The person's own:": _notes_for_model(personal_file(folder, workspace)),
    }
    parts = [f"{head}\n{text}\n" for head, text in sources.items() if text]
    return "\n".join(["\n# Memory", ABOUT, *parts]) if parts else ""


def words_beside(text: str) -> int:
    """How many lines of a file are neither notes nor comments; a model is given them as well."""
    return sum(bool(line.strip()) and not _ITEM.match(line) for line in _COMMENT.sub("", text).split("\n"))


def text_of(file: Path) -> str:
    """What a file of notes holds, at most a little more than is given; empty when there is none. Raises OSError."""
    if not file.is_file():
        return ""
    return read_beginning(file, 8 * LONGEST).decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _notes_for_model(file: Path) -> str:
    """The notes as a model reads them: with their dates, without the names of tasks."""
    try:
        text = _COMMENT.sub("", text_of(file)).strip()
    except OSError:
        return ""
    lines = [_FROM.sub(r" (\1)", line) for line in text.splitlines()]
    shown = "\n".join(line for line in lines if line.strip())
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}\n{CUT}"


def _parse_memo(words: str, line: int) -> Memo:
    known = _FROM.search(words)
    return Memo(words[: known.start()], known[1], known[2], line) if known else Memo(words, "", "", line)
