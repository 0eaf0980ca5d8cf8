"""Serves ACP over stdin and stdout. Only messages of the protocol go to stdout, even if something else prints."""

import logging

from acp.agent.connection import AgentSideConnection

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.surfaces.acp.agent import HaloAgent
from halocline.surfaces.acp.servers import find_left_out
from halocline.surfaces.json_lines import LONGEST_LINE, LineTransport
from halocline.surfaces.stdio import open_stdio


class ToProgramLog(logging.Handler):
    """Hands the SDK's records to the program's own log, if it is open."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "root":
            for handler in logging.getLogger("halocline").handlers:  # the logger itself would send them back here
                handler.handle(record)


async def serve_stdio(client: Client, opening: TaskOptions) -> None:
    """Serve one client until it closes our stdin, then end its sessions."""
    logging.getLogger().addHandler(ToProgramLog())  # the SDK logs there, and Python would print it
    transport = LineTransport(*await open_stdio(LONGEST_LINE), find_left_out)
    agent = HaloAgent(client, opening)
    connection = AgentSideConnection(agent, transport, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await agent.close()
        await connection.close()
