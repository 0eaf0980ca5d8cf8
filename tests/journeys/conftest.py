import asyncio
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.samples import SAMPLED

from halocline.client.tasks import Client
from halocline.ports.model import Model
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.state.state import State
from halocline.providers.scripted.model import Scripted, Turn
from halocline.providers.wrappers.retry import Retrying
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.services.replay.replay import Replay, run_replay
from halocline.store.paths import Home
from halocline.store.settings.sections import LanguageServerSettings, McpSettings
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import Recording
from halocline.task.log import read_log

Answer = Callable[[ev.Event], cmd.AnyCommand | None]
YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO)
LONGEST = 20.0
NO_SERVERS = LanguageServerSettings(enabled=False)
"""What is installed on the machine must not decide what a journey is like."""


class ScriptedAssembly(Assembly):
    def __init__(
        self, home: Home, settings: Settings, turns: Sequence[Turn], env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(home, settings, env or {})
        self._script = Scripted(turns)

    async def model(self, named: str) -> Model:
        return Retrying(self._script, sleep=_no_wait)


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


class Journey:
    """A task in a folder of its own. `events` are those of the latest `run` or `prompt`."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "project"
        self.workspace.mkdir()
        self.home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
        self.events: list[ev.Event] = []
        self.state = State()
        self.task = ""
        self.settings = Settings(sandbox="off")
        self.longest = LONGEST
        self.env: dict[str, str] = {}

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def client(self, turns: Sequence[Turn], **settings: object) -> Client:
        usual = {"language_servers": NO_SERVERS, "sandbox": "off", "mcp": McpSettings(wait=20.0)}
        self.settings = Settings(**{**usual, **settings})
        return Client(Controller(ScriptedAssembly(self.home, self.settings, turns, self.env)), "test")

    async def run(
        self,
        *turns: Turn,
        prompt: str = "go",
        options: TaskOptions | None = None,
        answer: Answer | None = None,
        client: Client | None = None,
        resume: str = "",
        schema: dict | None = None,
        along: Sequence[UserPart] = (),
        **settings: object,
    ) -> "Journey":
        """Open a task, play one prompt to the end of its turn, and close everything."""
        client = client or self.client(turns, **settings)
        options = options or TaskOptions(approval_mode=ApprovalMode.YOLO, attended=answer is not None)
        try:
            await self.open(client, options, resume)
            await self.prompt(client, prompt, answer, after=0, schema=schema, along=along)
        finally:
            await client.close()
        return self

    async def open(self, client: Client, options: TaskOptions = YOLO, resume: str = "") -> None:
        self.task = await (client.resume(resume, options) if resume else client.start(self.workspace, options))

    async def prompt(
        self,
        client: Client,
        prompt: str = "go",
        answer: Answer | None = None,
        after: int | None = None,
        schema: dict | None = None,
        along: Sequence[UserPart] = (),
    ) -> None:
        """Send a prompt and take in the events after `after` (None: from the prompt on) until its turn has ended."""
        sent = client.state(self.task).seq
        self.events = []
        client.send(
            cmd.SubmitPrompt(
                task=self.task, content=(*([Text(prompt)] if prompt else []), *along), output_schema=schema
            )
        )
        async with asyncio.timeout(self.longest):
            async for event in client.events(self.task, sent if after is None else after):
                self.events.append(event)
                if answer and (command := answer(event)):
                    client.send(command)
                if isinstance(event, ev.TurnEnded) and event.seq > sent:
                    break
        self.state = client.state(self.task)

    async def replay(self) -> Replay:
        recording = Recording(tuple(read_log(self.home.log(self.task))))
        return await run_replay(recording, Assembly(self.home, self.settings, {}), strict=True)

    @property
    def logged(self) -> list[ev.DurableEvent]:
        """The whole log, from disk."""
        return list(read_log(self.home.log(self.task)))

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
        """What the calls gave, in the order of the calls: those that only read run beside each other."""
        texts = defaultdict[str, list[str]](list)
        for end in self.of(ev.ToolCallEnded):
            texts[end.call].append(end.result.text)
        calls = [call.id for reply in self.of(ev.AssistantMessageCompleted) for call in reply.message.tool_calls]
        in_order = [texts[call].pop(0) for call in calls if texts[call]]
        return in_order + [text for left in texts.values() for text in left]


@pytest.fixture
async def journey(tmp_path, request):
    """A journey. Whatever a test did with its task, a replay of the log afterwards gives the same events.

    Of a sample one journey in four is replayed, always the same ones.
    """
    journey = Journey(tmp_path)
    yield journey
    if SAMPLED and zlib.crc32(request.node.nodeid.encode()) % 4:
        return
    if journey.task and journey.home.log(journey.task).exists():
        async with asyncio.timeout(LONGEST):  # a replay that waits for ever is one that has come apart
            assert (await journey.replay()).differences == ()
