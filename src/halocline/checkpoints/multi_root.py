"""The checkpoints of a task with several folders: one store per folder, one sequence of numbers for all.

What must stay true: each change is saved in the store of its folder, and then the first folder's store gets a
checkpoint too, so that one of its numbers identifies the state of all folders.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.saved import FIRST
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.ports.checkpoints import Content, Emit
from halocline.protocol.events import CheckpointFailed, CheckpointTaken, DurableEvent, Noticed
from halocline.protocol.waiting import end_all

Paths = Sequence[str] | None


class RootedCheckpoints:
    """Implements `ports.checkpoints.Checkpoints`. `others` are the other folders' stores, by folder."""

    def __init__(self, workspace: Path, first: ShadowGit, others: Mapping[str, ShadowGit]) -> None:
        self._workspace = os.path.realpath(workspace)
        self._first = first
        self._others = others
        self._marked = ""

    def begin(self, emit: Emit) -> None:
        self._first.begin(partial(self._emit_first, emit))
        for root, store in self._others.items():
            store.begin(partial(self._emit_other, emit, root))

    def take(self, label: str, paths: Paths = None) -> None:
        for store, own in self._split_paths(paths):
            store.take(label, own)

    def wrote(self, path: str, before: Content, after: Content) -> None:
        place = os.path.realpath(os.path.join(self._workspace, path))
        for store, own in self._split_paths([place]):
            for one in own or ():
                store.wrote(one, before, after)

    async def barrier(self, paths: Paths = None, *, ran: bool = True, destroys: bool = False) -> None:
        stores = self._split_paths(paths)
        await asyncio.gather(*(store.barrier(own, ran=ran, destroys=destroys) for store, own in stores))

    async def settle(self) -> None:
        await asyncio.gather(*(store.settle() for store in self._others.values()))
        await self._first.settle()  # the others may have given it work

    async def close(self) -> None:
        await end_all(*(store.close() for store in (self._first, *self._others.values())))

    def _emit_first(self, emit: Emit, event: DurableEvent | Noticed) -> None:
        if isinstance(event, CheckpointTaken):
            self._marked = event.label
        emit(event)

    def _emit_other(self, emit: Emit, root: str, event: DurableEvent | Noticed) -> None:
        match event:
            case CheckpointTaken(label=label):
                emit(replace(event, root=root))
                if label not in (FIRST, self._marked):
                    self._first.mark(label)
            case Noticed(text=text):
                emit(Noticed(f"{root}: {text}"))
            case CheckpointFailed(text=text):
                emit(replace(event, text=f"{root}: {text}", root=root))
            case _:
                emit(event)

    def _split_paths(self, paths: Paths) -> list[tuple[ShadowGit, Paths]]:
        """Split paths among the stores of the folders that they are in; what is in none belongs to the first."""
        if paths is None:
            return [(store, None) for store in (self._first, *self._others.values())]
        places = [os.path.normpath(os.path.join(self._workspace, path)) for path in paths]
        shares: list[tuple[ShadowGit, Paths]] = []
        for root, store in self._others.items():
            if own := tuple(place for place in places if _is_within(place, root)):
                shares.append((store, own))
        rest = tuple(place for place in places if not any(_is_within(place, root) for root in self._others))
        return [(self._first, rest), *shares] if rest or not shares else shares


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
