"""A browser through whole tasks: judged, shown, replayed without one, closed with the task."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hosts.chromium import needs_chromium
from tests.journeys.conftest import ScriptedAssembly
from tests.journeys.soundness import assert_sound

from halocline.hosts.keeper import _descendants_of
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, Grant, Mode, ToolKind
from halocline.protocol.messages import Image
from halocline.protocol.state.prompt import ModelState
from halocline.protocol.state.state import State
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.settings import Settings

pytestmark = needs_chromium
DONE = Turn(text="done")
PAGE = '<title>Harbour</title><button onclick="document.title = \'Pressed\'" style="width: 800px; height: 500px">Press'
BROWSER = {"browser": True, "checkpoints": False, "image_models": ("scripted/*",)}


@pytest.fixture
def journey(journey):
    """Chromium needs its time where several tests start one at once."""
    journey.longest = 90.0
    return journey


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A page served by another process: our own ports are not opened."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text(PAGE)
    serving = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert serving.stdout is not None
    found = re.search(rb"port (\d+)", serving.stdout.readline())
    assert found is not None
    yield f"http://localhost:{found[1].decode()}/"
    serving.kill()
    serving.wait()
    serving.stdout.close()


def browser(id, **arguments):
    return Call("browser_action", arguments, id=id)


async def test_a_page_is_launched_clicked_and_closed_and_the_log_says_what_is_shown(journey, site):
    await journey.run(
        Turn(calls=(browser("c1", action="launch", url=site),)),
        Turn(calls=(browser("c2", action="click", coordinate="200,200"),)),
        Turn(calls=(browser("c3", action="close"),)),
        DONE,
        **BROWSER,
    )
    assert journey.ends == [("c1", "completed"), ("c2", "completed"), ("c3", "completed")]
    assert "Title: Pressed" in journey.results[1]
    assert [event.url for event in journey.of(ev.PageShown)] == [site, site, ""]
    assert isinstance(journey.of(ev.ToolCallEnded)[0].result.content[-1], Image)
    host = site.split("/")[2]
    assert journey.of(ev.ToolCallStarted)[1].title == f"Click 200,200 on {host}"
    assert_sound(journey.logged)


async def test_the_browser_ends_with_the_task(journey, site):
    before = set(_descendants_of(os.getpid()))
    await journey.run(Turn(calls=(browser("c1", action="launch", url=site),)), DONE, **BROWSER)
    assert journey.ends == [("c1", "completed")]
    assert set(_descendants_of(os.getpid())) <= before


async def test_a_page_on_this_machine_is_asked_for_and_so_is_a_click_on_it(journey, site):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ALWAYS)
        return None

    click = {"action": "click", "coordinate": "200,200"}
    await journey.run(
        Turn(calls=(browser("c1", action="launch", url=site),)),
        Turn(calls=(browser("c2", **click),)),
        Turn(calls=(browser("c3", **click),)),
        DONE,
        options=TaskOptions(approval_mode=ApprovalMode.AUTO, attended=True),
        answer=answer,
        **BROWSER,
    )
    host = site.split("/")[2]
    assert [(asked.call, asked.grant) for asked in journey.of(ev.ApprovalRequested)] == [
        ("c1", Grant(ToolKind.FETCH, host)),
        ("c2", Grant(ToolKind.EXECUTE, f"clicks and typing on {host}")),
    ]
    assert [status for _, status in journey.ends] == ["completed"] * 3


async def test_plan_mode_looks_at_pages_and_does_nothing_on_them(journey, site):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    await journey.run(
        Turn(calls=(browser("c1", action="launch", url=site),)),
        Turn(calls=(browser("c2", action="scroll_down"),)),
        Turn(calls=(browser("c3", action="type", text="x"),)),
        DONE,
        options=TaskOptions(approval_mode=ApprovalMode.ASK, mode=Mode.PLAN, attended=True),
        answer=answer,
        **BROWSER,
    )
    assert journey.ends == [("c1", "completed"), ("c2", "completed"), ("c3", "rejected")]


async def test_acting_before_a_page_is_open_is_answered_without_asking_anybody(journey):
    await journey.run(
        Turn(calls=(browser("c1", action="click", coordinate="1,1"),)),
        DONE,
        options=TaskOptions(approval_mode=ApprovalMode.ASK),
        **BROWSER,
    )
    assert journey.ends == [("c1", "failed")]
    assert "Launch one first" in journey.results[0]


async def test_an_interrupt_ends_the_browser(journey, site):
    before = set(_descendants_of(os.getpid()))

    def answer(event):
        return cmd.Interrupt(task=journey.task) if isinstance(event, ev.ToolCallStarted) else None

    client = journey.client([Turn(calls=(browser("c1", action="launch", url=site),)), DONE], **BROWSER)
    await journey.open(client)
    await journey.prompt(client, answer=answer)
    assert journey.ends == [("c1", "cancelled")]
    await asyncio.sleep(0)
    assert set(_descendants_of(os.getpid())) <= before
    await client.close()


async def test_a_task_that_is_opened_again_is_told_that_its_browser_is_closed(journey, site):
    await journey.run(Turn(calls=(browser("c1", action="launch", url=site),)), DONE, **BROWSER)
    client = journey.client([DONE], **BROWSER)
    await journey.run(client=client, resume=journey.task)
    assert journey.of(ev.PageShown)[-1].url == ""
    assert "The browser is closed." in str(journey.of(ev.JobsReported))


async def test_the_model_is_offered_a_browser_only_when_the_settings_say_so_and_one_is_there(journey):
    gone = {"browser": True, "browser_executable": "/no"}
    assert [offered(journey, **settings) for settings in ({}, {"browser": True}, gone)] == [False, True, False]


def offered(journey, **settings):
    tools = ScriptedAssembly(journey.home, Settings(**settings), [DONE], {}).tools()
    return "browser_action" in {spec.name for spec in tools.specs(State(model=ModelState(name="scripted/x")))}
