"""Every kind of refusal that a request is repeated for, in every order, and whatever ends them: the replay is the same.

A model plays the outcomes of its requests: a turn has two pictures (one is old), a tool of a server, and a long past.
"""

import asyncio
from itertools import product

import pytest
from msgspec.structs import replace
from tests.journeys.conftest import LONGEST, NO_SERVERS
from tests.journeys.soundness import assert_sound
from tests.samples import choose

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind as Kind
from halocline.protocol.events.mcp import McpServer, McpTool
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import AssistantMessage, Image, StopReason, Text, Usage
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

REFUSALS = {
    "no reason": lambda: ModelError(Kind.INVALID_REQUEST, "Bad Request", status=400),
    "too large": lambda: ModelError(Kind.CONTEXT_EXCEEDED, "Payload too large", status=413),
    "picture": lambda: ModelError(Kind.PICTURE, "Could not process image", status=400),
    "tool": lambda: ModelError(Kind.INVALID_REQUEST, "Invalid schema for function 's__bad'", status=400),
    "too long": lambda: ModelError(Kind.CONTEXT_EXCEEDED, "maximum context length is 9000 tokens", status=400),
    "picture in the stream": lambda: ModelError(Kind.PICTURE, "Could not process image", status=400),
}
ENDS = {
    "success": None,
    "success at once": None,
    "no key": lambda: ModelError(Kind.AUTH, "Invalid key", status=401),
    "another refusal": lambda: ModelError(Kind.INVALID_REQUEST, "temperature is too high", status=400),
    "broken": lambda: ModelError(Kind.NETWORK, "The connection was lost."),
    "broken stream": lambda: ModelError(Kind.NETWORK, "The connection was lost."),
    "cancelled": None,
    "cancelled stream": None,
}
CASES = [(*chain, end) for count in range(choose(3, 2)) for chain in product(REFUSALS, repeat=count) for end in ENDS]
PICTURES = (Image("image/png", "a" * 64), Image("image/png", "b" * 64))
TOOLS = tuple(McpTool(f"s__{name}", "s", name, schema={"type": "object"}) for name in ("good", "bad"))


class Played:
    """Implements the model port: each request has the next outcome; then they are answered."""

    name = "scripted/played"

    def __init__(self, journey):
        self.journey = journey
        self.client = None
        self.outcomes = []

    async def stream(self, request):
        outcome = self.outcomes.pop(0) if self.outcomes else "success"
        if "stream" in outcome:
            yield ev.TextDelta("I begin")
        if outcome.startswith("cancelled"):
            self.client.send(cmd.Interrupt(task=self.journey.task))
            await asyncio.Event().wait()
        if outcome in REFUSALS:  # what comes from elsewhere at that time is no answer
            self.client.send(cmd.Label(task=self.journey.task, name=f"after {outcome}"))
        if made := (REFUSALS | ENDS)[outcome]:
            raise made()
        usage = ev.UsageReported(usage=Usage(input=1, output=1), cost=0.0)
        if outcome == "success":
            yield ev.ToolCallDelta(call="c", name="read_file", arguments="")
        yield usage
        yield ev.AssistantMessageCompleted(message=AssistantMessage((Text("done " * 900),), model=request.model))

    async def close(self):
        pass


class Servers:
    """Implements the port of MCP servers for one task: one server, whose tools are never called."""

    async def collect_changes(self, state):
        return [] if state.mcp.servers else [ev.McpOffered(server=McpServer("s", TOOLS))]

    def begin(self):
        pass

    def allow_sampling(self, sample):
        pass

    async def close(self):
        pass


class PlayedAssembly(Assembly):
    def __init__(self, journey, model):
        super().__init__(journey.home, journey.settings, {})
        self._played = model

    async def model(self, named):
        return self._played

    def parts(self, *args, **more):
        parts = super().parts(*args, **more)
        tools = replace(parts.host.tools, mcp=Servers())
        return replace(parts, host=replace(parts.host, tools=tools))


async def play(journey, outcomes):
    """Play a turn after two others."""
    journey.settings = Settings(
        language_servers=NO_SERVERS, sandbox="off", checkpoints=False, image_models=("scripted/*",)
    )
    model = Played(journey)
    model.client = client = Client(Controller(PlayedAssembly(journey, model)), "test")
    try:
        await journey.open(client, TaskOptions(approval_mode=ApprovalMode.YOLO))
        for at, picture in enumerate((PICTURES[0], None, PICTURES[1])):
            if at == 2:
                model.outcomes = list(outcomes)
            await journey.prompt(client, "look", along=[picture] if picture else ())
    finally:
        await client.close()


@pytest.mark.slow
@pytest.mark.parametrize("outcomes", CASES, ids=", ".join)
async def test_a_replay_repeats_each_refusal_and_ends_as_the_task_did(journey, outcomes):
    await play(journey, outcomes)
    assert_sound(journey.logged)
    replayed = await asyncio.wait_for(journey.replay(), LONGEST)
    assert replayed.differences == ()
    assert replayed.same


@pytest.mark.parametrize("outcomes", [("tool",), ("no reason", "tool"), ("tool", "picture"), ("picture", "too long")])
async def test_refusals_with_a_remedy_end_no_turn_and_no_picture_goes_for_a_tool(journey, outcomes):
    await play(journey, outcomes)
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert len(journey.of(ev.StepStarted)) == len(outcomes) + 1
    assert len(journey.of(ev.McpToolRefused)) == ("tool" in outcomes)
    assert bool(journey.of(ev.PicturesLeftOut)) == (outcomes[-1] == "picture")
