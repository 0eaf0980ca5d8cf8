import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from halocline.controller.assembly import Assembly
from halocline.controller.client import Client
from halocline.controller.controller import Controller, TaskOptions
from halocline.ports.model import Model
from halocline.protocol import commands as cmd
from halocline.protocol import events as ev
from halocline.protocol.messages import Text
from halocline.protocol.state import State
from halocline.providers.retry import Retrying
from halocline.providers.scripted import Scripted, Turn
from halocline.store.paths import Home
from halocline.store.settings import Settings

Answer = Callable[[ev.Event], cmd.AnyCommand | None]


class ScriptedAssembly(Assembly):
    def __init__(self, home: Home, settings: Settings, turns: Sequence[Turn]) -> None:
        super().__init__(home, settings, {})
        self._script = Scripted(turns)

    async def model(self, named: str) -> Model:
        return Retrying(self._script, sleep=_no_wait)


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


class Journey:
    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "project"
        self.workspace.mkdir()
        self.home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
        self.events: list[ev.Event] = []
        self.state = State()
        self.task = ""

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def client(self, turns: Sequence[Turn], **settings: object) -> Client:
        return Client(Controller(ScriptedAssembly(self.home, Settings(**settings), turns)), "test")

    async def run(
        self,
        *turns: Turn,
        prompt: str = "go",
        options: TaskOptions | None = None,
        answer: Answer | None = None,
        client: Client | None = None,
        resume: str = "",
        **settings: object,
    ) -> "Journey":
        client = client or self.client(turns, **settings)
        options = options or TaskOptions(approval_mode=ev.ApprovalMode.YOLO, attended=answer is not None)
        try:
            self.task = await (client.resume(resume, options) if resume else client.start(self.workspace, options))
            client.send(cmd.SubmitPrompt(task=self.task, content=(Text(prompt),)))
            async for event in client.events(self.task):
                self.events.append(event)
                if answer and (command := answer(event)):
                    client.send(command)
                if isinstance(event, ev.TurnEnded) and event.seq >= client.state(self.task).seq:
                    break
            self.state = client.state(self.task)
        finally:
            await client.close()
        return self

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events if isinstance(event, ev.Durable)]

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def ends(self) -> list[tuple[str, str]]:
        return [(event.call, event.status.value) for event in self.of(ev.ToolCallEnded)]

    @property
    def results(self) -> list[str]:
        return [event.result.text for event in self.of(ev.ToolCallEnded)]


@pytest.fixture
def journey(tmp_path):
    return Journey(tmp_path)
