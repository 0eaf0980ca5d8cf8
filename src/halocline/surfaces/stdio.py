"""Take stdin and stdout for messages of a protocol."""

import asyncio
import os
import stat
import sys


def is_file(descriptor: int) -> bool:
    """True if a descriptor is closed or leads to a file or `/dev/null`, which cannot carry a conversation."""
    try:
        mode = os.fstat(descriptor).st_mode
        return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))
    except OSError:
        return True


async def open_stdio(limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return streams over stdin and stdout; what is printed from now on goes to stderr. `limit`: bytes of a line."""
    loop = asyncio.get_running_loop()
    source, target = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    reader = asyncio.StreamReader(limit=limit, loop=loop)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(source, "rb"))
    pipe, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop), os.fdopen(target, "wb")
    )
    return reader, asyncio.StreamWriter(pipe, protocol, reader, loop)
