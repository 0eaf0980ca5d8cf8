import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from halocline.hosts.shell.subprocesses import LocalPrograms

pytestmark = pytest.mark.process

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture
async def programs():
    programs = LocalPrograms(ENV)
    yield programs
    await programs.close()


def sh(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]


async def gone(pid: int) -> None:
    async with asyncio.timeout(10):
        while is_there(pid):
            await asyncio.sleep(0.02)


async def test_a_program_is_spoken_to_over_pipes_with_errors_apart(programs, tmp_path):
    program = await programs.start(sh("read line; echo got $line in $PWD; echo wrong >&2; exit 3"), ENV, str(tmp_path))
    program.input.write(b"this\n")
    assert await program.output.readline() == f"got this in {tmp_path}\n".encode()
    assert await program.errors.readline() == b"wrong\n"
    assert await program.exited == 3
    await program.end(0)


async def test_it_sees_only_the_environment_that_it_is_given(programs, tmp_path):
    program = await programs.start(["/usr/bin/env"], {"ONE": "1"}, str(tmp_path))
    seen = (await program.output.read()).decode().split()
    await program.end(0)
    assert {line.partition("=")[0] for line in seen} <= {"ONE", "PWD", "SHLVL", "_", "OLDPWD"}
    assert "ONE=1" in seen


async def test_one_that_ends_with_its_input_is_not_hurried(programs, tmp_path):
    program = await programs.start(sh("trap 'echo hurried >&2' TERM; cat; echo last; sleep 0.2"), ENV, str(tmp_path))
    program.input.close()
    assert await program.output.readline() == b"last\n"
    await program.end(5)
    assert program.exited.result() == 0


async def test_one_that_ignores_everything_is_killed_with_its_children(programs, tmp_path):
    script = "trap '' TERM; sleep 600 & echo $!; while :; do sleep 1; done"
    program = await programs.start(sh(script), ENV, str(tmp_path))
    child = int(await program.output.readline())
    await program.end(0)
    assert program.exited.done()
    await gone(child)


async def test_a_program_that_does_not_exist_ends_at_once(programs, tmp_path):
    program = await programs.start(["/no/such/program"], ENV, str(tmp_path))
    assert await program.exited == 127
    await program.end(0)


async def test_programs_end_when_halo_is_killed(tmp_path):
    script = f"""
    import asyncio
    from halocline.hosts.shell.subprocesses import LocalPrograms

    async def main():
        program = await LocalPrograms({ENV!r}).start(["/bin/sh", "-c", "echo $$; sleep 600"], {ENV!r}, "/")
        print((await program.output.readline()).decode(), flush=True)
        await asyncio.sleep(600)

    asyncio.run(main())
    """
    halo = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    pid = int(await asyncio.to_thread(halo.stdout.readline))
    assert is_there(pid)
    halo.kill()
    halo.communicate()
    await gone(pid)
