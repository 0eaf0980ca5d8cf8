"""What `runtime.assembly.warm_up` makes ready must be what the first steps use, in pieces that nobody notices."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.loaded import is_below, learn_steps, uses_of
from tests.servers.model_server import ModelServer

from halocline.providers.scripted.model import Call, Turn

pytestmark = pytest.mark.process

MOST = 10
"""Modules that one step may load."""
OURS = ("halocline", "tree_sitter")
UNSURE = ("halocline.providers.server_probe",)
"""What these steps use with some models only."""
BESIDE = (
    *("halocline.protocol.ipc", "halocline.runtime.attach.owner_socket", "halocline.runtime.attach.server"),
    "halocline.runtime.loosening",
    *("halocline.runtime.litter", "halocline.checkpoints.repository.stores", "halocline.runtime.resume"),
    *("halocline.context.notes.idle", "halocline.protocol.plan_approval"),
)
"""What a process does some time after it opened a task, whether a step is taken or not: the task socket, tidying up."""
OF_GLOB = "pattern '(?s:"
"""What `glob` compiles: only tidying up uses it."""


def calls(name, **arguments):
    return Turn(calls=(Call(name, arguments),))


FIRST = [
    calls("read_file", path="a.py"),
    calls("replace_in_file", path="a.py", diff="------- SEARCH\na = 1\n=======\na = 2\n+++++++ REPLACE"),
    calls("execute_command", command="grep a a.py", requires_approval=False),
    Turn(text="Done."),
]


def test_no_step_loads_many_modules():
    steps, _ = learn_steps()
    assert [step for step in steps if len(step) > MOST] == []
    assert len(steps) > 20


async def test_the_first_read_edit_and_command_load_and_compile_nothing_that_was_not_made_ready(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("a = 1\n")
    started = await uses_for([Turn(text="Hello.")], tmp_path / "home", project)
    used = await uses_for(FIRST, tmp_path / "home", project)
    assert (project / "a.py").read_text() == "a = 2\n"
    _, ready = learn_steps()
    missing = {*used} - {*started, *ready, *UNSURE, *BESIDE}
    patterns = [one for one in missing if one.startswith("pattern ") and not one.startswith(OF_GLOB)]
    assert [one for one in sorted(missing) if is_below(one, OURS)] + sorted(patterns) == []


async def uses_for(turns, home, project):
    """What `halo run` imports and compiles when the model does this."""
    async with ModelServer(turns) as server:
        words = ["run", "-p", "-y", "-m", "openai/x", "--base-url", server.url("openai"), "go on", "-C", str(project)]
        return await asyncio.to_thread(uses_of, home, *words)


def children_of(pid):
    """The command lines of a process's children."""
    found = []
    for line in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found.append(Path(f"/proc/{line}/cmdline").read_text())
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")
async def test_the_process_of_commands_waits_before_the_reply_comes_and_ends_with_an_interrupt(tmp_path):
    async with ModelServer([Turn(text="Too late.", delay=300)]) as server:
        words = ["run", "-p", "-y", "-m", "openai/x", "--base-url", server.url("openai"), "go on", "-C", str(tmp_path)]
        halo = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "halocline",
            *words,
            env={**os.environ, "HALOCLINE_HOME": str(tmp_path / "home")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        async with asyncio.timeout(60):
            while not any("keeper.py" in line for line in children_of(halo.pid)):
                await asyncio.sleep(0.02)
        halo.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            assert await halo.wait() == 130
