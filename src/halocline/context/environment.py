"""What the model is told of its surroundings with a prompt: all of it the first time, later only what changed.

It travels with the prompt as a `Note`, so that the system prompt stays the same and the log shows what was said.
"""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from halocline.protocol.events import Mode
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state import State

LISTING_LIMIT = 200
GENERATED = "Pods __pycache__ build bundle deps dist env node_modules out target temp tmp vendor venv"
SKIPPED = frozenset(GENERATED.split())
PLAN = (
    "Mode: plan. Read, search and discuss only; edits and commands are refused. Work out a plan with the person. "
    "Only the person can switch to act mode."
)
ACT = "Mode: act."
CUT_SHORT = {
    StopReason.CANCELLED: "The previous turn was interrupted before it ended. Files may have changed; check first.",
    StopReason.ERROR: "The previous turn ended with an error. Check how far it came before you go on.",
}


def environment(state: State, workspace: Path, now: datetime) -> Note:
    """The note for the next prompt; `now` carries its time zone."""
    mode = state.mode
    lines = [f"Time: {now:%Y-%m-%d %H:%M} (UTC{now:%z})"]
    if not state.messages:
        lines += [PLAN if mode is Mode.PLAN else ACT, *_project(workspace)]
    else:
        if state.last_end and (said := CUT_SHORT.get(state.last_end.reason)):
            lines.append(said)
        if mode is Mode.PLAN or _mode_of_last_note(state) is not mode:
            lines.append(PLAN if mode is Mode.PLAN else ACT)
    return Note("\n".join(lines), source="environment")


def _mode_of_last_note(state: State) -> Mode | None:
    notes = [
        part.text
        for message in state.messages
        for part in message.content
        if isinstance(part, Note) and part.source == "environment"
    ]
    latest = next((note for note in reversed(notes) if "\nMode: " in note), "")
    return Mode.PLAN if PLAN in latest else Mode.ACT if latest else None


def _project(workspace: Path) -> Iterator[str]:
    if branch := _branch(workspace):
        yield f"Git branch: {branch}"
    if workspace in (Path.home(), Path.home() / "Desktop", Path(workspace.anchor)):
        yield "Files: not listed (this is not a project folder)."
        return
    names, cut = listing(workspace)
    yield f"Files{f' (the first {LISTING_LIMIT}; use list_files for more)' if cut else ''}:"
    yield from names


def _branch(workspace: Path) -> str:
    try:
        head = (workspace / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    return head.removeprefix("ref: refs/heads/")[:80]


def listing(workspace: Path, limit: int = LISTING_LIMIT) -> tuple[list[str], bool]:
    """Names below a folder, nearest first, folders with `/`; hidden and generated folders are not entered."""
    found: list[str] = []
    folders = [""]
    for folder in folders:
        for name, is_folder in _entries(workspace / folder):
            path = f"{folder}{name}"
            if len(found) == limit:
                return found, True
            found.append(f"{path}/" if is_folder else path)
            if is_folder and not name.startswith(".") and name not in SKIPPED:
                folders.append(f"{path}/")
    return found, False


def _entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries if e.name != ".git")
    except OSError:
        return []
