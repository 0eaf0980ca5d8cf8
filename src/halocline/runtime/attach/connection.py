"""Connections to the socket of a task that another process runs, and the lines on them."""

import asyncio
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.protocol import commands as cmd, ipc, json_input
from halocline.protocol.errors import TaskBusy
from halocline.protocol.waiting import wait_at_most
from halocline.runtime.attach.owner_socket import FAREWELL, LONGEST_LINE, open_address
from halocline.task import lock

PATIENCE = 5.0
"""Seconds to wait for a writer to open its socket or release its lock: it may be starting or ending."""
PAUSE = 0.02
"""Seconds between two tries."""

_frame = json_input.Decoder(ipc.Frame)
_encode = msgspec.json.Encoder().encode


def encode_line(message: ipc.Introduction | cmd.AnyCommand) -> bytes:
    """Return a message to the writer as a line."""
    return _encode(message) + b"\n"


def read_frame(line: bytes) -> ipc.Frame:
    """Return a message from the writer. Raises msgspec.DecodeError."""
    frame: ipc.Frame = _frame.decode(line)
    return frame


async def open_connection(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the socket in a task's folder. Raises OSError."""
    with open_address(folder) as name:
        return await asyncio.open_unix_connection(name, limit=LONGEST_LINE)


async def close_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait for it; pending data is sent first, unless the other end does not read."""
    writer.close()
    with suppress(OSError):
        if not await wait_at_most(FAREWELL, writer.wait_closed()):
            writer.transport.abort()


async def deliver_command(folder: Path, command: cmd.AnyCommand, client: str) -> bool:
    """Have a task's writer run one command, and wait until it has.

    Returns False if the writer does not answer: it is gone, or has no socket yet. Raises TaskBusy if it refuses.
    """
    with suppress(OSError, ValueError, msgspec.DecodeError):
        reader, writer = await open_connection(folder)
        try:
            writer.write(encode_line(ipc.Introduction(client)) + encode_line(command))
            while line := await reader.readline():
                if isinstance(answer := read_frame(line), ipc.Answered):
                    if answer.refused:
                        raise describe_busy(folder, f"refused: {answer.refused}")
                    return True
        finally:
            await close_connection(writer)
    return False


def describe_busy(folder: Path, why: str = "accepts no connection.") -> TaskBusy:
    """Return the error for a task that another process has open."""
    pid = (lock.read_owner(folder) or "unknown").split()[0]
    return TaskBusy(f"Task {folder.name} is open in another process (pid {pid}), which {why}", "Close it there.")
