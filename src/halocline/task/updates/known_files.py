"""Detects changes to files that the model has seen, and whether the task itself made them.

A check is one `stat` for a known file. One that looks different is hashed, and once more when its clock has ticked.
With a message from the user and around a command all are checked, otherwise a bounded number in rotation.
What must stay true: what the model knew is in the state, a fold of events; this is only a cache that saves hashing.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from halocline.files.stamp import is_settled
from halocline.policy.paths import Classifier
from halocline.policy.read_scope import ReadScope
from halocline.ports.blobs import blob_reference
from halocline.ports.host import LARGEST_EDIT, Files, Mark
from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.permission_rules import Place
from halocline.protocol.state.file_knowledge import KnownFile
from halocline.protocol.state.persistent import list_pairs
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

NEWEST, IN_TURNS = 32, 32
"""Number of the most recently known files, and of the others in rotation, checked before each request."""


class _Look(Value, frozen=True):
    """A look at a file, with the hash of its content then. `is_settled`: a later change would look different."""

    mark: Mark | None
    content: str | None
    is_settled: bool


class KnownFiles:
    """Checks a task's known files. `ran` remembers what a command or hook changed until it is reported."""

    def __init__(self, files: Files, clock: Callable[[], int] = time.time_ns) -> None:
        self._files = files
        self._clock = clock
        self._marks: dict[str, _Look] = {}
        self._by: dict[str, str] = {}
        self._next = 0

    async def changed(self, state: State) -> list[ChangedFile]:
        """Return the changed files to report to the model, without hidden ones.

        A file that was hashed and looks the same is not hashed again before its clock has ticked: another change of
        the same size in the same tick is found by the first check after that, at most 50 ms later.
        """
        found = await self._find_changed(state, self._choose_files(state), waits=True)
        by, self._by = self._by, {}
        if found and state.permissions.rules.hides:
            kinds, workspace = _build_classifier(state), Path(state.workspace)
            found = {
                path: now for path, now in found.items() if kinds.kind(_place_of(workspace, path)) is not Place.IGNORED
            }
        known = state.files.known
        return [
            ChangedFile(path, now, "" if known[path].restored else by.get(path, ""), known[path].restored)
            for path, now in found.items()
        ]

    async def differing(self, state: State) -> dict[str, str | None]:
        """Return each known file that changed, with the hash of its content."""
        return await self._find_changed(state, list_pairs(state.files.known))

    def _choose_files(self, state: State) -> Sequence[tuple[str, KnownFile]]:
        """Return the files to check now."""
        known = list_pairs(state.files.known)
        if state.pending.unheard or len(known) <= NEWEST + IN_TURNS:
            return known
        older = len(known) - NEWEST
        begin = self._next if self._next < older else 0
        self._next = min(begin + IN_TURNS, older)
        by_commands = [(name, state.files.known[name]) for name in self._by if name in state.files.known]
        return [*known[begin : self._next], *known[older:], *by_commands]

    async def _find_changed(
        self, state: State, known: Sequence[tuple[str, KnownFile]], *, waits: bool = False
    ) -> dict[str, str | None]:
        marks = await self._files.marks(Path(state.workspace), [name for name, _ in known])
        now: dict[str, str | None] = {}
        kinds: Classifier | None = None
        for (name, file), mark in zip(known, marks, strict=True):
            look = self._marks.get(name)
            if look and look.mark == mark and (look.is_settled or (waits and _is_settling(mark, self._clock()))):
                content = look.content
            else:
                kinds = kinds or _build_classifier(state)
                content = await self._hash_content(state, name, mark, kinds)
            if content != file.content:
                now[name] = content
        return now

    def ran(self, what: str, before: dict[str, str | None], after: dict[str, str | None]) -> None:
        """Attribute to a command what differs after it and did not before."""
        self._by |= {path: what for path, now in after.items() if path not in before or before[path] != now}

    async def _hash_content(self, state: State, name: str, mark: Mark | None, kinds: Classifier) -> str | None:
        """Return the hash of a file; the known one if it cannot be read."""
        content = None if mark is None else state.files.known[name].content
        if mark is not None:
            files = self._files.only(_write_nothing, _scope_of(kinds, name))
            with suppress(OSError):
                content = blob_reference(await files.read(Path(state.workspace, name), 2 * LARGEST_EDIT))
        self._marks[name] = _Look(mark, content, is_settled=mark is None or _is_settled(mark, self._clock()))
        return content


def _build_classifier(state: State) -> Classifier:
    return Classifier(Path(state.workspace), ignored=state.permissions.rules.ignored, roots=state.other_roots)


def _scope_of(kinds: Classifier, name: str) -> ReadScope:
    """Return the scope for reading a known file where it was; a link put in its place is not followed out of it."""
    place = os.path.join(kinds.workspace, name)
    own = (place,) if kinds.kind(place) in (Place.SECRET, Place.OUTSIDE) else ()
    return ReadScope(kinds, dict.fromkeys([*(root.path for root in kinds.roots), *own], ""))


def _place_of(workspace: Path, name: str) -> str:
    try:
        return os.path.realpath(workspace / name)
    except OSError:  # it is changing right now
        return str(workspace / name)


def _write_nothing(place: str) -> bool:
    """Allow no writes: a check only reads."""
    return False


def _is_settled(mark: Mark, now: int) -> bool:
    return is_settled(max(mark.modified, mark.altered), now, fine=_has_fine_times(mark))


def _is_settling(mark: Mark | None, now: int) -> bool:
    """Return True for some milliseconds after a change, where the file system has a fine clock."""
    return mark is not None and _has_fine_times(mark) and not _is_settled(mark, now)


def _has_fine_times(mark: Mark) -> bool:
    return bool(mark.modified % 1_000_000 and mark.altered % 1_000_000)


def jobs_of(state: State) -> Sequence[str]:
    """Return the commands that are still running."""
    return [job.job for job in state.jobs.running]
