import asyncio
import re
from pathlib import Path

import pytest
from tests.tools.contexts import change_context

from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.hosts.shell.shell import LocalShell
from halocline.ports.host import ShellResult
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.events import JobStarted, ShellMoved
from halocline.protocol.kinds import SandboxStanding
from halocline.tools import execute_command

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo hi", r"hi\n\[exit code 0 in \d+\.\d s\]"),
        ("true", r"\[no output\]\n\[exit code 0 in .*\]"),
        ("echo bad; exit 3", r"bad\n\[exit code 3 in .*\]"),
        ("no-such-program", r"(?s).*not found\n\[exit code 127 \(command not found\) in .*\]"),
        ("kill -TERM $$", r"\[no output\]\n\[killed by SIGTERM after .*\]"),
        ("sh -c 'kill -SEGV $$' 2>/dev/null; exit $?", r"(?s).*\[exit code 139 \(SIGSEGV\) in .*\]"),
    ],
)
async def test_the_end_of_a_command_is_told_in_words(say, command: str, text: str):
    assert re.fullmatch(text, await say("execute_command", command=command))


async def test_commands_run_in_the_workspace(say, workspace: Path):
    await say("execute_command", command="echo here > a")
    assert (workspace / "a").read_text() == "here\n"


async def test_a_command_over_its_time_limit_is_stopped_and_keeps_its_output(say):
    text = await say("execute_command", command="echo early; sleep 60", timeout="0.5")
    assert text.startswith("early\n[stopped: it was still running after 0.5 s;")


APPLIED = "so the usual 600 s applied"
NOT_TAKEN = [
    (0, APPLIED),
    ("0", APPLIED),
    (-5, APPLIED),
    ("NaN", APPLIED),
    ("-inf", APPLIED),
    (100_000, "timeout=100000 is over the longest, 3600 s, which applied (it is in seconds, not milliseconds)"),
    (1e300, "over the longest, 3600 s"),
    ("inf", "over the longest, 3600 s"),
]


@pytest.mark.parametrize(("timeout", "note"), NOT_TAKEN)
async def test_a_time_limit_that_is_none_or_endless_is_bounded_with_a_word(say, timeout: object, note: str):
    text = await say("execute_command", command="echo hi", timeout=timeout)
    assert text.startswith("hi\n[exit code 0 in ")
    assert note in text


@pytest.mark.parametrize("timeout", [None, 0.5, 20, "20", 600, 3600])
async def test_a_time_limit_that_applies_needs_no_word(say, timeout: object):
    assert "timeout" not in await say("execute_command", command="echo hi", timeout=timeout)


@pytest.mark.parametrize(
    ("timeout", "note"),
    [(0, "so none applied"), (7200, ""), (86_400_000, "over the longest, 86400 s")],
)
async def test_a_command_in_the_background_may_have_a_day(say, timeout: float, note: str):
    text = await say("execute_command", command="echo hi", background=True, timeout=timeout)
    assert ("timeout" in text, note in text) == (bool(note), True)


async def test_long_output_names_the_file_that_holds_it(say):
    text = await say("execute_command", command="seq 100000")
    path = text.split("left out here; ")[1].split(" has all of it")[0]
    assert (await asyncio.to_thread(Path(path).read_text)).endswith("99999\n100000\n")


async def test_output_is_passed_on_as_progress(context: ToolContext):
    heard: list[str] = []
    input = execute_command.Input("echo hi")
    await execute_command.run(input, change_context(context, report=heard.append))
    assert "".join(heard) == "hi\n"


def test_the_summary_holds_the_exact_command_and_the_warning():
    summary = execute_command.summary(execute_command.Input("rm -rf x", requires_approval=True))
    assert (summary.command, summary.risky) == ("rm -rf x", True)


async def test_a_background_command_goes_on_under_a_name_and_the_log_hears_of_it(call):
    output = await call("execute_command", command="echo ready; sleep 60", background=True)
    assert output.content[0].text == "ready\n[still running as job-1]"
    assert output.events == (JobStarted(job="job-1", command="echo ready; sleep 60", call="call-1", by="model"),)


async def test_what_a_shell_leaves_behind_is_told_with_its_end(say):
    assert re.fullmatch(
        r"hi\n\[exit code 0 in .*; processes it started are still running as job-1\]",
        await say("execute_command", command="echo hi; sleep 60 &"),
    )


async def test_a_moved_shell_is_a_fact_for_the_log_with_names_and_no_values(call, workspace: Path):
    output = await call("execute_command", command="mkdir sub; cd sub; export TOKEN=s3cret")
    assert output.events == (ShellMoved(cwd=str(workspace / "sub"), exported=("TOKEN",)),)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"ports": (3000,)}, "it listened on port 3000: start servers with background=true"),
        ({"stuck": True, "quiet": 50.0}, "it was silent for 50 s and used no CPU"),
        ({"stuck": True, "quiet": 1.0}, "for a long command set timeout"),
        ({"quiet": 50.0}, "for a long command set timeout"),
    ],
)
def test_the_limit_comes_with_advice_that_fits(result: dict, words: str):
    stopped = ShellResult(exit_code=None, output="", total_bytes=0, seconds=60.0, **result)
    assert words in execute_command._describe_status(stopped, 60.0)[0]


async def test_a_folder_that_is_gone_is_told(say):
    await say("execute_command", command="mkdir sub; cd sub")
    await say("execute_command", command="rmdir ../sub")
    assert "/sub no longer exists, so it ran in the workspace]" in await say("execute_command", command="pwd")


async def test_one_that_the_sandbox_stopped_says_how_to_ask(context: ToolContext, workspace: Path, tmp_path: Path):
    for name in ("home", "state", "own"):
        (tmp_path / name).mkdir()
    sandbox = Sandbox(SandboxRequest(workspace, tmp_path / "home", tmp_path / "state", tmp_path / "own"))
    shell = LocalShell(tmp_path / "outputs", sandbox=sandbox)
    if (await shell.sandbox()).standing is not SandboxStanding.FULL:
        pytest.skip("no full sandbox on this machine")
    there = change_context(context, shell=shell)
    stopped = await execute_command.run(execute_command.SandboxedInput("touch /var/tmp/x"), there)
    assert "unsandboxed=true" in text_of(stopped)
    assert f"it can write only {workspace}, /tmp; " in text_of(stopped)
    assert "unsandboxed=true" not in text_of(await execute_command.run(execute_command.SandboxedInput("exit 1"), there))
    await shell.close()


def test_what_is_busy_because_the_sandbox_keeps_it_is_told_so():
    text = "error: could not write config file .git/config: Device or resource busy"
    busy = ShellResult(4, text, len(text), 1.0, sandboxed=True, bounds="the network is off")
    assert execute_command._describe_status(busy, 60.0)[-1].startswith("it ran in the sandbox: the network is off. If")


def text_of(output: ToolOutput) -> str:
    return "".join(part.text for part in output.content if hasattr(part, "text"))


def test_a_command_asks_to_be_let_out_only_where_there_is_a_sandbox():
    assert "unsandboxed" not in execute_command.TOOL.spec.schema["properties"]
    assert "unsandboxed" in execute_command.SANDBOXED.spec.schema["properties"]
    asks = execute_command.SandboxedInput("ls", unsandboxed=True)
    assert [execute_command.summary(i).in_sandbox for i in (execute_command.Input("ls"), asks)] == [True, False]
