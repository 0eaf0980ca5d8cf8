"""The card of a task's worktree below the list: what it has, its diff, and the keys that merge, undo and discard it.

The service that the command line uses does it; nothing is removed before its loss was shown and a key said so.
"""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

from halocline.client.tasks import Client
from halocline.client.worktrees import Choice, Conflict, WorktreeMerge, WorktreePreview, WorktreeService
from halocline.protocol.errors import HaloclineError
from halocline.protocol.left_out import name_some
from halocline.surfaces import worktree_text
from halocline.surfaces.board.worktrees import (
    describe_loss,
    describe_state,
    discard_worktree,
    open_worktrees,
)
from halocline.surfaces.cli.board.list_card import BACK, ListCard
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashDiff
from halocline.surfaces.slash.diff import show_comparison
from halocline.surfaces.terminal.asking.menu import ESCAPE

T = TypeVar("T")
_CHOICES = {"m": Choice.NONE, "o": Choice.OURS, "t": Choice.THEIRS, "k": Choice.MARKERS}
_WHOLE = 1_000
"""Most lines of each side of an overlap in one file."""
_SURE = {"y": "discard it", ESCAPE: BACK}


class WorktreeAsker:
    """Asks about one worktree until the person goes back."""

    def __init__(self, client: Client, card: ListCard) -> None:
        self._client = client
        self._card = card

    async def ask(self, folder: str, note: str = "") -> None:
        """Show the worktree of a folder and do what the person chooses. Raises HaloclineError."""
        service, name = await open_worktrees(self._client, Path(folder))
        while True:
            seen = await service.preview(name)
            self._show(seen, note)
            key = await self._card.choose("", _list_options(seen))
            try:
                match key:
                    case "m" | "o" | "t" | "k" | "g":
                        choice = _CHOICES.get(key, Choice.NONE)
                        shown = [one.version for one in seen.merge.merged.conflicts]
                        done = await _finish(service.merge(name, choice, guarded=key == "g", seen=shown))
                        note = "\n".join([worktree_text.describe_merge(name, done)[0], *_list_new(done)])
                    case "s":
                        note = await self._settle_files(service, name)
                    case "u":
                        note = "\n".join(worktree_text.describe_undone(await _finish(service.undo(name))))
                    case "x":
                        if await self._discard(service, name, seen):
                            return
                        note = ""
                    case _:
                        return
            except HaloclineError as error:
                note = f"{error.text} {error.hint}".rstrip()

    def _show(self, seen: WorktreePreview, note: str) -> None:
        worktree = seen.work.worktree
        lines = [note, ""] if note else []
        lines += [f"{worktree.name}: {describe_state(seen).text}", f"{worktree.folder} → {worktree.main}"]
        self._card.show_text("\n".join([*lines, *worktree_text.describe_left(seen.merge)]))
        if isinstance(shown := show_comparison(seen.changes, "in the worktree"), SlashDiff):
            self._card.say(shown.text, shown.diffs)

    async def _settle_files(self, service: WorktreeService, name: str) -> str:
        """Show the conflict of one file after the other, and merge it as the person chooses; return what was done."""
        passed, settled, left_out = set[str](), list[str](), list[str]()
        while True:
            conflicts = (await service.preview(name)).merge.merged.conflicts
            left = [one for one in conflicts if one.path not in passed]
            if not left:
                break
            self._card.show_text("\n".join(worktree_text.describe_conflict(left[0], _WHOLE)))
            title = f"{clean(left[0].path)}, of {format_plural(len(left), 'conflict')}"
            key = await self._card.choose(title, _list_sides(left[0]))
            if key == ESCAPE:
                break
            if key in _CHOICES:
                only, shown = (left[0].path,), (left[0].version,)
                done = await _finish(service.merge(name, _CHOICES[key], only=only, seen=shown))
                if _list_new(done):
                    continue  # it is shown again, as it is now
                settled += {left[0].path} & {*done.merged.changed, *done.merged.stays}
                left_out += worktree_text.describe_left(done)
            passed.add(left[0].path)
        return "\n".join([*([f"Settled: {clean(name_some(settled))}."] if settled else []), *left_out])

    async def _discard(self, service: WorktreeService, name: str, seen: WorktreePreview) -> bool:
        loss = describe_loss(seen.work)
        self._card.show_text("\n".join([f"Discard {seen.work.worktree.folder}?", *loss]))
        if await self._card.choose(f"Discard the worktree {name}", _SURE) != "y":
            return False
        gone = await _finish(discard_worktree(service, name, seen.work.left))
        self._card.show_text("\n".join(worktree_text.describe_discarded(gone)))
        await self._card.choose(f"Discarded {name}", {ESCAPE: BACK})
        return True


async def _finish(work: Coroutine[None, None, T]) -> T:
    """Do this to its end, also if the person selects another task meanwhile."""
    return await asyncio.shield(asyncio.ensure_future(work))


def _list_new(done: WorktreeMerge) -> list[str]:
    return [f"Changed since it was shown: {clean(one.path)}." for one in done.merged.conflicts if one.is_new]


def _list_sides(conflict: Conflict) -> dict[str, str]:
    what = "overlaps as {} has them" if conflict.hunks else "as {} has it"
    options = {"o": what.format("the main folder"), "t": what.format("the worktree")}
    options |= {"k": "overlaps with conflict markers"} if conflict.hunks else {}
    return {**options, "n": "leave this file as it is", ESCAPE: BACK}


def _list_options(seen: WorktreePreview) -> dict[str, str]:
    merge, options = seen.merge, dict[str, str]()
    if merge.merged.changed:
        options["m"] = "merge into the main folder, without a commit"
    if conflicts := merge.merged.conflicts:
        options |= {
            "o": "merge, overlaps as the main folder has them",
            "t": "merge, overlaps as the worktree has them",
            **({"k": "merge, overlaps with conflict markers"} if any(one.hunks for one in conflicts) else {}),
            "s": "settle file by file …",
        }
    options |= {"g": "merge also what an edit would ask about"} if merge.guarded else {}
    options |= {"u": "undo the last merge"} if seen.work.undo else {}
    return {**options, "x": "discard the worktree …", ESCAPE: BACK}
