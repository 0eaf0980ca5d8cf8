import asyncio
from dataclasses import replace

import pytest
from tests.hosts.conftest import Runner
from tests.hosts.sandbox.conftest import Make

from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox


@pytest.mark.parametrize(
    ("command", "code"), [("true", 0), ("exit 3", 3), ("no-such-program", 127), ("kill -9 $$", 137)]
)
async def test_a_command_ends_as_it_does_outside(run: Runner, command: str, code: int):
    assert (await run(command)).exit_code == code


async def test_folder_and_variables_pass_from_one_to_the_next(run: Runner):
    await run("mkdir sub; cd sub; export COLOUR='dark blue'")
    assert (await run('echo "${PWD##*/} $COLOUR"')).output == "sub dark blue\n"


async def test_variables_do_not_pass_to_a_command_that_was_let_out(run: Runner):
    await run("mkdir sub; cd sub; export PATH=/evil:$PATH COLOUR=red LD_LIBRARY_PATH=/evil")
    outside = await run('echo "${PWD##*/} [$COLOUR$LD_LIBRARY_PATH] ${PATH%%:*}"', unsandboxed=True)
    assert outside.output.startswith("sub [] ")
    assert "evil" not in outside.output


async def test_variables_pass_to_the_sandbox_from_outside(run: Runner):
    await run("export COLOUR=red", unsandboxed=True)
    assert (await run("echo $COLOUR")).output == "red\n"


async def test_a_folder_of_its_tmp_is_not_one_outside(run: Runner):
    await run("mkdir /tmp/only-inside; cd /tmp/only-inside")
    result = await run("pwd", unsandboxed=True)
    assert (result.gone, result.output) == ("/tmp/only-inside", f"{run.folder}\n")


async def test_a_time_limit_asks_first(run: Runner):
    result = await run("trap 'echo asked; exit' TERM; while :; do sleep 0.05; done", timeout=1)
    assert (result.exit_code, result.output.splitlines()[-1]) == (None, "asked")


async def test_one_that_does_not_listen_is_killed(run: Runner):
    result = await run("trap '' TERM; echo up; while :; do sleep 0.05; done", timeout=0.5)
    assert (result.exit_code, result.output) == (None, "up\n")


async def test_a_job_goes_on_and_is_stopped(run: Runner):
    started = await run("trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.05; done", background=True)
    assert started.output == "up\n"
    await run.shell.jobs.stop(started.job)
    assert (await run.shell.jobs.read(started.job)).text.endswith("bye\n")


async def test_a_job_on_a_terminal_is_answered_and_interrupted(run: Runner):
    started = await run(
        "trap 'echo caught' INT; tty -s && read -p 'name? ' name; echo hello $name; sleep 30; echo on", terminal=True
    )
    assert started.output == "name? "
    assert "hello you" in (await run.shell.jobs.write(started.job, "you\n")).text
    heard = (await run.shell.jobs.write(started.job, "\x03")).text
    ended = await run.shell.jobs.read(started.job, 5)
    assert "caught" in heard + ended.text
    assert "on\r\n" in heard + ended.text or "on\n" in heard + ended.text


async def test_the_port_of_a_server_is_seen(run: Runner):
    started = await run("exec python3 -u -m http.server 0 --bind 127.0.0.1", background=True)
    assert len(started.ports) == 1
    await run.shell.jobs.stop(started.job)


async def test_a_cancelled_command_leaves_nothing(run: Runner):
    running = asyncio.create_task(run("echo up; while :; do echo x >> ticks; sleep 0.05; done"))
    await run.spoke.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    size = (run.folder / "ticks").stat().st_size
    await asyncio.sleep(0.2)
    assert (run.folder / "ticks").stat().st_size == size


async def test_limits_hold_and_are_not_lifted(make: Make, run: Runner, wishes: SandboxRequest):
    run = make(Sandbox(replace(wishes, processes=64, file_size=1)))
    assert (await run("ulimit -c; ulimit -u; ulimit -f 2048; ulimit -c 1; true")).output.startswith("0\n64\n")
    await run("head -c 3000000 /dev/zero > big; true")
    assert (wishes.workspace / "big").stat().st_size == 1 << 20


async def test_output_flows_as_it_does_outside(run: Runner):
    result = await run("yes | head -c 20000000")
    assert (result.exit_code, result.total_bytes) == (0, 20_000_000)
