import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from halocline.ports.tool import ToolContext
from halocline.tools import execute_command


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


async def test_long_output_names_the_file_that_holds_it(say):
    text = await say("execute_command", command="seq 100000")
    path = text.split("a copy is in ")[1].split(" …]")[0]
    assert (await asyncio.to_thread(Path(path).read_text)).endswith("99999\n100000\n")


async def test_output_is_passed_on_as_progress(context: ToolContext):
    heard: list[str] = []
    input = execute_command.Input("echo hi")
    await execute_command.run(input, replace(context, progress=heard.append))
    assert "".join(heard) == "hi\n"


def test_the_summary_holds_the_exact_command_and_the_warning():
    summary = execute_command.summary(execute_command.Input("rm -rf x", requires_approval=True))
    assert (summary.command, summary.risky) == ("rm -rf x", True)
