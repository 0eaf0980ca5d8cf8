"""The rules of a running task, at no cost where there are none: until a file of rules is seen, only its places are
looked at, and nothing that reads them is loaded.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from halocline.context.instruction_places import NESTED, Roots, present
from halocline.ports.instructions import Beginning, Instructions
from halocline.protocol.instructions import InstructionsLoaded
from halocline.protocol.messages import Text, UserMessage
from halocline.protocol.state import State

if TYPE_CHECKING:
    from halocline.context.instruction_files import Reader


class LiveInstructions:
    """Fulfils `ports.instructions.Instructions`; `reader` is made when there is something to read."""

    def __init__(self, roots: Roots, reader: "Callable[[], Reader]") -> None:
        self._roots = roots
        self._reader = reader
        self._folder: Instructions | None = None

    def begins(self) -> Beginning:
        """What holds from the start."""
        return self._read().begins() if self._is_somewhere() else Beginning()

    def news(self, state: State) -> InstructionsLoaded | None:
        """What the model has to be told before its next request; nothing most of the time."""
        if self._folder is None and not (state.instructions or self._is_somewhere() or self._is_nested(state)):
            return None
        return self._read().news(state)

    def _read(self) -> Instructions:
        if self._folder is None:
            from halocline.context.instructions import FolderInstructions

            self._folder = FolderInstructions(self._reader())
        return self._folder

    def _is_somewhere(self) -> bool:
        return next(present(self._roots), None) is not None

    def _is_nested(self, state: State) -> bool:
        if len(state.messages) == 1 and not _may_name_a_folder(state):
            return False
        from halocline.context.touched import folders_of, touched

        folders = set(folders_of(touched(state)))
        return any(os.path.exists(self._roots.workspace / folder / name) for folder in folders for name in NESTED)


def _may_name_a_folder(state: State) -> bool:
    last = state.messages[-1]
    parts = last.content if isinstance(last, UserMessage) else ()
    return any("/" in part.text for part in parts if isinstance(part, Text))
