"""Keeps the contents of files at one moment, so that a checkpoint can show them however long git takes.

An edit need not wait for a checkpoint requested before it: the file's content is kept, the checkpoint reads whatever it
finds, and is corrected by the kept content. Edited files are saved without git, except for new ones.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from halocline.checkpoints.index import index
from halocline.checkpoints.store import objects, trees
from halocline.checkpoints.store.contents import find_spoilt
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.reading import Kept, Reader

MOST_FILES, MOST_BYTES = 48, 1 << 20
"""Limits of what is read without git; the index is not updated, so the next scan finds these files again."""
# None: there was no such file.
Contents = Mapping[index.Path, Kept | None]


def keep_contents(workspace: Path, paths: Sequence[str], largest: int) -> Contents | None:
    """The contents of these files; None unless each is a regular file of at most `largest` bytes in the workspace."""
    root = os.fsencode(workspace)
    places = index.list_ordinary(root, paths, largest)
    # Fewer places mean a file outside the workspace.
    if places is None or len(places) != len(set(paths)):
        return None
    try:
        with Reader(root) as reader:
            return {place: reader.read(place, largest) for place in places}
    except OSError:
        return None


def read_few(workspace: Path, places: Sequence[index.Path]) -> Contents | None:
    """The contents of these files and links; None if they are so many or so large that git should read them."""
    if len(places) > MOST_FILES:
        return None
    try:
        with Reader(os.fsencode(workspace)) as reader:
            found = {place: reader.read(place, MOST_BYTES) for place in places}
    except OSError:
        return None
    return found if sum(len(kept.content) for kept in found.values() if kept) <= MOST_BYTES else None


def change_tree(
    git: Git, tree: str, contents: Contents, *known: str, sure: Collection[index.Path] = frozenset()
) -> str:
    """The tree with these files. Ignored files are left out, unless it or one of the `known` trees has them.

    Files in `sure` are known not to be ignored.
    """
    found = {
        place: place in sure or any(trees.find_entry(git, one, place) for one in (tree, *known)) for place in contents
    }
    doubtful = [place for place, kept in contents.items() if kept and not found[place]]
    ignored = index.list_ignored(git, doubtful) if doubtful else ()
    changes = {place: store_contents(git.store, kept) for place, kept in contents.items() if place not in ignored}
    return trees.change_tree(git, tree, changes) if changes else tree


def store_contents(store: Path, kept: Kept | None) -> Entry | None:
    """Save a file's content in a store."""
    return None if kept is None else Entry(kept.mode, objects.write_object(store, b"blob", kept.content))


def with_unsaved(git: Git, tree: str, unsaved: Mapping[index.Path, Entry | None]) -> str:
    """Return the tree with files as they were before edits, without lost contents and ignored files."""
    lost = find_spoilt(git, {entry.sha for entry in unsaved.values() if entry})
    doubtful = [place for place, entry in unsaved.items() if entry and not trees.find_entry(git, tree, place)]
    ignored = index.list_ignored(git, doubtful) if doubtful else ()
    there = {place: entry for place, entry in unsaved.items() if not (entry and entry.sha in lost)}
    return trees.change_tree(git, tree, {place: entry for place, entry in there.items() if place not in ignored})
