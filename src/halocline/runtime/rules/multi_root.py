"""Rules for a task with several folders: those of the first are followed as always, those of the others beside them.

What must stay true: a file of another folder is named by its whole path, and its patterns are seen from that folder.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.context.instructions.places import Roots
from halocline.ports.instructions import Instructions
from halocline.protocol.instructions import Beginning, InstructionsLoaded
from halocline.protocol.state.state import State
from halocline.runtime.rules.live import LiveInstructions, reader_of
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from halocline.ports.permissions import Leave


class RootedInstructions:
    """Fulfils `ports.instructions.Instructions`; `others` are those of the further folders."""

    def __init__(self, first: Instructions, others: Mapping[str, Instructions]) -> None:
        self._first = first
        self._others = others

    def begins(self) -> Beginning:
        """What holds from the start; the other folders' rules come with the first prompt."""
        return self._first.begins()

    def news(self, state: State) -> InstructionsLoaded | None:
        found = [self._first.news(self._seen(state, ""))]
        found += [rules.news(self._seen(state, root)) for root, rules in self._others.items()]
        told = [event for event in found if event is not None]
        if not told:
            return None
        return InstructionsLoaded(
            files=tuple(file for event in told for file in event.files),
            gone=tuple(path for event in told for path in event.gone),
            # The notes of files come first, in their order.
            content=tuple(part for event in told for part in event.content[: len(event.files)])
            + tuple(part for event in told for part in event.content[len(event.files) :]),
        )

    def _seen(self, state: State, root: str) -> State:
        """The state as a folder's rules see it: from that folder, with what holds of its own."""
        own = tuple(one for one in state.instructions if self._root_of(one.file.path) == root)
        return replace(state, workspace=root or state.workspace, instructions=own)

    def _root_of(self, path: str) -> str:
        return next((root for root in self._others if path.startswith(f"{root}/")), "")


def with_roots(
    first: LiveInstructions,
    roots: tuple[str, ...],
    home: Home,
    settings: Settings,
    leave: "Callable[[Path], Leave]",
) -> RootedInstructions:
    """The rules of a task with further folders; of these only what the project itself says."""

    def of(root: str) -> LiveInstructions:
        places = Roots(Path(root), prefix=f"{root}/")
        return LiveInstructions(places, lambda: reader_of(places, home, settings, leave))

    return RootedInstructions(first, {root: of(root) for root in roots})
