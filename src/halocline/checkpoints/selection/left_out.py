"""Records which files a checkpoint leaves out, as they were then, so that a restore can say what it cannot bring back.

The record is a line of the checkpoint's message, written when it differs from that of the checkpoint before.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import AnyStr

import msgspec

from halocline.checkpoints.store.git import Git, GitFailed
from halocline.checkpoints.store.reading import Kept, Reader
from halocline.checkpoints.store.trees import find_entry
from halocline.protocol import json_input
from halocline.protocol.values import Value

MARK = "left out: "
"""The beginning of the line in a checkpoint's message."""
MOST = 300
"""Files and folders that are recorded."""
_LOOKED_BACK = 400
_OWN = b".halo-"
"""The beginning of the names of files that we are writing: they are no one's, and gone soon."""


class Skipped(Value, frozen=True):
    """A file that is left out, with its size in bytes and its time in nanoseconds; a folder's path ends in a slash.

    `path` is decoded as latin-1 because names need not be text. `by_rule`: a rule leaves it out, not its size.
    """

    path: str
    size: int = 0
    at: int = 0
    by_rule: bool = True


Record = tuple[Skipped, ...]


def list_skipped(git: Git, unruled: Collection[bytes]) -> Record:
    """List what a checkpoint leaves out now: the `unruled` files, and those that a rule leaves out.

    Names that lead out of the workspace, through a folder that became a link, are not listed.
    """
    listed = git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").split(b"\0")[:-1]
    held = (git.tracked.overruled if git.tracked else None) or frozenset()
    ruled = [path for path in drop_holders({*listed} - held, b"/") if not os.path.basename(path).startswith(_OWN)]
    found = [(path, False) for path in sorted(unruled)] + [(path, True) for path in ruled]
    with Reader(os.fsencode(git.workspace)) as reader:
        looked = (_look(reader, path, by_rule) for path, by_rule in found[:MOST])
        return tuple(one for one in looked if one)


def drop_holders(paths: Collection[AnyStr], slash: AnyStr) -> list[AnyStr]:
    """Sort paths, without the folders that are listed before something in them.

    Git names a folder also if no rule leaves it out but everything that is in it at the moment, such as a file that is
    being written; other files may come into it, and those are saved.
    """
    ordered = sorted(paths)
    holders = {path for path, after in pairwise(ordered) if path.endswith(slash) and after.startswith(path)}
    return [path for path in ordered if path not in holders]


def with_kept(git: Git, tree: str, found: Record, on_read: Callable[[], Mapping[bytes, Kept | None]]) -> Record:
    """Return a record with files as they were kept before they changed; `tree` is that of the checkpoint."""
    if not (kept := on_read()):
        return found
    names = {path.decode("latin-1") for path in kept}
    earlier = (
        Skipped(path.decode("latin-1"), len(one.content))
        for path, one in kept.items()
        if one and not find_entry(git, tree, path)
    )
    return (*earlier, *(one for one in found if one.path not in names))


def _look(reader: Reader, path: bytes, by_rule: bool) -> Skipped | None:
    try:
        info = reader.look(path.rstrip(b"/"))
    except OSError:
        return None
    if info is None:
        return None
    is_file = not path.endswith(b"/")
    return Skipped(path.decode("latin-1"), info.st_size * is_file, info.st_mtime_ns * is_file, by_rule)


def list_changed(root: bytes, then: Record) -> list[Skipped]:
    """Return what is gone by now, and files that are not as they were."""
    with Reader(root) as reader:
        return [one for one in then if _look(reader, one.path.encode("latin-1"), one.by_rule) != one]


def format_record(found: Record) -> str:
    """The line of a checkpoint's message."""
    return f"{MARK}{msgspec.json.encode(found).decode()}\n"


def read_record(git: Git, commit: str) -> Record:
    """Return the record of a checkpoint; empty if it is of an older version."""
    try:
        output = git.run("rev-list", "--first-parent", f"--max-count={_LOOKED_BACK}", "--format=%B%x00", commit)
    except GitFailed:  # an earlier checkpoint is missing
        output = git.run("rev-list", "--no-walk", "--format=%B%x00", commit)
    for line in output.decode(errors="replace").split("\n"):
        if line.startswith(MARK):
            with suppress(msgspec.DecodeError):
                found = json_input.decode(line.removeprefix(MARK).strip(), type=Record)
                names = {*drop_holders([one.path for one in found], "/")}  # older versions recorded all of git's list
                return tuple(one for one in found if one.path in names)
            return ()
    return ()
