"""What the model is told of its surroundings: with the first prompt all of it, later only what has changed since.

What must stay true: it travels with a prompt or in an event of its own as a `Note`, so that the system prompt stays
the same; what was said before is looked up in the conversation, so that what the model no longer reads is said again.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from halocline.files.regular import read_beginning
from halocline.protocol.commands import EditorState
from halocline.protocol.events import Mode
from halocline.protocol.file_names import make_printable
from halocline.protocol.messages import Note, StopReason, UserMessage
from halocline.protocol.state.state import State

SOURCE = "environment"
LISTING_LIMIT, SHORT_LISTING = 200, 50
"""Entries of the first listing; the short one is for small windows."""
TABS = 50
GENERATED = "Pods __pycache__ build bundle deps dist env node_modules out target temp tmp vendor venv"
SKIPPED = frozenset(GENERATED.split())
TIME = "%Y-%m-%d %H:%M (UTC%z)"
STALE = timedelta(minutes=10)
"""A time that was told is good for so long."""
FULL_FROM = 50
"""Percent of the window from which on the model is told, at each further ten."""
PLAN = (
    "Mode: plan. Read, search and discuss only; edits and commands are refused. Work out a plan with the person. "
    "Only the person can switch to act mode."
)
ACT = "Mode: act."
STILL_PLAN = "Still in plan mode."
SWITCHED = " The person switched to it."
CUT_SHORT = {
    StopReason.CANCELLED: "The previous turn was interrupted before it ended. Files may have changed; check first.",
    StopReason.ERROR: "The previous turn ended with an error. Check how far it came before you go on.",
}
_TIME, _MODE, _BRANCH, _SHELL, _CONTEXT = "Time", "Mode", "Git branch", "Shell folder", "Context"
_VISIBLE, _OPEN = "Visible in the editor", "Open in the editor"
_FILES = "Files"
_ROOTS, NO_ROOTS = (
    "Further folders of this task (name what is in them by whole paths; a search of . looks there, too)",
    "none",
)


def environment_note(state: State, workspace: Path, now: datetime, editor: EditorState | None = None) -> Note | None:
    """The note for the next prompt, None when there is nothing to say; `now` carries its time zone."""
    if not state.messages:
        lines = [f"{_TIME}: {now:{TIME}}", *_mode_lines(state, {})]
        return _make_note(
            [
                *lines,
                *_root_lines(state, {}),
                *_editor_lines(editor, {}),
                *_project_lines(workspace, compact=state.compact),
            ]
        )
    told = _last_told(state)
    lines = [f"{_TIME}: {now:{TIME}}"] if _is_stale(told.get(_TIME, ""), now) else []
    if state.last_end and (said := CUT_SHORT.get(state.last_end.reason)):
        lines.append(said)
    lines += _mode_lines(state, told) or ([STILL_PLAN] if state.mode is Mode.PLAN else [])
    lines += [
        *_branch_lines(workspace, told),
        *_root_lines(state, told),
        *_shell_lines(state, told),
        *_window_lines(state, told),
        *_editor_lines(editor, told),
    ]
    return _make_note(lines)


def environment_news(state: State) -> Note | None:
    """What changed in the middle of a turn; mostly nothing. A function of the log alone."""
    told = _last_told(state)
    return _make_note([*_mode_lines(state, told), *_window_lines(state, told)]) if told else None


def _make_note(lines: list[str]) -> Note | None:
    return Note("\n".join(lines), source=SOURCE) if lines else None


def _last_told(state: State) -> dict[str, str]:
    """What the model was told last, by its name, of what it still reads: after a compaction that is less."""
    facts: dict[str, str] = {}
    kept_from = state.compaction.kept_from if state.compaction else 1
    messages = (*state.messages[:1], *state.messages[kept_from:])
    for message in [message for message in messages if isinstance(message, UserMessage)]:
        for part in message.content:
            if isinstance(part, Note) and part.source == SOURCE:
                facts.update(_parse_facts(part.text))
    return facts


def _parse_facts(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        name, _, value = line.partition(": ")
        if name.startswith(_FILES):  # names of files follow, and they may look like anything
            return
        yield name, value


def _is_stale(told: str, now: datetime) -> bool:
    with suppress(ValueError):
        then = datetime.fromisoformat(told.replace(" (UTC", "").removesuffix(")"))
        return now.utcoffset() != then.utcoffset() or not timedelta() <= now - then < STALE
    return True


def _mode_lines(state: State, told: dict[str, str]) -> list[str]:
    """The mode, when it is another one than the model knows of; a sub-agent has none."""
    if state.subtask or told.get(_MODE, "").startswith(state.mode):
        return []
    return [(PLAN if state.mode is Mode.PLAN else ACT) + (SWITCHED if _MODE in told else "")]


def _root_lines(state: State, told: dict[str, str]) -> list[str]:
    """The folders beside the workspace, when they are others than the model knows of."""
    listed = ", ".join(map(_root_line, state.roots)) or NO_ROOTS
    return [f"{_ROOTS}: {listed}"] if listed != told.get(_ROOTS, NO_ROOTS) else []


def _root_line(root: str) -> str:
    branch = _read_branch(Path(root))
    return f"{_one_line(root)}{f' (git branch {branch})' if branch else ''}"


def _branch_lines(workspace: Path, told: dict[str, str]) -> list[str]:
    branch = _read_branch(workspace)
    return [f"{_BRANCH}: {branch}"] if branch and branch != told.get(_BRANCH) else []


def _shell_lines(state: State, told: dict[str, str]) -> list[str]:
    folder = _one_line(state.shell.cwd or state.workspace)
    return [f"{_SHELL}: {folder}"] if folder != told.get(_SHELL, _one_line(state.workspace)) else []


def _window_lines(state: State, told: dict[str, str]) -> list[str]:
    """How full the window is, at each further ten percent and when it is emptier again."""
    if not state.window or not state.last_usage.total:
        return []
    percent = 100 * state.last_usage.total // state.window
    before = int(told.get(_CONTEXT, "0").partition(" ")[0])
    if percent // 10 == before // 10 or max(percent, before) < FULL_FROM:
        return []
    return [f"{_CONTEXT}: {percent} % of {state.window:,} tokens used"]


def _editor_lines(editor: EditorState | None, told: dict[str, str]) -> Iterator[str]:
    for name, paths in ((_VISIBLE, editor.visible), (_OPEN, editor.open[:TABS])) if editor else ():
        listed = ", ".join(map(_one_line, paths)) or "nothing"
        if listed != told.get(name, "nothing"):
            yield f"{name}: {listed}"


def _project_lines(workspace: Path, *, compact: bool) -> Iterator[str]:
    if branch := _read_branch(workspace):
        yield f"{_BRANCH}: {branch}"
    if workspace in (Path.home(), Path.home() / "Desktop", Path(workspace.anchor)):
        yield f"{_FILES}: not listed (this is not a project folder)."
        return
    limit = SHORT_LISTING if compact else LISTING_LIMIT
    names, cut = list_workspace(workspace, limit)
    yield f"{_FILES}{f' (the first {limit}; use list_files for more)' if cut else ''}:"
    yield from names


_LONGEST_HEAD = 1 << 12
_HEAD = re.compile(r"ref: refs/heads/(\S{1,250})|[0-9a-f]{40,64}")


def _read_branch(workspace: Path) -> str:
    folder = workspace / ".git"
    try:
        if folder.is_file():  # a work tree beside the first one
            folder = workspace / read_beginning(folder, _LONGEST_HEAD).decode().removeprefix("gitdir:").strip()
        head = read_beginning(folder / "HEAD", _LONGEST_HEAD).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    named = _HEAD.fullmatch(head)  # what is no head may be a link to any file
    return (named[1] or head)[:80] if named else ""


def _one_line(text: str) -> str:
    return make_printable(" ".join(text.split()))


def list_workspace(workspace: Path, limit: int = LISTING_LIMIT) -> tuple[list[str], bool]:
    """Names below a folder, nearest first, folders with `/`; hidden and generated folders are not entered."""
    found: list[str] = []
    folders = [""]
    for folder in folders:
        for name, is_folder in _list_entries(workspace / folder):
            path = f"{folder}{name}"
            if len(found) == limit:
                return found, True
            found.append(make_printable(f"{path}/" if is_folder else path))
            if is_folder and not name.startswith(".") and name not in SKIPPED:
                folders.append(f"{path}/")
    return found, False


def _list_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries if e.name != ".git")
    except OSError:
        return []
