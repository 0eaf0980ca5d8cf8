"""Stopping commands on a machine with much else to look through."""

import asyncio
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from tests.hosts.conftest import Runner
from tests.hosts.test_processes import linux, pid_in, runs

from halocline.hosts.shell import readiness
from halocline.hosts.shell.launch import explain_failed_start
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.jobs import JobState

pytestmark = [pytest.mark.slow, linux]

DEAF = "trap '' TERM INT HUP; echo $$ > deaf; echo ready; while :; do sleep 60; done"
ESCAPED = "setsid sh -c \"trap '' TERM; echo \\$\\$ > escaped; while :; do sleep 60; done\" & "

_watched: Counter[tuple[bool, str]] | None = None


def watch_reads(event: str, arguments: tuple[object, ...]) -> None:
    if _watched is not None and event in ("open", "os.listdir", "os.scandir"):
        folder, proc, pid, *_ = f"{arguments[0]}//".split("/")
        if (folder, proc) == ("", "proc") and (pid.isdecimal() or not pid) and pid != str(os.getpid()):
            _watched[threading.current_thread() is threading.main_thread(), "a process" if pid else "all"] += 1


sys.addaudithook(watch_reads)


@contextmanager
def watched_reads() -> Iterator[Counter[tuple[bool, str]]]:
    """Reads of /proc: on the event loop's thread or not, of one process or of the list of all."""
    global _watched
    _watched = Counter()
    try:
        yield _watched
    finally:
        _watched = None


async def test_processes_are_read_beside_the_event_loop_and_no_others_than_the_commands_own(run: Runner):
    with watched_reads() as reads:
        await run(ESCAPED + DEAF, timeout=1.0)
        await run(DEAF, background=True)
        await run("read line", terminal=True)
        await run.shell.jobs.write("job-2", "x\n")
        run.shell.jobs.list()
        await run.shell.jobs.read("job-1")
        await run.shell.jobs.stop("job-1")
        running = asyncio.create_task(run("echo go; sleep 60"))
        run.spoke.clear()
        await run.spoke.wait()
        running.cancel()
        await asyncio.wait([running])
    assert dict(reads.keys()) == {False: "a process"}


async def test_a_command_that_ignores_every_request_is_killed_with_what_left_its_session(run: Runner):
    await run(ESCAPED + DEAF, timeout=1.0)
    assert [runs(await pid_in(run.folder / name)) for name in ("deaf", "escaped")] == [False, False]


async def test_a_command_that_ends_when_it_is_asked_is_not_killed(run: Runner):
    await run("trap 'echo bye > said; exit 3' TERM; echo ready; while :; do sleep 0.05; done", background=True)
    await run.shell.jobs.stop("job-1")
    info = (await run.shell.jobs.read("job-1", wait=20)).info
    assert (info.state, info.exit_code, (run.folder / "said").read_text()) == (JobState.ENDED, 3, "bye\n")


async def test_the_processes_below_one_are_those_of_all_its_threads_and_their_children(run: Runner):
    script = """
import subprocess, sys, threading
def start(): print(subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=sys.stdout).pid, flush=True)
start(); thread = threading.Thread(target=lambda: (start(), sys.stdin.read())); thread.start(); thread.join()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1, text=True) as program:
        assert program.stdout
        pids = {program.stdout.readline().strip() for _ in range(4)}
        assert set(readiness.list_descendants(program.pid)) == pids
        for pid in pids:
            os.kill(int(pid), 9)
        program.communicate()


async def test_members_are_found_by_their_mark_also_when_the_keeper_is_gone():
    environment = {**os.environ, "MARK_OF_A_TEST": "here"}
    with subprocess.Popen(["sleep", "60"], env=environment, start_new_session=True) as program:
        gone = subprocess.Popen(["true"])
        gone.wait()
        for keeper in (0, os.getpid(), gone.pid):
            found = readiness.list_members(-1, b"MARK_OF_A_TEST=here", keeper)
            assert [member.pid for member in found or ()] == [program.pid]
        program.kill()


async def test_a_command_whose_keeper_is_killed_says_so_and_so_does_a_job(run: Runner):
    await run("echo ready; sleep 60", background=True)
    os.mkfifo(run.folder / "gate")
    running = asyncio.create_task(run("echo up; read line < gate; kill -KILL $PPID; sleep 60"))
    run.spoke.clear()
    await run.spoke.wait()
    await asyncio.to_thread((run.folder / "gate").write_text, "go\n")
    result = await running
    assert result.exit_code == -9
    assert [note for note in result.set_aside if "process that starts this task's commands was killed" in note]
    job = await run.shell.jobs.read("job-1", 20)
    assert "process that starts this task's commands was killed" in job.info.stopped


async def test_a_keeper_that_was_killed_is_replaced_for_the_next_command_or_the_one_after(run: Runner):
    for _ in range(5):
        os.kill(int((await run("echo $PPID; true")).output), 9)  # nothing has read of it yet
        with suppress(ToolFailure):
            assert (await run("echo hi; true")).output == "hi\n"
        assert (await run("echo again; true")).output == "again\n"


def test_a_start_that_the_keeper_did_not_report_is_explained_in_words():
    failure = explain_failed_start("/", BrokenPipeError(32, "Broken pipe"))
    assert "was killed" in failure.text
    assert failure.text.startswith("It is not known if the command started")
    assert "pipe" not in failure.text


async def test_one_that_was_killed_alone_says_nothing_of_a_keeper(run: Runner):
    assert (await run("kill -KILL $$")).set_aside == ()
