"""An agent like `halo acp` that holds some things back until the file `go` is there: interrupts, images of prompts, and
the start of the task that continues another one's work. It announces the last two by the file `holds`. Takes a URL."""

import asyncio
import sys
from pathlib import Path

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import UserPart
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.surfaces.acp.server import serve_stdio

GO, HOLDS = Path("go"), Path("holds")


class HoldingController(Controller):
    """Keeps the jobs that wait, so that they are not collected."""

    waiting: set[asyncio.Task[None]]

    def send(self, command: cmd.AnyCommand) -> bool:
        if not isinstance(command, cmd.Interrupt) or GO.exists():
            return super().send(command)
        self.waiting.add(asyncio.create_task(self._send_later(command)))
        return True

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        if name:
            await wait_for_go()
        return await super().start(workspace, options, name)

    async def _send_later(self, command: cmd.Interrupt) -> None:
        await wait_for_go()
        super().send(command)


class HoldingClient(Client):
    async def attach(self, task: str, name: str, data: bytes) -> tuple[UserPart, ...]:
        await wait_for_go()
        return await super().attach(task, name, data)


async def wait_for_go() -> None:
    HOLDS.touch()
    while not GO.exists():
        await asyncio.sleep(0.01)


if __name__ == "__main__":
    controller = HoldingController(Assembly.of(Choices(base_url=sys.argv[1])))
    controller.waiting = set()
    asyncio.run(serve_stdio(HoldingClient(controller, "held"), TaskOptions(model="openai/x", attended=True)))
