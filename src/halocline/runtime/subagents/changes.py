"""The changes of an agent in its worktree: for a review, and merged with files of the folder that it started from.

What a merge gives is decided where `halo worktrees merge` asks, too (`checkpoints/restore/merge_in`).
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.restore.merge import find_encoding
from halocline.checkpoints.restore.merge_in import Conflict, Sides, merge_contents, note_taken
from halocline.checkpoints.restore.three_way import FILES
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store.reading import PLAIN, Kept
from halocline.edits.diff import make_binary_diff, make_diff
from halocline.files.encodings import decode_text
from halocline.git.repository import find_repository
from halocline.git.worktree_list import Worktree, find_main, find_worktree
from halocline.git.worktrees import remove_worktree
from halocline.ports.subagents import Merged
from halocline.protocol.errors import HaloclineError, ToolFailure, UsageError
from halocline.protocol.events.subagents import TO_TAKE
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import Diff
from halocline.protocol.values import Value
from halocline.runtime.history.worktree_work import LoadedWork, load_work

MOST_DIFF, MOST_FILES = 12_000, 200
"""Characters of a diff, and files, in a review."""
UNCHANGED = "[It changed no files.]"
LONGEST_HUNK = 2_000


class AgentChanges(Value, frozen=True):
    """The files that an agent changed, by their paths from the workspace; `apart` are those that no merge takes over.

    These are links, modes, files that are too large, and submodules. `prefix` is the workspace in the work tree.
    """

    work: LoadedWork
    prefix: str
    sides: Mapping[str, Sides]
    apart: tuple[str, ...]


async def read_agent_changes(workspace: Path, stores: Path, name: str) -> AgentChanges:
    """Return what an agent changed in its worktree, since it was taken. Raises UsageError and GitUnusable."""
    worktree, prefix = await asyncio.to_thread(_find_worktree, workspace, name)
    return _list_changes(await load_work(stores, worktree, Limits()), prefix)


def _list_changes(work: LoadedWork, prefix: str) -> AgentChanges:
    sides, apart = dict[str, Sides](), [*work.changes.apart, *(f"{path} (only staged)" for path in work.changes.staged)]
    for raw, (base, theirs) in work.sides.items():
        shown = os.path.relpath(os.fsdecode(raw), prefix or ".")
        if any(side and side.mode not in FILES for side in (base, theirs)):
            apart.append(shown)
            continue
        if theirs and theirs.mode != (base.mode if base else PLAIN):
            apart.append(f"{shown} (its mode)")
        if _content(theirs) != _content(base):
            sides[shown] = base, theirs
    apart += [os.path.relpath(os.fsdecode(raw), prefix or ".") for raw in work.unread]
    return AgentChanges(work, prefix, sides, tuple(sorted(apart)))


async def remove_unchanged(workspace: Path, name: str) -> None:
    """Remove a worktree in which nothing was changed; if git refuses, it stays."""
    with suppress(UsageError, ToolFailure):
        await remove_worktree((await asyncio.to_thread(_find_worktree, workspace, name))[0])


def _find_worktree(workspace: Path, name: str) -> tuple[Worktree, str]:
    """Return a worktree as one of the work tree around this workspace, even if that is a worktree itself."""
    found, around = find_worktree(find_main(workspace), name), find_repository(workspace, os.environ)
    return replace(found, main=around.top), around.prefix


def _content(kept: Kept | None) -> bytes | None:
    return kept.content if kept else None


def describe_changes(name: str, changes: AgentChanges, evidence: str, worktree: str) -> str:
    """Describe what an agent changed, ran and did not check, for its parent; bounded."""
    sides = changes.sides
    if not (sides or changes.apart):
        return UNCHANGED
    taken = [path for path, (_, now) in sides.items() if now is not None]
    gone = [path for path, (_, now) in sides.items() if now is None]
    diffs = [_make_diff(path, *map(_content, both)) for path, both in sides.items()]
    text = "\n".join(diff.text.rstrip("\n") for diff in diffs)
    if len(text) > MOST_DIFF:
        text = f"{text[:MOST_DIFF]}\n[{len(text) - MOST_DIFF:,} more characters of the diff are in the worktree]"
    parts = (
        f"[It changed {len(sides)} file{'s' * (len(sides) != 1)} in its worktree {worktree}: {_describe_size(diffs)}.]",
        evidence,
        f"{TO_TAKE} merge_agent_changes with agent {name}, paths {_list_paths(taken)}"
        + (f", deleted {_list_paths(gone)}" if gone else ""),
        f"Not taken over by that: {_list_paths(changes.apart)}" if changes.apart else "",
        text,
    )
    return "\n".join(filter(None, parts))


def _make_diff(path: str, base: bytes | None, now: bytes | None) -> Diff:
    if any(side is not None and find_encoding([side]) is None for side in (base, now)):
        return make_binary_diff(path, base, now)
    before, after = (None if side is None else decode_text(side) for side in (base, now))
    return make_diff(path, before, after)


def _describe_size(diffs: Sequence[Diff]) -> str:
    return f"+{sum(diff.added for diff in diffs)} -{sum(diff.removed for diff in diffs)} lines"


def _list_paths(paths: Sequence[str]) -> str:
    shown = ", ".join(make_printable(path) for path in paths[:MOST_FILES])
    return f"[{shown}{', and more' * (len(paths) > MOST_FILES)}]"


async def merge_changes(changes: AgentChanges, files: Mapping[str, bytes | None]) -> dict[str, Merged]:
    """Merge an agent's changes with files, named from the workspace, as they are now. Raises ToolFailure."""
    sides, now = dict[bytes, Sides](), dict[bytes, Kept | None]()
    for path in files.keys() & changes.sides.keys():
        base, theirs = map(_content, changes.sides[path])
        raw = _place_in_tree(changes, path)
        sides[raw], now[raw] = (_make_plain(base), _make_plain(theirs)), _make_plain(files[path])
    try:
        found = await asyncio.to_thread(merge_contents, changes.work.repository, changes.work.source, sides, now)
    except HaloclineError as error:
        raise ToolFailure(f"The files cannot be merged: {error.text} Nothing was changed.") from error
    merged = {path: Merged(data, data) for path, data in files.items()}
    for path in files.keys() & changes.sides.keys():
        one, theirs = found[_place_in_tree(changes, path)], _content(changes.sides[path][1])
        conflicts = _describe_conflict(one.conflict, files[path], theirs) if one.conflict else ""
        merged[path] = Merged(one.content, theirs, conflicts)
    return merged


async def note_merged(changes: AgentChanges, taken: Mapping[str, bytes | None]) -> None:
    """Note what was merged of an agent, so that the next merge starts from it. Raises HaloclineError."""
    theirs = {_place_in_tree(changes, path): _make_plain(data) for path, data in taken.items()}
    await asyncio.to_thread(note_taken, changes.work.repository, changes.work.source, theirs)


def _place_in_tree(changes: AgentChanges, path: str) -> bytes:
    return os.fsencode(os.path.normpath(os.path.join(changes.prefix, path)))


def _make_plain(content: bytes | None) -> Kept | None:
    return None if content is None else Kept(content, PLAIN)


def _describe_conflict(conflict: Conflict, now: bytes | None, theirs: bytes | None) -> str:
    hunks = (
        f"{number}. line {hunk.line}:\n{_show_side('now', hunk.ours)}{_show_side('agent', hunk.theirs)}"
        for number, hunk in enumerate(conflict.hunks, 1)
    )
    if conflict.hunks or not (now is None or theirs is None):
        return "\n".join(hunks) or f"{conflict.why}."
    texts = (None if side is None else decode_text(side) for side in (now, theirs))
    return f"{conflict.why}.\n" + "".join(map(_show_side, ("now", "agent"), texts))


def _show_side(name: str, text: str | None) -> str:
    if text is None:
        return f"<<< {name}: no file\n"
    more = f"\n[{len(text) - LONGEST_HUNK:,} more characters]\n" if len(text) > LONGEST_HUNK else ""
    return f"<<< {name}\n{text[:LONGEST_HUNK]}{more}>>>\n"
