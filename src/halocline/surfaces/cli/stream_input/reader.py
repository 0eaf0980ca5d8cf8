"""Reads standard input line by line without blocking: a pipe, a terminal or a file."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator

from halocline.surfaces.cli.stream_input.lines import LONGEST_LINE

PIPES = (stat.S_ISFIFO, stat.S_ISSOCK)


async def read_lines(descriptor: int = 0) -> AsyncIterator[bytes]:
    """Yield each line that is not blank; one that is too long as its first bytes, which are no JSON."""
    try:
        reader = await _open_reader(descriptor)
    except OSError:  # it is closed
        return
    is_whole = True
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            line = (await reader.readexactly(error.consumed))[:20]
            if is_whole:
                yield line
            is_whole = False
            continue
        except asyncio.IncompleteReadError as error:
            if error.partial.strip() and is_whole:
                yield error.partial
            return
        if line.strip() and is_whole:
            yield line
        is_whole = True


async def _open_reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    source = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    mode = os.fstat(descriptor).st_mode
    if os.isatty(descriptor) or any(is_kind(mode) for is_kind in PIPES):
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
        return reader
    with source:  # a file, which event loops cannot watch
        reader.feed_data(await asyncio.to_thread(source.read))
    reader.feed_eof()
    return reader
