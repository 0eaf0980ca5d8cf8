"""Cache of what servers offered when they last ran, so that a task knows their tools without starting them.

An entry belongs to exactly one configuration: a different command, program file or variable makes a different entry.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.files.regular import read_regular
from halocline.mcp.variables import Filled
from halocline.ports.mcp import McpPrompt
from halocline.protocol import json_input
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.private_files import make_private_folder, open_private
from halocline.protocol.values import Value

FRESH = 86_400.0
"""Seconds until an entry is stale; the server is then started in the background to refresh it."""
SLOW = 3_600.0
"""Seconds for which no task waits for a server that an earlier task waited for in vain."""
_FORMAT = 2
_MOST = 100
"""Entries kept."""


class Offer(Value, frozen=True):
    """A server's offer. `at` is when it was listed, in Unix seconds; `left_out` names what of it is not valid MCP."""

    tools: tuple[McpTool, ...] = ()
    prompts: tuple[McpPrompt, ...] = ()
    resources: bool = False
    instructions: str = ""
    version: str = ""
    at: float = 0.0
    left_out: tuple[str, ...] = ()


class Offers:
    """The cache of one home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Offer | None:
        try:
            return json_input.decode(read_regular(self._folder / f"{key}.json"), type=Offer)
        except (OSError, msgspec.DecodeError):
            return None

    def put(self, key: str, offer: Offer) -> None:
        """Store an offer. Write errors are ignored: they only make the next start slower."""
        with suppress(OSError):
            make_private_folder(self._folder)
            temporary = self._folder / f".{key}-{os.urandom(6).hex()}"
            with open(temporary, "wb", opener=open_private) as file:
                file.write(msgspec.json.encode(offer))
            temporary.replace(self._folder / f"{key}.json")
            (self._folder / f"{key}.slow").unlink(missing_ok=True)
            self._forget_the_oldest()

    def is_slow(self, key: str) -> bool:
        """True if a task recently waited for it in vain."""
        with suppress(OSError):
            return 0 <= time.time() - (self._folder / f"{key}.slow").stat().st_mtime < SLOW
        return False

    def note_slow(self, key: str) -> None:
        """Record that a task waited in vain: no other waits until the server has been ready once."""
        with suppress(OSError):
            make_private_folder(self._folder)
            (self._folder / f"{key}.slow").touch(mode=0o600)

    def _forget_the_oldest(self) -> None:
        files = sorted(self._folder.glob("*.*"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[_MOST:]:
            file.unlink(missing_ok=True)


def is_fresh(offer: Offer) -> bool:
    return 0 <= time.time() - offer.at < FRESH


def key_of(name: str, transport: str, filled: Filled, environment: Mapping[str, str], workspace: Path) -> str:
    """Hash how a server is run or reached. Values of variables go into the hash and are never written."""
    declared = sorted((key, value.reveal()) for key, value in (*filled.env.items(), *filled.headers.items()))
    place = filled.cwd or (str(workspace) if transport == "stdio" else "")
    facts = (_FORMAT, name, transport, filled.command, filled.args, filled.url, declared, place)
    program = shutil.which(filled.command, path=environment.get("PATH")) if filled.command else None
    files = [program, *(os.path.join(place, arg) for arg in filled.args)] if program else []
    stamps = [stamp for file in files if file and (stamp := _file_stamp(file))]
    return hashlib.sha256(repr((facts, program, stamps)).encode(errors="surrogateescape")).hexdigest()[:40]


def _file_stamp(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size) if os.path.isfile(file) else None
