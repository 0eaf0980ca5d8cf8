"""An agent like `halo acp` whose tasks forget the names of turns, as those of older versions do. Takes a base URL."""

import asyncio
import sys

from msgspec.structs import replace

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.surfaces.acp.server import serve_stdio


class OldController(Controller):
    def send(self, command: cmd.AnyCommand) -> bool:
        return super().send(replace(command, turn="") if isinstance(command, cmd.SubmitPrompt) else command)


if __name__ == "__main__":
    client = Client(OldController(Assembly.of(Choices(base_url=sys.argv[1]))), "old")
    asyncio.run(serve_stdio(client, TaskOptions(model="openai/x", attended=True)))
