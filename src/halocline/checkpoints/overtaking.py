"""What files held at one moment, so that a checkpoint can show it however long git takes to get there.

An edit need not wait for a checkpoint that was asked for before it: what the file holds is kept, the checkpoint reads
whatever it finds, and is corrected by what was kept. What an edit wrote is saved without git, except for new files.
"""

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from halocline.checkpoints import index, objects, trees
from halocline.checkpoints.git import Git
from halocline.protocol.values import Value


class Kept(Value, frozen=True):
    """What a file held; `mode` is as a tree writes it."""

    content: bytes
    mode: bytes


MOST_FILES, MOST_BYTES = 48, 1 << 20
"""What is read without git; the index is not told of it, so that the next scan finds it again."""
# None: there was no such file.
Contents = Mapping[index.Path, Kept | None]


def keep(workspace: Path, paths: Sequence[str], largest: int) -> Contents | None:
    """What these files hold now; None when one of them is no plain file of at most `largest` bytes in the workspace."""
    root = os.fsencode(workspace)
    places = index.ordinary(root, paths, largest)
    # Fewer lie outside the workspace; a link stands for two places.
    if places is None or len(places) != len(set(paths)):
        return None
    try:
        return {place: _read(os.path.join(root, place)) for place in places}
    except OSError:
        return None


def read_few(workspace: Path, places: Sequence[index.Path]) -> Contents | None:
    """What these files and links hold; None when they are so many or so large that git had better read them."""
    root = os.fsencode(workspace)
    if len(places) > MOST_FILES:
        return None
    try:
        found = {place: _linked(os.path.join(root, place)) for place in places}
    except OSError:
        return None
    return found if sum(len(kept.content) for kept in found.values() if kept) <= MOST_BYTES else None


def changed(git: Git, tree: str, contents: Contents, *known: str, sure: Collection[index.Path] = frozenset()) -> str:
    """The tree with these files. Those that neither it nor the trees `known` hold stay out when they are ignored.

    Of those that are `sure` it is known that they are not.
    """
    found = {place: place in sure or any(trees.find(git, one, place) for one in (tree, *known)) for place in contents}
    doubtful = [place for place, kept in contents.items() if kept and not found[place]]
    ignored = index.ignored(git, doubtful) if doubtful else ()
    changes = {place: _store(git, kept) for place, kept in contents.items() if place not in ignored}
    return trees.changed(git, tree, changes) if changes else tree


def _store(git: Git, kept: Kept | None) -> trees.Entry | None:
    return None if kept is None else trees.Entry(kept.mode, objects.write(git.store, b"blob", kept.content))


def _linked(path: bytes) -> Kept | None:
    """As `_read`; a link holds where it leads."""
    if os.path.islink(path):
        return Kept(os.readlink(path), b"120000")
    return None if not os.path.lexists(path) else _read(path, MOST_BYTES + 1)


def _read(path: bytes, most: int = -1) -> Kept | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(file, "rb") as stream:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(f"{os.fsdecode(path)} is no plain file")
        return Kept(stream.read(most), b"100755" if info.st_mode & stat.S_IXUSR else b"100644")
