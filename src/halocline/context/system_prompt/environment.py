"""The note on the environment: everything with the first prompt, later only what changed.

What must stay true: it is a `Note` beside a prompt or in an event of its own, so the system prompt never changes.
What was reported before is looked up in the conversation, so what the model no longer reads is reported again.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from halocline.context.system_prompt.project_facts import list_facts
from halocline.git.git_folder import find_git_folder, read_branch
from halocline.protocol.commands import EditorState
from halocline.protocol.events import Compacted
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Message, Note, StopReason, UserMessage
from halocline.protocol.state.persistent import begins_with
from halocline.protocol.state.state import State

SOURCE = "environment"
LISTING_LIMIT, SHORT_LISTING = 200, 50
"""Entries of the first listing; the short one is for small context windows."""
TABS = 50
GENERATED = "Pods __pycache__ build bundle deps dist env node_modules out target temp tmp vendor venv"
SKIPPED = frozenset(GENERATED.split())
TIME = "%Y-%m-%d %H:%M (UTC%z)"
STALE = timedelta(minutes=10)
"""Age at which a reported time is reported again."""
FULL_FROM = 50
"""Percent of the window from which its use is reported, at each further ten."""
PLAN = (
    "Mode: plan. Read, search and discuss only; edits and commands are refused. Work out a plan with the user. "
    "Only the user can switch to act mode."
)
ACT = "Mode: act."
STILL_PLAN = "Still in plan mode."
SWITCHED = " The user switched to it."
CUT_SHORT = {
    StopReason.CANCELLED: "The previous turn was interrupted. Files may have changed; check before you continue.",
    StopReason.ERROR: "The previous turn ended with an error. Check how far it got before you continue.",
}
_TIME, _MODE, _BRANCH, _SHELL, _CONTEXT = "Time", "Mode", "Git branch", "Shell folder", "Context"
_VISIBLE, _OPEN = "Visible in the editor", "Open in the editor"
_FILES = "Files"
_ROOTS, NO_ROOTS = (
    "Further folders of this task (name what is in them by whole paths; a search of . looks there, too)",
    "none",
)


def environment_note(
    state: State, workspace: Path, now: datetime, editor: EditorState | None = None, *, hides: Callable[[str], bool]
) -> Note | None:
    """Build the note for the next prompt, None if there is nothing to report; `now` has a time zone.

    `hides` says which absolute paths the model may not even see the names of.
    """
    editor = _without_hidden(editor, workspace, hides) if editor else None
    if not state.messages:
        lines = [f"{_TIME}: {now:{TIME}}", *_mode_lines(state, {})]
        return _make_note(
            [
                *lines,
                *_root_lines(state, {}),
                *_editor_lines(editor, workspace, {}),
                *_project_lines(workspace, hides, compact=state.prompt.compact),
            ]
        )
    known = Reported().of(state)
    lines = [f"{_TIME}: {now:{TIME}}"] if _is_stale(known.get(_TIME, ""), now) else []
    if state.last_end and (warning := CUT_SHORT.get(state.last_end.reason)):
        lines.append(warning)
    lines += _mode_lines(state, known) or ([STILL_PLAN] if state.plan.mode is Mode.PLAN else [])
    lines += [
        *_branch_lines(workspace, known),
        *_root_lines(state, known),
        *_shell_lines(state, known),
        *_window_lines(state, known),
        *_editor_lines(editor, workspace, known),
    ]
    return _make_note(lines)


def note_environment_changes(state: State, known: dict[str, str]) -> Note | None:
    """Build the note on changes in the middle of a turn, from what was `Reported`; usually None."""
    return _make_note([*_mode_lines(state, known), *_window_lines(state, known)]) if known else None


def _make_note(lines: list[str]) -> Note | None:
    return Note("\n".join(lines), source=SOURCE) if lines else None


class Reported:
    """The facts last reported, by name, that the model still reads; each call costs only what is new."""

    def __init__(self) -> None:
        self._begin(None, ())

    def _begin(self, compaction: Compacted | None, messages: Sequence[Message]) -> None:
        self._compaction, self._known = compaction, messages
        self._facts: dict[str, str] = {}
        self._take(messages[:1])
        self._at = compaction.kept_from if compaction else 1

    def of(self, state: State) -> dict[str, str]:
        """Return the facts: fewer after a compaction."""
        messages, compaction = state.messages, state.compaction.latest
        if compaction is not self._compaction or not self._known or not begins_with(messages, self._known):
            self._begin(compaction, messages)
        self._take(messages[self._at :])
        self._known, self._at = messages, max(self._at, len(messages))
        return self._facts

    def _take(self, messages: Sequence[Message]) -> None:
        for message in messages:
            for part in message.content if isinstance(message, UserMessage) else ():
                if isinstance(part, Note) and part.source == SOURCE:
                    self._facts.update(_parse_facts(part.text))


def _parse_facts(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        name, _, value = line.partition(": ")
        if name.startswith(_FILES):  # file names follow, and they may look like facts
            return
        yield name, value


def _is_stale(reported: str, now: datetime) -> bool:
    with suppress(ValueError):
        then = datetime.fromisoformat(reported.replace(" (UTC", "").removesuffix(")"))
        return now.utcoffset() != then.utcoffset() or not timedelta() <= now - then < STALE
    return True


def _mode_lines(state: State, known: dict[str, str]) -> list[str]:
    """Return the mode if it is not the one the model knows; a sub-agent has none."""
    if state.subagents.subtask or known.get(_MODE, "").startswith(state.plan.mode):
        return []
    return [(PLAN if state.plan.mode is Mode.PLAN else ACT) + (SWITCHED if _MODE in known else "")]


def _root_lines(state: State, known: dict[str, str]) -> list[str]:
    """Return the folders beside the workspace if they are not those the model knows."""
    listed = ", ".join(map(_root_line, state.roots)) or NO_ROOTS
    return [f"{_ROOTS}: {listed}"] if listed != known.get(_ROOTS, NO_ROOTS) else []


def _root_line(root: str) -> str:
    branch = read_branch(root)
    return f"{_one_line(root)}{f' (git branch {_one_line(branch)})' if branch else ''}"


def _branch_lines(workspace: Path, known: dict[str, str]) -> list[str]:
    branch = _one_line(read_branch(str(workspace)))
    return [f"{_BRANCH}: {branch}"] if branch and branch != known.get(_BRANCH) else []


def _shell_lines(state: State, known: dict[str, str]) -> list[str]:
    folder = _one_line(state.host.shell.cwd or state.workspace)
    return [f"{_SHELL}: {folder}"] if folder != known.get(_SHELL, _one_line(state.workspace)) else []


def _window_lines(state: State, known: dict[str, str]) -> list[str]:
    """Return how full the window is, at each further ten percent and when it is emptier again."""
    if not state.model.window or not state.budget.last_usage.total:
        return []
    percent = 100 * state.budget.last_usage.total // state.model.window
    before = int(known.get(_CONTEXT, "0").partition(" ")[0])
    if percent // 10 == before // 10 or max(percent, before) < FULL_FROM:
        return []
    return [f"{_CONTEXT}: {percent} % of {state.model.window:,} tokens used"]


def _editor_lines(editor: EditorState | None, workspace: Path, known: dict[str, str]) -> Iterator[str]:
    for name, paths in ((_VISIBLE, editor.visible), (_OPEN, editor.open[:TABS])) if editor else ():
        listed = ", ".join(_one_line(_shown_path(path, workspace)) for path in paths) or "nothing"
        if listed != known.get(name, "nothing"):
            yield f"{name}: {listed}"


def editor_paths(text: str) -> dict[str, tuple[str, ...]]:
    """Return the files that a note says are open in an editor, by its two lists of them."""
    facts = dict(_parse_facts(text))
    return {
        name: tuple(path for path in facts[name].split(", ") if path != "nothing")
        for name in (_VISIBLE, _OPEN)
        if name in facts
    }


def _without_hidden(editor: EditorState, workspace: Path, hides: Callable[[str], bool]) -> EditorState:
    def keep(paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if not hides(os.path.realpath(workspace / path)))

    return replace(editor, visible=keep(editor.visible), open=keep(editor.open))


def _shown_path(path: str, workspace: Path) -> str:
    """Return a path relative to the workspace if it is inside."""
    return str(Path(path).relative_to(workspace)) if Path(path).is_relative_to(workspace) else path


def _project_lines(workspace: Path, hides: Callable[[str], bool], *, compact: bool) -> Iterator[str]:
    git = find_git_folder(workspace)
    if git and (branch := git.branch):
        yield f"{_BRANCH}: {_one_line(branch)}"
    if not compact:
        yield from list_facts(workspace, git)
    if workspace in (Path.home(), Path.home() / "Desktop", Path(workspace.anchor)):
        yield f"{_FILES}: not listed (not a project folder)."
        return
    limit = SHORT_LISTING if compact else LISTING_LIMIT
    names, cut = list_workspace(workspace, hides, limit)
    yield f"{_FILES}{f' (the first {limit}; use list_files for more)' if cut else ''}:"
    yield from names


def _one_line(text: str) -> str:
    return make_printable(" ".join(text.split()))


def list_workspace(workspace: Path, hides: Callable[[str], bool], limit: int = LISTING_LIMIT) -> tuple[list[str], bool]:
    """List names below a folder, nearest first, folders with `/`, without those that `hides`.

    Dot folders and generated ones are not entered.
    """
    found: list[str] = []
    folders, real = [""], os.path.realpath(workspace)
    for folder in folders:
        for name, is_folder, is_link in _list_entries(workspace / folder):
            path = f"{folder}{name}"
            if _is_hidden(os.path.join(real, path), hides, is_link=is_link):
                continue
            if len(found) == limit:
                return found, True
            found.append(make_printable(f"{path}/" if is_folder else path))
            if is_folder and not name.startswith(".") and name not in SKIPPED:
                folders.append(f"{path}/")
    return found, False


def _is_hidden(place: str, hides: Callable[[str], bool], *, is_link: bool) -> bool:
    """True if a place, or what a link there leads to, is hidden; also for a link that becomes something else now."""
    try:
        return hides(place) or (is_link and hides(os.path.realpath(place)))
    except OSError:
        return True


def _list_entries(folder: Path) -> list[tuple[str, bool, bool]]:
    """Return the name of each entry, and True for a folder, and for a link."""
    try:
        with os.scandir(folder) as entries:
            found = ((e.name, e.is_dir(follow_symlinks=False), e.is_symlink()) for e in entries)
            return sorted(one for one in found if one[0] != ".git")
    except OSError:
        return []
