"""Items of a batch: each line of a tasks file, checked as a whole before anything runs."""

import os
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.client.options import Choices
from halocline.protocol import json_input
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.values import Value

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_STRANGE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_PLAIN = 60
_UNPASSABLE = re.compile(r"[\0\ud800-\udfff]")
FORM = 'Each line is an object such as {"id": "fix-1", "folder": "project", "prompt": "…", "accept": "make test"}.'
GROUP_SHOWN = 60
"""Characters of the id of a group that those of its items begin with."""
LIMITS = ("max_steps", "max_cost", "token_limit", "time_limit")


class PlaceKind(StrEnum):
    """Kinds of places: the folder itself, a copy, worktree or clone of it, a container, another machine."""

    FOLDER = "folder"
    COPY = "copy"
    WORKTREE = "worktree"
    CLONE = "clone"
    CONTAINER = "container"
    SSH = "ssh"


SHARED = (PlaceKind.FOLDER, PlaceKind.SSH)
"""Places in which other items may work, too."""


class Item(Value, frozen=True, forbid_unknown_fields=True):
    """One task of a batch.

    Attributes:
        id: its name in the queue and the report.
        prompt: what to do.
        folder: the folder to work in; of `ssh` the one on that machine.
        git: the address of a repository, instead of a folder; with `revision` at that commit, tag or branch.
        place: where it works; a clone for `git`, a worktree for a folder in a repository, the folder itself else.
        image: of a container: what `container` runs it from.
        machine: of `ssh`: the name that ssh knows.
        accept: a command that decides with its exit code whether the result is accepted; the model does not see it.
        accept_files: a folder that is copied over the result before that, so that hidden tests can be in it.
        accept_seconds: the longest time that it may take.
        until: a command that the model is told to make pass.
        group: the id of the task that several items repeat.
        model, mode, approval_mode, max_steps, max_cost, token_limit, time_limit: as the options of `halo run`.
    """

    id: str
    prompt: str
    folder: str = ""
    git: str = ""
    revision: str = ""
    place: PlaceKind | None = None
    image: str = ""
    machine: str = ""
    accept: str = ""
    accept_files: str = ""
    accept_seconds: float = 600.0
    until: str = ""
    group: str = ""
    model: str | None = None
    mode: Mode | None = None
    approval_mode: ApprovalMode | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    token_limit: int | None = None
    time_limit: float | None = None

    def limit(self, choices: Choices) -> Choices:
        """Return the choices of the batch with the limits of this item; of two, the smaller one holds."""
        both = {name: (getattr(self, name), getattr(choices, name)) for name in LIMITS}
        given = {name: [one for one in pair if one is not None] for name, pair in both.items()}
        return replace(choices, **{name: min(limits) for name, limits in given.items() if limits})


_item = json_input.Decoder(Item)


def read_items(text: str, source: str, base: Path) -> list[Item]:
    """Read JSON lines; folders are relative to `base`. Raises UsageError that names the line."""
    lines = enumerate(text.split("\n"), 1)  # other ends of lines may be within a prompt
    found = [_read_item(line, f"line {number} of {source}") for number, line in lines if line.strip()]
    return check_items([_place_below(item, base) for item in found], source)


def check_items(items: Sequence[Item], source: str) -> list[Item]:
    """Return the items if all can run and no two have one id. Raises UsageError."""
    if not items:
        raise UsageError(f"There are no items in {source}.", FORM)
    seen = set[str]()
    for item in items:
        if problem := _find_problem(item):
            raise UsageError(f"Item {item.id!r} of {source}: {problem}", FORM)
        if item.id in seen:
            raise UsageError(f"Two items of {source} have the id {item.id!r}.", "Give each its own.")
        seen.add(item.id)
    return [*items]


def make_id(name: str) -> str:
    """Return an id for what has a name of its own: the name if it is one, else one like it that no other name gets."""
    if _is_id(name):
        return name
    plain = _STRANGE.sub("-", name).strip("-._")[:_LONGEST_PLAIN].rstrip("-._")
    return "-".join(filter(None, (plain, sha256(os.fsencode(name)).hexdigest()[:8])))


def take_shard(items: Sequence[Item], shard: str) -> list[Item]:
    """Return the items of a shard, such as `3/10`: each item is in exactly one of the ten. Raises UsageError."""
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UsageError(f"{shard!r} is no shard.", "Name one as --shard 3/10: the third of ten.")
    return [*items[int(number) - 1 :: int(count)]]


def _read_item(line: str, where: str) -> Item:
    try:
        return _item.decode(line.encode())
    except msgspec.ValidationError as error:
        raise UsageError(f"In {where}: {error}.", FORM) from None
    except msgspec.DecodeError as error:
        raise UsageError(f"In {where} is no JSON object: {error}.", FORM) from None


def _place_below(item: Item, base: Path) -> Item:
    """Return the item with absolute folders; those of another machine stay as they are. Raises UsageError."""
    try:
        return _make_absolute(item, base)
    except RuntimeError as error:  # `~name` of no user
        raise UsageError(f"Item {item.id!r}: {error}", "Spell the folder out.") from None


def _make_absolute(item: Item, base: Path) -> Item:
    is_there = item.place is PlaceKind.SSH
    folder = item.folder if is_there or not item.folder else str(base / Path(item.folder).expanduser())
    files = str(base / Path(item.accept_files).expanduser()) if item.accept_files else ""
    image = str(base / item.image) if item.image.startswith(".") else item.image
    git = str(local) if item.git and (local := base / Path(item.git).expanduser()).is_dir() else item.git
    return replace(item, folder=folder, git=git, accept_files=files, image=image)


def _list_words(item: Item) -> tuple[str, ...]:
    """Return what commands get, and what the queue keeps."""
    places = (item.folder, item.git, item.revision, item.image, item.machine)
    return (*places, item.accept, item.accept_files, item.until, item.model or "")


def _is_id(text: str) -> bool:
    return bool(_ID.fullmatch(text)) and ".." not in text and not text.endswith((".", ".lock"))


def _find_problem(item: Item) -> str:
    """Return why an item cannot run; empty if nothing is wrong with what it says."""
    if not _is_id(item.id):
        return "an id has letters, digits, and single . _ - between them, at most 100, and does not end in .lock."
    checks: Iterable[tuple[bool, str]] = (
        (not item.prompt.strip(), "it has no prompt."),
        (any(map(_UNPASSABLE.search, _list_words(item))), "it has a character that no command can have."),
        (bool(item.folder) and bool(item.git), "it has a folder and a repository; name one of them."),
        (bool(item.revision) and not item.git, "a revision goes with git."),
        (bool(item.git) and item.place not in (None, PlaceKind.CLONE, PlaceKind.CONTAINER), "git makes a clone."),
        (item.place is PlaceKind.CONTAINER and not item.image, "a container needs an image."),
        (item.place is PlaceKind.SSH and not (item.machine and item.folder), "ssh needs a machine and a folder."),
        (item.place is not PlaceKind.SSH and bool(item.machine), "a machine goes with the place ssh."),
        (item.machine.startswith("-") or item.image.startswith("-"), "a machine or image does not begin with -."),
        (item.place in SHARED and bool(item.accept_files), "accept_files need a place of the item's own."),
        (item.place is not PlaceKind.CONTAINER and bool(item.image), "an image goes with the place container."),
        (bool(item.accept_files) and not item.accept, "accept_files go with accept."),
        (item.accept_seconds <= 0, "accept_seconds is above 0."),
    )
    return next((problem for is_wrong, problem in checks if is_wrong), "")
