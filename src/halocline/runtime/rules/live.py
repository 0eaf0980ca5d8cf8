"""The rules of a running task: combines their places, the ignore rules, and what a person turned off.

What must stay true: without rule files they cost nothing. Until a rule file is seen, only its places are checked, and
no code that reads rules is loaded.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.context.instructions.places import Roots, list_places
from halocline.files.absence import Absence
from halocline.files.root_owned import only_root_writes
from halocline.protocol.config_locations import NESTED_ROWS
from halocline.protocol.events.instructions import Beginning, InstructionsLoaded
from halocline.protocol.messages import Text, UserMessage
from halocline.protocol.state.state import State
from halocline.runtime import rules
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.context.instructions.touched_files import Touched
    from halocline.ports.instructions import Instructions
    from halocline.ports.permissions import Permissions


class LiveInstructions:
    """Implements `ports.instructions.Instructions`; `build` is called when there is something to read."""

    def __init__(self, roots: Roots, build: "Callable[[], Instructions]") -> None:
        self._roots = roots
        self._build = build
        self._folder: Instructions | None = None
        self._nothing: Absence | None = None
        self._nothing_below: dict[str, Absence] = {}
        self._touched: Touched | None = None

    def begins(self) -> Beginning:
        """Return the rules that apply from the start."""
        return self._read().begins() if self._is_somewhere() else Beginning()

    def collect_changes(self, state: State) -> InstructionsLoaded | None:
        """Return rules that the model needs before its next request; usually None."""
        if self._folder is None and not (state.prompt.instructions or self._is_somewhere() or self._is_nested(state)):
            return None
        return self._read().collect_changes(state)

    def _read(self) -> "Instructions":
        if self._folder is None:
            self._folder = self._build()
        return self._folder

    def _is_somewhere(self) -> bool:
        self._nothing = self._nothing or Absence(list_places(self._roots))
        return not self._nothing.lasts()

    def _is_nested(self, state: State) -> bool:
        if len(state.messages) == 1 and not _may_name_a_folder(state):
            return False
        from halocline.context.instructions.touched_files import Touched, folders_of

        self._touched = self._touched or Touched()
        folders = set(folders_of(self._touched.of(state)))
        for folder in folders - self._nothing_below.keys():
            places = (f"{self._roots.workspace}/{folder}/{row.path}" for row in NESTED_ROWS)
            self._nothing_below[folder] = Absence(places)
        return not all(self._nothing_below[folder].lasts() for folder in folders)


def instructions_of(
    workspace: Path,
    home: Home,
    settings: Settings,
    env: Mapping[str, str],
    permissions: "Callable[[Path], Permissions]",
    further: tuple[str, ...] = (),
) -> "Instructions | None":
    """Return the rules of a task, and of its `further` folders; None if the settings turn rules off."""
    if not settings.rules:
        return None

    def build(roots: Roots) -> "Instructions":
        return rules.folder_rules.build_instructions(roots, home, settings, permissions)

    def follow(roots: Roots) -> LiveInstructions:
        return LiveInstructions(roots, lambda: build(roots))

    first = follow(roots_of(workspace, home, env))
    if not further:
        return first
    return rules.multi_root.RootedInstructions(
        first, {root: follow(Roots(Path(root), prefix=f"{root}/")) for root in further}
    )


def roots_of(workspace: Path, home: Home, env: Mapping[str, str]) -> Roots:
    """Return the folders that hold rules. The administrator's folder counts only if root alone can write to it."""
    user = Path(env["HOME"]) if env.get("HOME") else None
    return Roots(workspace, home.root, user, _find_managed(home.managed), _repository_above(workspace))


def _repository_above(workspace: Path) -> Path | None:
    """Return the repository that the workspace is a part of; None if it is one itself, or it is another user's."""
    for folder in (workspace, *workspace.parents):
        try:
            owner = os.lstat(f"{folder}/.git").st_uid
        except OSError:
            continue
        return folder if folder != workspace and owner == workspace.stat().st_uid else None
    return None


def _find_managed(folder: Path) -> Path | None:
    try:
        return folder if only_root_writes(folder) else None
    except OSError:
        return None


def _may_name_a_folder(state: State) -> bool:
    last = state.messages[-1]
    parts = last.content if isinstance(last, UserMessage) else ()
    return any("/" in part.text for part in parts if isinstance(part, Text))
