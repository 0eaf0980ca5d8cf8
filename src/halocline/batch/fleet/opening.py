"""Opens the fleet of a batch: what its hosts need of this machine goes to them here, and nothing else does."""

import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.batch.fleet import messages
from halocline.batch.fleet.fleet import Fleet
from halocline.batch.fleet.movable import check_movable, mark_paths
from halocline.batch.fleet.ray_nodes import RayNodes, check_cluster as check_cluster
from halocline.batch.items import Item
from halocline.batch.purse import Purse
from halocline.batch.queue import Queue
from halocline.batch.work import Manner
from halocline.client.tasks import Client
from halocline.files.durable import write_whole
from halocline.protocol.errors import UsageError

_PART = 2.5
"""A host interrupts its attempts after this part of the time in which the driver gives it up.

Orders that come late are void after that part of the time, so it has stopped twice that part after the last orders were
sent; what is left is for commands to end."""


_NUMBERED = re.compile(r"(.+)\.\d+")


def check_fleet(items: Sequence[Item], manner: Manner) -> None:
    """Raise UsageError for what no node can do, before anything runs."""
    check_movable(items)
    ids = {item.id for item in items}
    if taken := next((id for id in ids if (found := _NUMBERED.fullmatch(id)) and found[1] in ids), ""):
        raise UsageError(f"The id {taken!r} is what a second attempt at another item is called.", "Rename it.")
    if manner.choices.api_key:
        raise UsageError("No key goes to nodes.", "Set it in the environment of the nodes, such as OPENAI_API_KEY.")
    if manner.options.attended:
        raise UsageError("--ask needs tasks on this machine.", "Say with rules or -y what may run without approval.")


async def open_fleet(
    address: str,
    queue: Queue,
    items: Sequence[Item],
    manner: Manner,
    client: Client,
    purse: Purse,
    *,
    nodes: int | None,
    patience: float,
    at_once: int,
    note: Callable[[str], None],
) -> Fleet:
    """Return a fleet with the hosts of the Ray cluster at an address. Raises UsageError."""
    home = client.home
    terms = messages.Terms(
        queue.folder.name,
        _name_key(queue.folder),
        manner,
        patience / _PART,
        _read(home.settings),
        _read(home.policy),
        mark_paths(items),
    )
    fleet = Fleet(queue, RayNodes(address, messages.encode(terms), nodes), client, purse, patience, at_once, note)
    await fleet.open()
    return fleet


def _name_key(folder: Path) -> str:
    """Return what tells this batch from all others, also from one of its name that was deleted before it."""
    note = folder / "fleet"
    if not note.exists():
        write_whole(note, secrets.token_hex(6).encode())
    return note.read_text()


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
