import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from halocline.hosts.keeper import STATE_FD
from halocline.hosts.shell.processes import KILLED, Process, Processes

pytestmark = pytest.mark.process

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has child subreapers")

DAEMON = """
import os, signal, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.environ.clear()
for fd in range(3): os.close(fd)
with open(sys.argv[1], "w") as file: file.write(str(os.getpid()))
os.rename(sys.argv[1], sys.argv[1] + ".pid")
while True: signal.pause()
"""
"""What a careful daemon does to get away from whoever started it, and a little more."""


def runs(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


async def pid_in(path: Path) -> int:
    async with asyncio.timeout(20):
        while not path.exists() or not path.read_text().strip():
            await asyncio.sleep(0.01)
    return int(path.read_text())


class Starter:
    def __init__(self, processes: Processes, folder: Path) -> None:
        self.processes = processes
        self.folder = folder

    async def __call__(self, *words: str) -> Process:
        await self.processes.ready()
        with open(self.folder / "out", "ab") as out:
            fds = (out.fileno(), out.fileno())
            return await self.processes.start(words, dict(os.environ), str(self.folder), fds, False)

    def printed(self) -> str:
        return (self.folder / "out").read_text()


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Starter]:
    processes = Processes(dict(os.environ))
    yield Starter(processes, tmp_path)
    await processes.close()


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -KILL $$", -9), ("exit 0", 0)])
async def test_an_exit_is_told_with_its_code_or_signal(start: Starter, script: str, code: int):
    process = await start("/bin/sh", "-c", script)
    assert await process.exited == code


async def test_many_at_once_are_told_apart(start: Starter):
    started = [await start("/bin/sh", "-c", f"exit {code}") for code in range(40)]
    assert [await process.exited for process in started] == list(range(40))


async def test_who_waits_for_an_end_is_told_although_the_keeper_is_killed_while_all_is_closed(start: Starter):
    process = await start("/bin/sleep", "600")
    os.kill(process.keeper, signal.SIGKILL)
    await start.processes.close()
    assert await process.exited == KILLED


async def test_what_cannot_be_started_is_an_error_and_the_next_one_starts(start: Starter):
    with pytest.raises(FileNotFoundError):
        await start("/no/such/program")
    with pytest.raises(ValueError, match="null byte"):
        await start("/bin/echo", "a\0b")
    assert await (await start("/bin/true")).exited == 0


async def test_large_arguments_arrive_whole(start: Starter):
    process = await start("/bin/sh", "-c", 'printf %s "$1" | wc -c', "sh", "x" * 120_000)
    await process.exited
    assert start.printed().split() == ["120000"]


@linux
async def test_a_command_has_no_descriptors_but_its_own(start: Starter):
    process = await start("/bin/sleep", "60")
    async with asyncio.timeout(20):  # the others are closed as it becomes the program, a little after its start
        while set(os.listdir(f"/proc/{process.pid}/fd")) != {"0", "1", "2", str(STATE_FD)}:
            await asyncio.sleep(0.01)


async def test_a_command_has_its_signals_as_usual(start: Starter):
    show = "import signal; print([s.name for s in signal.Signals if signal.getsignal(s) is signal.SIG_IGN])"
    await (await start(sys.executable, "-c", show)).exited
    assert start.printed() == "['SIGPIPE', 'SIGXFSZ']\n"  # Python itself ignores these two


@linux
async def test_a_daemon_that_hides_is_gone_after_the_close(start: Starter):
    await (await start(sys.executable, "-c", DAEMON, "daemon")).exited
    daemon = await pid_in(start.folder / "daemon.pid")
    assert runs(daemon)
    await start.processes.close()
    assert not runs(daemon)


async def test_a_close_gives_a_moment_to_end_well(start: Starter):
    process = await start("/bin/sh", "-c", "trap 'echo bye; exit 0' TERM; echo up > up; while :; do sleep 0.01; done")
    async with asyncio.timeout(20):
        while not (start.folder / "up").exists():
            await asyncio.sleep(0.01)
    await start.processes.close()
    assert start.printed().endswith("bye\n")
    assert await process.exited == 0


async def test_when_the_keeper_is_killed_its_commands_are_killed_and_the_next_has_a_new_one(start: Starter):
    process = await start("/bin/sh", "-c", "echo $PPID; exec sleep 60")
    async with asyncio.timeout(20):
        while not start.printed():
            await asyncio.sleep(0.01)
    os.kill(int(start.printed()), signal.SIGKILL)
    assert await process.exited == KILLED
    assert await (await start("/bin/true")).exited == 0


async def test_waiting_for_the_first_start_may_be_cancelled(start: Starter):
    waiting = asyncio.create_task(start.processes.ready())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await (await start("/bin/true")).exited == 0


async def test_nothing_started_needs_no_close(tmp_path: Path):
    await Processes({}).close()


KILLED_HALO = """
import asyncio, os, sys
from halocline.hosts.shell.processes import Processes

async def main():
    processes = Processes(dict(os.environ))
    await processes.ready()
    out = os.open(os.devnull, os.O_RDWR)
    words = ["/bin/sh", "-c", "echo $PPID $$ > pids.new; mv pids.new pids; sleep 60"]
    await processes.start(words, dict(os.environ), sys.argv[1], (out, out), False)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@linux
async def test_a_keeper_that_is_stopped_does_not_outlive_halo(tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", KILLED_HALO, str(tmp_path)]) as halo:
        async with asyncio.timeout(20):
            while not (tmp_path / "pids").exists():
                await asyncio.sleep(0.01)
        keeper, command = map(int, (tmp_path / "pids").read_text().split())
        os.kill(keeper, signal.SIGSTOP)
        halo.kill()
    async with asyncio.timeout(20):
        while runs(keeper) or runs(command):
            await asyncio.sleep(0.01)


@pytest.fixture
async def restless(tmp_path: Path) -> AsyncIterator[Starter]:
    processes = Processes(dict(os.environ), rest=0.05)
    yield Starter(processes, tmp_path)
    await processes.close()


async def keeper_of(start: Starter) -> int:
    await (await start("/bin/sh", "-c", "echo $PPID")).exited
    return int(start.printed().split()[-1])


async def is_gone(pid: int) -> None:
    async with asyncio.timeout(20):
        while runs(pid):
            await asyncio.sleep(0.01)


async def test_a_keeper_with_nothing_to_keep_ends_and_the_next_command_starts_another(restless: Starter):
    first = await keeper_of(restless)
    await is_gone(first)
    assert await keeper_of(restless) != first


async def test_a_keeper_stays_while_a_process_runs(restless: Starter):
    process = await restless("/bin/sh", "-c", "echo $PPID; sleep 0.5; exit 3")
    assert await process.exited == 3
    await is_gone(int(restless.printed()))


@linux
async def test_a_keeper_stays_while_something_lives_that_a_command_left_behind(restless: Starter, tmp_path: Path):
    await (await restless(sys.executable, "-c", DAEMON, str(tmp_path / "daemon"))).exited
    daemon = await pid_in(tmp_path / "daemon.pid")
    await asyncio.sleep(0.5)  # ten times as long as a keeper rests
    parent = int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(daemon)]))
    assert runs(daemon)
    os.kill(daemon, signal.SIGKILL)
    await is_gone(parent)


async def test_a_keeper_that_is_started_ahead_serves_the_next_command(start: Starter):
    start.processes.begin()
    assert await (await start("/bin/true")).exited == 0


async def test_a_keeper_that_was_started_ahead_for_nothing_ends_by_itself(restless: Starter):
    await restless.processes.begin()
    first = await keeper_of(restless)
    await is_gone(first)
    restless.processes.begin()
    assert await keeper_of(restless) != first


async def test_commands_that_come_while_a_keeper_is_asked_to_rest_are_started(restless: Starter):
    for number in range(20):
        process = await restless("/bin/sh", "-c", f"exit {number}")
        assert await process.exited == number
        await asyncio.sleep(0.05 + number % 4 * 0.0005)


@linux
async def test_a_process_whose_start_was_cancelled_is_killed(start: Starter):
    keeper = await keeper_of(start)
    starting = asyncio.create_task(start("/bin/sleep", "60"))
    for _ in range(3):  # the request is sent by then
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await (await start("/bin/true")).exited
    async with asyncio.timeout(20):
        while Path(f"/proc/{keeper}/task/{keeper}/children").read_text():
            await asyncio.sleep(0.01)


async def test_starts_that_are_asked_for_at_once_each_get_their_own_process(start: Starter):
    processes = await asyncio.gather(*(start("/bin/sh", "-c", f"exit {number}") for number in range(20)))
    assert [await process.exited for process in processes] == list(range(20))


async def test_closing_does_not_wait_for_a_keeper_that_started_nothing():
    processes = Processes(dict(os.environ))
    listening = processes.begin()
    await processes.close()
    with pytest.raises(BrokenPipeError):
        await listening
