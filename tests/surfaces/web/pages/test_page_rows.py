"""The page folds events as the other surfaces do."""

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import Screen

from halocline.protocol import codec, events as ev
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import CallStatus, Choice, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult, Usage
from halocline.surfaces.row_kinds import Row
from halocline.surfaces.rows import SHOWN, rows_of
from halocline.task.log import read_log

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LOGS = sorted((Path(__file__).parents[3] / "golden" / "format-1").glob("*.jsonl"))
FOLD = """async (events) => {
  const { fold, transcript, visible } = await import('/static/js/rows.js')
  const t = transcript()
  for (const event of events) fold(t, event)
  return JSON.stringify(visible(t))
}"""


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
async def test_a_log_gives_the_same_rows_in_the_page_as_in_python(log: Path, server, opened):
    await server.start()
    screen = await opened()
    events = list(read_log(log))
    assert await folded(screen, events) == list(rows_of(events))


async def test_the_page_shows_the_events_that_python_shows(server, opened):
    await server.start()
    screen = await opened()
    shown = await screen.page.evaluate("async () => (await import('/static/js/rows.js')).folded()")
    assert set(shown) == {kind.__struct_config__.tag for kind in SHOWN}


async def test_what_is_never_written_gives_the_same_rows_too(server, opened, golden: Path):
    await server.start()
    screen = await opened()
    events: list[ev.Event] = [
        *list(read_log(golden / "repair.jsonl"))[:3],
        ev.ThinkingDelta("Let me "),
        ev.ThinkingDelta("see."),
        ev.TextDelta("One"),
        ev.StepRetried(1, 2.5, "Too many requests.", "", 4),
        ev.TextDelta("Tw"),
        ev.TextDelta("o."),
        ev.TextDelta("Three", apart=True),
        ev.Noticed("A word to the person."),
        ev.LogRepaired(bytes_cut=12),
        ev.LogRepaired(bytes_cut=12, put_aside="log.jsonl.damaged"),
    ]
    assert await folded(screen, events) == list(rows_of(events))


async def test_a_task_of_several_folders_gives_the_same_rows_too(server, opened, golden: Path):
    await server.start()
    screen = await opened()
    started = next(event for event in read_log(golden / "repair.jsonl") if isinstance(event, ev.TaskStarted))
    events: list[ev.Event] = [
        replace(started, roots=("/src/library", "/src/docs")),
        ev.CheckpointTaken("c0ffee", "edit"),
        ev.CheckpointTaken("decade", "edit", root="/src/library"),
        ev.RootsChanged(("/src/docs",)),
        ev.RootsChanged(()),
    ]
    assert await folded(screen, events) == list(rows_of(events))


async def test_sub_agents_that_work_give_the_same_rows_too(server, opened, golden: Path):
    await server.start()
    screen = await opened()
    call = ToolCall("c", "use_subagents")
    events: list[ev.Event] = [
        *list(read_log(golden / "repair.jsonl"))[:2],
        ev.AssistantMessageCompleted(AssistantMessage((call,))),
        ev.ToolCallStarted("c", "use_subagents", "Ask 3", ToolKind.READ, at=1.0),
        SubagentStarted("c", "t1", "one", "Where?", "reviewer", "m/x", ("a remark",), at=1.5),
        SubagentStarted("c", "t2", "two", "What?", model="m/x", at=1.5),
        SubagentStarted("c", "t3", "three", "Why?", at=1.5),
        SubagentProgressed("c", "t1", "Read a.py", 2, 1, 900, 0.5),
        SubagentProgressed("c", "t2", "thinks", 1, 0, 0, None),
        SubagentEnded("c", "t1", "one", LaneEnd.DONE, "In a.py.", "", 3, 2, Usage(input=5, output=3), 0.75, at=9.5),
        SubagentEnded("c", "t3", "three", LaneEnd.FAILED, problem="No such model.", cost=None, at=2.0),
        ev.TurnEnded(StopReason.CANCELLED, at=10.0),
    ]
    assert await folded(screen, events) == list(rows_of(events))


async def folded(screen: Screen, events: Iterable[ev.Event]) -> list[Row]:
    said = await screen.page.evaluate(FOLD, [json.loads(codec.encode(event)) for event in events])
    return msgspec.json.decode(said, type=list[Row])


async def test_failed_and_edited_commands_give_the_same_rows_too(server, opened, golden: Path):
    await server.start()
    screen = await opened()
    events: list[ev.Event] = list(read_log(golden / "repair.jsonl"))[:3]
    statuses = (
        "exit code 0 in 1 s",
        "exit code 3 in 1 s",
        "killed by SIGSEGV after 2 s",
        "stopped: it was still running",
    )
    typed = {"command": "make -k"}
    for number, status in enumerate(statuses):
        call, name, kind = f"c{number}", "execute_command", ToolKind.EXECUTE
        result = ToolResult(call, (Text(f"out\n[{status}; more]"),))
        events += [
            ev.AssistantMessageCompleted(AssistantMessage((ToolCall(call, name, {"command": "make"}),))),
            ev.ApprovalRequested(f"r{number}", call, name, "make", kind, "ask mode", (), "make"),
            ev.ApprovalResolved(f"r{number}", call, Choice.ALLOW_ONCE, "user", arguments=typed, at=1.0),
            ev.ToolCallStarted(call, name, "make -k", kind, at=2.0),
            ev.ToolCallEnded(call, name, CallStatus.COMPLETED, result, at=3.0),
            ev.OwnCommandStarted(run=f"o{number}", command="make", at=4.0),
            ev.OwnCommandEnded(run=f"o{number}", command="make", said=status, exit_code=number, at=5.0),
        ]
    assert await folded(screen, events) == list(rows_of(events))
