"""Rules for a task with several folders: those of the first as usual, plus those of the others.

What must stay true: a file of another folder is named by its absolute path, and its patterns are relative to that
folder.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from halocline.ports.instructions import Instructions
from halocline.protocol.events.instructions import Beginning, InstructionsLoaded
from halocline.protocol.state.state import State


class RootedInstructions:
    """Implements `ports.instructions.Instructions`; `others` are the rules of the other folders."""

    def __init__(self, first: Instructions, others: Mapping[str, Instructions]) -> None:
        self._first = first
        self._others = others

    def begins(self) -> Beginning:
        """Return the rules that apply from the start; the other folders' rules come with the first prompt."""
        return self._first.begins()

    def collect_changes(self, state: State) -> InstructionsLoaded | None:
        found = [self._first.collect_changes(self._state_for(state, ""))]
        found += [rules.collect_changes(self._state_for(state, root)) for root, rules in self._others.items()]
        events = [event for event in found if event is not None]
        if not events:
            return None
        return InstructionsLoaded(
            files=tuple(file for event in events for file in event.files),
            gone=tuple(path for event in events for path in event.gone),
            # The notes of files come first, in their order.
            content=tuple(part for event in events for part in event.content[: len(event.files)])
            + tuple(part for event in events for part in event.content[len(event.files) :]),
        )

    def _state_for(self, state: State, root: str) -> State:
        """Return the state for a folder's rules: with that workspace, and only the folder's own instructions."""
        own = tuple(one for one in state.prompt.instructions if self._root_of(one.file.path) == root)
        return replace(state, workspace=root or state.workspace, prompt=replace(state.prompt, instructions=own))

    def _root_of(self, path: str) -> str:
        return next((root for root in self._others if path.startswith(f"{root}/")), "")
