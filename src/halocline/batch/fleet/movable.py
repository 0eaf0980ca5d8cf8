"""Finds items that can run on a node of a cluster: those whose places can be made anywhere."""

import os
from collections.abc import Iterable

from msgspec.structs import replace

from halocline.batch.fleet.messages import Mark, mark_folder
from halocline.batch.items import Item, PlaceKind
from halocline.batch.places import choose_kind
from halocline.protocol.errors import UsageError

_MOVABLE = (PlaceKind.CLONE, PlaceKind.COPY, PlaceKind.CONTAINER)


def check_movable(items: Iterable[Item]) -> None:
    """Raise UsageError for an item whose place is on this machine only."""
    for item in items:
        if item.place and item.place not in _MOVABLE:
            raise UsageError(
                f"Item {item.id!r}: a place of the kind {item.place} cannot be made on a node.",
                "Use git, or the place clone, copy or container; or run it here, without --on.",
            )


def move_item(item: Item) -> Item:
    """Return an item as a node gets it: a folder is cloned or copied there."""
    if item.place or item.git:
        return item
    kind = choose_kind(item)
    return replace(item, place=PlaceKind.CLONE if kind is PlaceKind.WORKTREE else PlaceKind.COPY)


def find_paths(item: Item) -> tuple[str, ...]:
    """Return the folders of this machine that an item needs."""
    git = item.git if os.path.isdir(item.git) else ""
    image = item.image if os.path.isdir(item.image) else ""
    return tuple(path for path in (item.folder, git, item.accept_files, image) if path)


def mark_paths(items: Iterable[Item]) -> dict[str, Mark]:
    """Return the marks of all folders that items need."""
    paths = {path for item in items for path in find_paths(item)}
    return {path: mark for path in sorted(paths) if (mark := mark_folder(path))}
