"""A whole task that is killed around its edits: going back to before a call brings back what the person had."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.crashes.faults import Fault, FaultTime, Points
from tests.crashes.rider import SETTINGS

from halocline.client.tasks import Client
from halocline.ports.model import Model
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.paths import Home

FIRST, SECOND = "the person's\n", "the person's, once more\n"
TURNS = (
    Turn(
        calls=(
            Call("write_to_file", {"path": "a.txt", "content": "the task's\n"}, id="a"),
            Call("write_to_file", {"path": "new.txt", "content": "the task's\n"}, id="new"),
        )
    ),
    Turn(text="Done."),
    Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": "the task's again\n"}, id="again"),)),
    Turn(text="Done again."),
)
BEFORE = {"a": ("a.txt", FIRST), "new": ("new.txt", None), "again": ("a.txt", SECOND)}
"""What each call changes, and what the person had there."""
STEP = 9
"""The usual run tries every ninth point; `make crash-matrix` tries all."""


class Scene(Assembly):
    async def model(self, named: str) -> Model:
        return Scripted(TURNS, "scripted/edits")


class Story:
    """A task that edits, a person who changes a file between its turns, and a death."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "project"
        self.workspace.mkdir(parents=True)
        (self.workspace / "a.txt").write_text(FIRST)
        self._folder = folder

    def client(self) -> Client:
        home = Home.of({"HALOCLINE_HOME": str(self._folder / "home")})
        return Client(Controller(Scene(home, SETTINGS, {})), "person")

    def points(self) -> int:
        assert self.lived(Fault()) == 0
        return int((self._folder / "points").read_text())

    def lived(self, fault: Fault) -> int:
        """How the child ended that told the story."""
        if child := os.fork():
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        code = 1
        try:
            asyncio.run(self._live(fault))
            code = 0
        finally:
            os._exit(code)

    async def _live(self, fault: Fault) -> None:
        client, points = self.client(), Points(fault)
        points.install()
        task = await client.start(self.workspace, TaskOptions(approval_mode=ApprovalMode.YOLO))
        for text in (None, SECOND):
            if text:
                (self.workspace / "a.txt").write_text(text)
            sent = client.state(task).seq
            client.send(cmd.SubmitPrompt(task=task, content=(Text("go @a.txt"),)))
            async for event in client.events(task, sent):
                if isinstance(event, ev.TurnEnded):
                    break
        (self._folder / "points").write_text(str(points.count))
        await client.close()

    async def went_back(self) -> tuple[str, str | None] | None:
        """Open the task again and go back to before its last call. Gives the call and what its file holds then."""
        client = self.client()
        try:
            if not client.tasks.search():
                return None
            task = await client.resume(client.tasks.search()[0].task, TaskOptions())
            await asyncio.sleep(0.1)  # until the task runs, it asks for no checkpoint to wait for
            events = client.past(task)
            started = [event for event in events if isinstance(event, ev.ToolCallStarted)]
            if not started:
                return None
            place = self.workspace / BEFORE[started[-1].call][0]
            await client.time.go_back(cmd.GoBack(task=task, to=started[-1].seq - 1, conversation=False))
            return started[-1].call, place.read_text() if place.exists() else None
        finally:
            await client.close()


@pytest.mark.slow
@pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.long, id="all")])
def test_going_back_to_before_an_edit_that_was_cut_short_brings_back_what_the_person_had(
    tmp_path: Path, step: int
) -> None:
    points = Story(tmp_path / "whole").points()
    reached = set()
    for at in range(1, points + 1, step):
        story = Story(tmp_path / str(at))
        story.lived(Fault(at, FaultTime.AFTER if at % 2 else FaultTime.BEFORE))
        if back := asyncio.run(story.went_back()):
            call, held = back
            reached.add(call)
            assert held == BEFORE[call][1], f"killed at point {at} of {points}, in {call}"
    assert reached == {*BEFORE}
