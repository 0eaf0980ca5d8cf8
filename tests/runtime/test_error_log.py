import stat
import subprocess
import sys

import msgspec
import pytest
from tests.journeys.conftest import ScriptedAssembly

from halocline.client.tasks import Client
from halocline.ports.tool import Summary, Tool, ToolOutput, ToolSpec
from halocline.protocol.kinds import ApprovalMode, ToolKind
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.runtime.error_log import FILE_NAME
from halocline.store.settings.settings import Settings
from halocline.tools.toolset import Tools

pytestmark = pytest.mark.process

CALL = Turn(calls=(Call("juggle", {"balls": 3}),))


class Input(msgspec.Struct):
    balls: int


def summary(input):
    return Summary(title="Juggle", kind=ToolKind.EDIT, paths=("balls.txt",))


async def run(input, ctx):
    return ToolOutput.of("done")


async def broken(*arguments):
    raise ZeroDivisionError("a ball is missing")


def broken_summary(input):
    raise ZeroDivisionError("a ball is missing")


def juggle(summary=summary, run=run, preview=None):
    spec = ToolSpec("juggle", "Juggles.", {"type": "object"})
    return Tool(spec, ToolKind.EDIT, Input, summary, run, edits=True, preview=preview)


SOUND = juggle()
BROKEN = {"run": juggle(run=broken), "summary": juggle(summary=broken_summary)}


class OneToolAssembly(ScriptedAssembly):
    """Tasks with one tool only."""

    def __init__(self, home, turns, tool):
        super().__init__(home, Settings(), turns, {})
        self._tool = tool

    def tools(self):
        return Tools([self._tool])


def client_with(journey, tool, *turns):
    return Client(Controller(OneToolAssembly(journey.home, turns, tool)), "test")


@pytest.mark.parametrize("where", BROKEN)
async def test_a_bug_in_a_tool_is_one_plain_line_for_the_model_and_the_turn_goes_on(journey, where):
    told = Turn(
        text="ok", expect="The tool juggle crashed (ZeroDivisionError: a ball is missing).", unexpected="Traceback"
    )
    await journey.run(client=client_with(journey, BROKEN[where], CALL, told))
    assert [status for _, status in journey.ends] == ["failed"]
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_a_bug_in_a_tool_s_preview_is_answered_in_the_same_way(journey):
    client = client_with(journey, juggle(preview=broken), CALL, Turn(text="ok", expect="crashed"))
    await journey.run(client=client, options=TaskOptions(approval_mode=ApprovalMode.ASK, attended=True))
    assert journey.state.last_end.reason is StopReason.END_TURN


@pytest.mark.parametrize("where", BROKEN)
async def test_the_trace_of_a_bug_goes_to_the_program_s_log_and_not_to_the_terminal(journey, where, capfd):
    await journey.run(client=client_with(journey, BROKEN[where], CALL, Turn(text="ok")))
    text = (journey.home.logs / FILE_NAME).read_text()
    assert "the tool juggle crashed on {'balls': 3}" in text
    assert "Traceback" in text
    assert "ZeroDivisionError: a ball is missing" in text
    assert capfd.readouterr().err == ""


async def test_the_program_s_log_is_private(journey):
    await journey.run(client=client_with(journey, BROKEN["run"], CALL, Turn(text="ok")))
    assert stat.S_IMODE(journey.home.logs.stat().st_mode) == 0o700


async def test_without_a_bug_there_is_no_log_of_the_program(journey):
    await journey.run(client=client_with(journey, SOUND, CALL, Turn(text="ok")))
    assert not journey.home.logs.exists()


async def test_a_log_that_cannot_be_written_does_not_hurt_the_task(journey):
    journey.home.logs.write_text("in the way")
    await journey.run(client=client_with(journey, BROKEN["run"], CALL, Turn(text="ok")))
    assert journey.state.last_end.reason is StopReason.END_TURN


FULL = """
import resource, signal, sys
from pathlib import Path
from halocline.runtime.error_log import FILE_NAME, LOGGER, ProgramLog

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
log = ProgramLog(Path(sys.argv[1]))
log.attach()
for _ in range(5):
    LOGGER.error("something broke with %s", "words of the person's " * 50)
log.close()
print((Path(sys.argv[1]) / FILE_NAME).stat().st_size)
"""


def test_a_disk_that_takes_no_more_brings_no_trace_to_the_terminal(tmp_path):
    words = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "200\n", "")


async def test_each_home_gets_only_its_own_bugs(journey, tmp_path):
    (tmp_path / "other").mkdir()
    await journey.run(client=client_with(journey, SOUND, CALL, Turn(text="ok")))
    other = type(journey)(tmp_path / "other")
    await other.run(client=client_with(other, BROKEN["run"], CALL, Turn(text="ok")))
    assert (other.home.logs / FILE_NAME).exists()
    assert not journey.home.logs.exists()


@pytest.mark.parametrize("tool", ["read_file", "write_to_file", "replace_in_file", "list_files", "search_files"])
async def test_a_path_with_a_nul_character_is_refused_in_words(journey, tool):
    arguments = {"path": "a\0b", "content": "x", "diff": "x", "regex": "x"}
    await journey.run(Turn(calls=(Call(tool, arguments),)), Turn(text="ok", expect="NUL"))
    assert [status for _, status in journey.ends] == ["failed"]
    assert not journey.home.logs.exists()
