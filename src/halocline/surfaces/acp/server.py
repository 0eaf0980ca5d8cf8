"""Serves ACP over stdin and stdout. Only messages of the protocol go to stdout, whoever else prints."""

import asyncio
import logging
import os
import sys

from acp.agent.connection import AgentSideConnection

from halocline.client import Client, TaskOptions
from halocline.surfaces.acp.agent import HaloAgent
from halocline.surfaces.acp.transport import LONGEST_LINE, LineTransport


class _ToProgramLog(logging.Handler):
    """Hands the SDK's records to the program's own log."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "root":
            logging.getLogger("halocline").handle(record)


async def serve_stdio(client: Client, opening: TaskOptions) -> None:
    """Serve one client until it closes our stdin, then end its sessions."""
    logging.getLogger().addHandler(_ToProgramLog())  # the SDK logs there, and Python would print it
    transport = await _open_transport()
    agent = HaloAgent(client, opening)
    connection = AgentSideConnection(agent, transport, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await agent.close()
        await connection.close()


async def _open_transport() -> LineTransport:
    """Take stdin and stdout for messages; what is printed from now on goes to stderr."""
    loop = asyncio.get_running_loop()
    source, target = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    reader = asyncio.StreamReader(limit=LONGEST_LINE, loop=loop)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(source, "rb"))
    pipe, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop), os.fdopen(target, "wb")
    )
    return LineTransport(reader, asyncio.StreamWriter(pipe, protocol, reader, loop))
