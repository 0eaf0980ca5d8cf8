"""Commands that go on: real servers, prompts, full screens and children that stay behind."""

import asyncio
import os
import socket
import sys

import pytest
from tests.hosts.conftest import Runner
from tests.hosts.test_processes import linux, pid_in, runs

from halocline.ports.host import Left
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.jobs import JobInfo, JobState

pytestmark = pytest.mark.slow

ASK_PASSWORD = """
import termios
with open("/dev/tty", "r+b", buffering=0) as terminal:
    old = termios.tcgetattr(terminal); new = termios.tcgetattr(terminal); new[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSAFLUSH, new)
    terminal.write(b"[sudo] password: ")
    said = terminal.readline().strip()
    termios.tcsetattr(terminal, termios.TCSAFLUSH, old)
    print("granted" if said == b"s3cret" else "denied")
"""
SERVE = """
import socket, sys, time
sock = socket.create_server(("127.0.0.1", 0))
open("port", "w").write(str(sock.getsockname()[1]))
while True: sock.accept()[0].close()
"""


async def ended(run: Runner, name: str) -> JobInfo:
    return (await run.shell.jobs.read(name, wait=20)).info


async def test_a_command_in_the_background_gives_its_output_so_far_and_goes_on(run: Runner):
    os.mkfifo(run.folder / "gate")
    result = await run("echo server is ready; read line < gate; echo got $line", background=True)
    assert (result.output, result.exit_code, result.job, result.left) == (
        "server is ready\n",
        None,
        "job-1",
        Left.MODEL,
    )
    await asyncio.to_thread((run.folder / "gate").write_text, "word\n")
    output = await run.shell.jobs.read("job-1", wait=20)
    assert (output.text, output.info.state, output.info.exit_code) == ("got word\n", JobState.ENDED, 0)


async def test_one_that_ends_at_once_is_no_job(run: Runner):
    result = await run("echo short; exit 3", background=True)
    assert (result.output, result.exit_code, result.job) == ("short\n", 3, "")
    assert run.shell.jobs.list() == ()


@linux
async def test_a_silent_server_is_known_by_its_port(run: Runner):
    (run.folder / "serve.py").write_text(SERVE)
    result = await run(f"{sys.executable} serve.py", background=True)
    port = int((run.folder / "port").read_text())
    assert result.ports == (port,)
    with socket.create_connection(("127.0.0.1", port)):
        pass
    (info,) = run.shell.jobs.list()
    assert info.ports == (port,)


async def test_a_running_command_can_be_left(run: Runner):
    running = asyncio.create_task(run("echo first; sleep 60"))
    await run.spoke.wait()
    assert run.shell.leave()
    result = await running
    assert (result.output, result.job, result.left) == ("first\n", "job-1", Left.PERSON)
    assert not run.shell.leave()
    await run.shell.jobs.stop("job-1")
    assert (await ended(run, "job-1")).stopped == "on request"


async def test_a_command_can_be_left_before_it_runs_and_no_other_is(run: Runner):
    assert run.shell.leave("second")
    first = await run("echo first; sleep 0.2", call="first")
    second = await run("sleep 60", call="second")
    third = await run("echo third", call="third")
    assert [(one.job, one.left) for one in (first, second, third)] == [("", None), ("job-1", Left.PERSON), ("", None)]


async def test_what_a_shell_leaves_behind_is_a_job_when_it_can_still_print(run: Runner):
    os.mkfifo(run.folder / "gate")
    result = await run("echo now; (read line < gate; echo later) &")
    assert (result.exit_code, result.output, result.left) == (0, "now\n", Left.SHELL)
    await asyncio.to_thread((run.folder / "gate").write_text, "go\n")
    output = await run.shell.jobs.read("job-1", wait=20)
    assert output.text == "later\n"


async def test_a_time_limit_holds_in_the_background_too(run: Runner):
    await run("trap '' TERM; echo ready; while :; do sleep 60; done", background=True, timeout=1.0)
    info = await ended(run, "job-1")
    assert (info.stopped, info.exit_code) == ("it reached its time limit", -9)


async def test_an_end_is_told_once_and_news_too(run: Runner):
    ends: list[JobInfo] = []
    run.shell.jobs.begin(ends.append)
    os.mkfifo(run.folder / "gate")
    await run("echo ready; read line < gate; echo bye; exit 4", background=True)
    assert run.shell.jobs.collect_changes() == ()
    await asyncio.to_thread((run.folder / "gate").write_text, "go\n")
    async with asyncio.timeout(20):
        while not ends:
            await asyncio.sleep(0.01)
    (news,) = run.shell.jobs.collect_changes()
    assert (news.info.exit_code, news.text, news.info.unread) == (4, "bye\n", 0)
    assert run.shell.jobs.collect_changes() == ()
    assert [info.name for info in ends] == ["job-1"]


async def test_of_much_output_only_the_end_is_told_and_the_rest_can_be_read(run: Runner):
    await run("echo ready; read line < /dev/null; sleep 0.6; seq 1000; sleep 60", background=True)
    async with asyncio.timeout(20):
        while not (news := run.shell.jobs.collect_changes()):
            await asyncio.sleep(0.05)
    assert news[0].text.endswith("1000")
    assert len(news[0].text) <= 300
    assert (await run.shell.jobs.read("job-1")).text == "".join(f"{number}\n" for number in range(1, 1001))


async def test_what_a_person_typed_is_not_repeated_and_the_exit_code_is_true(run: Runner):
    result = await run(f"{sys.executable} -i -q", terminal=True)
    assert (result.output, result.left) == (">>> ", Left.MODEL)
    assert (await run.shell.jobs.write("job-1", "6 * 7\n")).text == "42\n>>> "
    output = await run.shell.jobs.write("job-1", "raise SystemExit(5)\n")
    assert (await ended(run, "job-1")).exit_code == 5
    assert "raise" not in output.text


async def test_a_terminal_has_a_size_and_is_the_one_of_the_session(run: Runner):
    result = await run("stty size; tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all > /dev/tty", terminal=True)
    size, device, written = result.output.split("\n", 3)[:3]
    assert (size, written, result.exit_code) == ("40 120", "all", 0)
    assert device.startswith("/dev/")


async def test_a_password_prompt_on_the_terminal_can_be_answered(run: Runner):
    (run.folder / "ask.py").write_text(ASK_PASSWORD)
    result = await run(f"{sys.executable} ask.py", terminal=True)
    assert result.output == "[sudo] password: "
    output = await run.shell.jobs.write("job-1", "s3cret\n")
    assert output.text.strip() == "granted"


async def test_without_a_terminal_a_password_prompt_fails_at_once(run: Runner):
    (run.folder / "ask.py").write_text(ASK_PASSWORD)
    result = await run(f"{sys.executable} ask.py")
    assert result.exit_code == 1
    assert "/dev/tty" in result.output


async def test_keys_reach_a_program_on_a_terminal(run: Runner):
    await run("trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done", terminal=True)
    await run.shell.jobs.write("job-1", "\x03")
    assert (await ended(run, "job-1")).exit_code == 7


async def test_a_full_screen_program_is_known_as_one(run: Runner):
    result = await run("printf '\\033[?1049h\\033[2J\\033[Hfile.txt'; read line", terminal=True)
    assert result.full_screen
    assert "\x1b" not in result.output


async def test_typing_needs_a_terminal_and_a_job_that_runs(run: Runner):
    await run("echo ready; sleep 60", background=True)
    with pytest.raises(ToolFailure, match="tty=true"):
        await run.shell.jobs.write("job-1", "x\n")
    await run("read line", terminal=True)
    await run.shell.jobs.write("job-2", "\n")
    await ended(run, "job-2")
    with pytest.raises(ToolFailure, match="has ended"):
        await run.shell.jobs.write("job-2", "x\n")


async def test_an_unknown_job_names_those_there_are(run: Runner):
    with pytest.raises(ToolFailure, match=r"No job 'x'.* none"):
        await run.shell.jobs.read("x")
    await run("echo ready; sleep 60", background=True)
    with pytest.raises(ToolFailure, match=r"Known jobs: job-1"):
        await run.shell.jobs.stop("x")


@linux
async def test_the_close_ends_jobs_and_daemons_and_says_so(run: Runner):
    ends: list[JobInfo] = []
    run.shell.jobs.begin(ends.append)
    await run("echo ready; echo $$ > leader; setsid sh -c 'echo $$ > daemon; exec sleep 60' & wait", background=True)
    pids = [await pid_in(run.folder / name) for name in ("leader", "daemon")]
    assert [runs(pid) for pid in pids] == [True, True]
    await run.shell.close()
    assert [runs(pid) for pid in pids] == [False, False]
    assert [info.stopped for info in ends] == ["the task was closed"]


async def test_a_job_that_is_cut_off_while_it_begins_leaves_nothing(run: Runner):
    starting = asyncio.create_task(run("echo $$ > leader; sleep 60", background=True))
    pid = await pid_in(run.folder / "leader")
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    async with asyncio.timeout(20):
        while runs(pid):
            await asyncio.sleep(0.02)
    assert run.shell.jobs.list() == ()


async def test_states_tell_a_talking_job_from_a_quiet_one(run: Runner):
    await run("echo ready; sleep 60", background=True)
    assert run.shell.jobs.list()[0].state is JobState.HOT
    async with asyncio.timeout(20):
        while run.shell.jobs.list()[0].state is not JobState.IDLE:
            await asyncio.sleep(0.05)


WATCH = """
echo serving
while [ ! -e edited ]; do sleep 0.05; done
echo compiling
sleep 1
echo error in a.py
sleep 60
"""


async def test_after_an_edit_a_job_that_builds_anew_is_waited_for(run: Runner):
    await run(WATCH, background=True)
    (run.folder / "edited").touch()
    await run.shell.jobs.settle()
    (news,) = run.shell.jobs.collect_changes()
    assert "error in a.py" in news.text


async def test_a_job_that_prints_all_the_time_is_waited_for_once(run: Runner):
    await run("while :; do echo tick; sleep 0.1; done", background=True)
    clock = asyncio.get_running_loop().time
    began = clock()
    await run.shell.jobs.settle()
    first = clock() - began
    began = clock()
    await run.shell.jobs.settle()
    assert clock() - began < first / 10


async def test_nothing_is_waited_for_where_no_job_runs(run: Runner):
    async with asyncio.timeout(0.2):
        await run.shell.jobs.settle()


async def test_a_person_sees_the_colors_of_a_job_and_the_model_reads_none(run: Runner):
    os.mkfifo(run.folder / "gate")
    await run("printf '\\033[31mred\\033[0m \\033[2Jkept\\n'; read line < gate", background=True)
    assert run.shell.jobs.screen("job-1") == "\x1b[31mred\x1b[0m kept\n"
    assert run.shell.jobs.tail("job-1") == "red kept"
    assert (await run.shell.jobs.read("job-1")).text == ""
    await run.shell.jobs.stop("job-1")
