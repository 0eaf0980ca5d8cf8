"""kill -9 of a process with an agent that writes: its tree is resumed, and nothing is lost or done twice."""

import asyncio
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.journeys.conftest import NO_SERVERS
from tests.journeys.soundness import assert_sound
from tests.journeys.test_crashes import halo, lines_of
from tests.journeys.test_subagents import log_of
from tests.journeys.test_writing_agents import LINES, git, make_repository

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.state.reducer import fold_events
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.store.settings.settings import Settings

pytestmark = [pytest.mark.process, pytest.mark.slow]
PARENT = """
[[turn]]
[[turn.call]]
tool = "spawn_agent"
arguments = {{ name = "alpha", prompt = "write", writes = true, model = "scripted/{child}", background = {background} }}
[[turn]]
[[turn.call]]
tool = "merge_agent_changes"
arguments = {{ agent = "alpha", paths = ["a.txt"] }}
[[turn]]
text = "Merged."
[[turn]]
text = "Once more."
"""
CHILD = """
[[turn]]
delay = 0.02
[[turn.call]]
tool = "replace_in_file"
arguments = { path = "a.txt", old_text = "line 1\\n", new_text = "one\\n" }
[[turn]]
delay = 0.02
[[turn.call]]
tool = "execute_command"
arguments = { command = "echo x >> b.txt" }
[[turn]]
delay = 0.02
[[turn.call]]
tool = "execute_command"
arguments = { command = "echo y >> b.txt" }
[[turn]]
[[turn.call]]
tool = "attempt_completion"
arguments = { result = "I wrote it." }
"""
POINTS = (
    *((0, pause) for pause in (0.0, 0.001, 0.002, 0.004)),
    *((count, 0.0) for count in (6, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 25, 28, 31, 34, 37, 40, 43)),
)
"""Events in all logs together, and seconds after them, at which the process is killed; 0: git makes the worktree."""


class Continued(Assembly):
    """Models that go on where their tasks are: the parent continues the agent and takes its work, the agent reports."""

    def __init__(self, home, folder: Path) -> None:
        super().__init__(home, Settings(language_servers=NO_SERVERS, sandbox="off", subagents="on"), {})
        self._is_parent = True

    async def model(self, named):
        self._is_parent, is_parent = False, self._is_parent
        return Next(is_parent)


class Next(Scripted):
    """Plays its turns after those that the conversation has."""

    def __init__(self, is_parent: bool) -> None:
        calls = (
            Call("spawn_agent", {"name": "alpha", "prompt": "Report what you have.", "writes": True}),
            Call("merge_agent_changes", {"agent": "alpha", "paths": ["a.txt"]}),
        )
        done = Call("attempt_completion", {"result": "Here it is."})
        self._next = [Turn(calls=(call,)) for call in (calls if is_parent else (done,))] + [Turn(text="Done.")] * 3
        super().__init__((), "scripted/next")

    async def stream(self, request):
        said = sum(isinstance(message, AssistantMessage) for message in request.messages)
        player = Scripted((*[Turn()] * said, self._next.pop(0)), self.name)
        async for event in player.stream(request):
            yield event


def kill_at(journey, script, count: int, pause: float) -> None:
    process = halo(journey, script, "go", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    made = journey.workspace / ".git" / "worktrees"
    while process.poll() is None and time.monotonic() < deadline:
        if (count and len(lines_of(journey)) >= count) or (not count and made.exists()):
            break
        time.sleep(0.001)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.wait()


def find_parent(journey) -> str:
    names = [path.name for path in journey.home.tasks.iterdir() if (path / "events.jsonl").exists()]
    started = {name: log_of(journey, name)[0] for name in names if log_of(journey, name)}
    return next(name for name, event in started.items() if isinstance(event, ev.TaskStarted) and not event.subtask)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(("count", "pause"), POINTS)
async def test_a_killed_tree_is_resumed_and_nothing_is_lost_or_done_twice(journey, tmp_path, count, pause, background):
    make_repository(journey)
    journey.write("mine.txt", "not committed\n")
    (journey.home.root).mkdir(parents=True, exist_ok=True)
    (journey.home.root / "settings.toml").write_text('subagents = "on"\nsandbox = "off"\n')
    (child := tmp_path / "child.toml").write_text(CHILD)
    (script := tmp_path / "parent.toml").write_text(PARENT.format(child=child, background=str(background).lower()))
    await asyncio.to_thread(kill_at, journey, script, count, pause)
    journey.task = find_parent(journey)
    before = {name.name: (name / "events.jsonl").read_bytes() for name in journey.home.tasks.iterdir() if name.is_dir()}
    client = Client(Controller(Continued(journey.home, tmp_path)), "test")
    await journey.run(client=client, resume=journey.task, prompt="Go on.")
    for name, data in before.items():
        whole = data[: data.rfind(b"\n") + 1]
        assert (journey.home.tasks / name / "events.jsonl").read_bytes().startswith(whole)
    assert_sound(journey.logged)
    began = [event for event in journey.logged if isinstance(event, SubagentStarted)]
    ended = [event for event in journey.logged if isinstance(event, SubagentEnded)]
    assert len(began) == len(ended) >= 1
    assert len({one.child for one in began}) == 1
    assert_child(journey, began[0].child, began[0].worktree)
    assert git(journey, "fsck", "--strict") == ""
    assert (journey.workspace / "mine.txt").read_text() == "not committed\n"
    assert (journey.workspace / "b.txt").read_text() == LINES


def assert_child(journey, child: str, worktree: str) -> None:
    """The files of the worktree are what the log says; what completed happened once, what was cut at most once."""
    events = log_of(journey, child)
    assert_sound(events)
    folder = journey.workspace.parent / "project-worktrees" / worktree
    calls = {
        call.id: call
        for event in events
        if isinstance(event, ev.AssistantMessageCompleted)
        for call in event.message.tool_calls
    }
    ends = [event for event in events if isinstance(event, ev.ToolCallEnded)]
    main = (journey.workspace / "a.txt").read_text()
    if not folder.exists():  # nothing was changed there
        assert main == LINES
        assert not any(
            end.name in ("replace_in_file", "execute_command") and end.result.is_error is False for end in ends
        )
        return
    text = (folder / "b.txt").read_text().removeprefix(LINES)
    for letter in "xy":
        ran = [end.status for end in ends if f"echo {letter}" in str(calls[end.call].arguments)]
        assert ran.count(CallStatus.COMPLETED) <= text.count(letter) <= len(ran) <= 1
    edited = any(isinstance(event, ev.FileChanged) for event in events)
    assert (folder / "a.txt").read_text().startswith("one\n") or not edited
    assert main == (folder / "a.txt").read_text()
    assert not fold_events(events).turn
