"""Tasks in the background: one process for each home, from its first task to the end of its last."""

import asyncio
import json
import os
import shlex
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pexpect
import pytest
from tests.surfaces.cli.forked import HALO
from tests.surfaces.cli.halo_process import Done, Halo, call, ended, line_with, shell, until_written
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal
from tests.surfaces.cli.test_halo_attach import FOR_EVER, HI, RISKY, WAITS, guest, shows

from halocline._version import __version__
from halocline.client.background import StartRequest
from halocline.client.options import Choices, TaskOptions
from halocline.protocol import commands as cmd, events as ev, json_output
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.surfaces.cli.plain.line_menu import CHOICE

SENDS = """import socket
with socket.socket(socket.AF_UNIX) as peer:
    peer.connect({door})
    heard = b""
    try:
        peer.sendall(open("request", "rb").read())
        heard = peer.recv(1000)
    except ConnectionError:
        pass
    print(heard or "nothing", end=";", flush=True)
"""
pytestmark = [pytest.mark.process, pytest.mark.slow]
LIMIT = 30


class Background:
    """The background process of a test's home."""

    def __init__(self, halo: Halo) -> None:
        self.halo = halo
        self.folder = halo.home / "background"

    @property
    def pid(self) -> int:
        """Who holds the lock; 0 if no one does."""
        with suppress(OSError):
            pid = (self.folder / "lock").read_text().partition(" ")[0]
            if pid.isdecimal() and _state_of(int(pid)) not in ("", "Z"):
                return int(pid)
        return 0

    @property
    def output(self) -> str:
        return (self.halo.home / "logs" / "background.log").read_text()

    async def start(self, *words: str, **more: object) -> str:
        """Run a prompt in the background; return its task."""
        done = await self.halo.run("run", "--bg", *words, **more)
        assert done.code == 0, done.err
        return done.out.strip()

    async def until_over(self) -> None:
        async with asyncio.timeout(LIMIT):
            while self.pid:
                await asyncio.sleep(0.02)

    async def until_said(self, text: str) -> None:
        async with asyncio.timeout(LIMIT):
            while text not in self.output:
                await asyncio.sleep(0.02)

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.pid, number)


def _state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _fields_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@pytest.fixture
def background(halo: Halo) -> Iterator[Background]:
    found = Background(halo)
    yield found
    if found.pid:
        found.kill()


async def test_a_task_in_the_background_is_named_at_once_runs_and_its_process_ends_with_it(
    halo: Halo, background: Background
) -> None:
    done = await halo.run("run", "--bg", "-y", "-m", halo.script(WAITS, HI), "first")
    (task,) = halo.tasks
    assert (done.code, done.out) == (0, f"{task}\n")
    assert f"halo logs -f {task}" in done.err
    await until_written(halo.folder / "began")
    assert background.pid
    (halo.folder / "go").touch()
    await background.until_over()
    assert halo.state(task).last_end.reason is StopReason.END_TURN
    assert (background.folder / "lock").read_text() == ""
    assert not (background.folder / "door").exists()


async def test_the_process_has_a_session_of_its_own_no_terminal_and_files_for_its_owner_alone(
    halo: Halo, background: Background
) -> None:
    terminal = pexpect.spawn("/bin/bash", ["--norc"], env=halo.env, cwd=str(halo.folder), timeout=LIMIT)
    started = await asyncio.to_thread(_start_on, terminal, halo, halo.script(WAITS, HI))
    await until_written(halo.folder / "began")
    _, _, group, session, controlling, *_ = _fields_of(background.pid)
    assert (int(group), int(session), controlling) == (background.pid, background.pid, "0")
    assert started == halo.tasks[0]
    terminal.close(force=True)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (background.folder, *background.folder.iterdir())}
    log = halo.home / "logs" / "background.log"
    modes[log] = stat.S_IMODE(log.stat().st_mode)
    assert set(modes.values()) <= {0o600, 0o700}
    (halo.folder / "go").touch()
    await background.until_over()
    assert halo.state().last_end.reason is StopReason.END_TURN


def _start_on(terminal: pexpect.spawn, halo: Halo, model: str) -> str:
    program = Path(sys.executable).with_name("halo")
    terminal.sendline(f"{program} run --bg -y -m {model} first; echo o'v'er")
    terminal.expect(r"(\d{6}-\d{6}-\w{4})\r\n")
    task = terminal.match[1].decode()
    terminal.expect("over")
    return task


async def test_of_two_that_start_at_once_one_becomes_the_process_and_runs_both(
    halo: Halo, background: Background
) -> None:
    model = halo.script(WAITS, HI)
    tasks = await asyncio.gather(*(background.start("-y", "-m", model, f"number {number}") for number in range(4)))
    assert sorted(tasks) == halo.tasks
    async with asyncio.timeout(LIMIT):
        while background.output.count(" runs in ") < 4:
            await asyncio.sleep(0.02)
    assert {line.split()[3] for line in background.output.splitlines() if " runs in " in line} == {str(background.pid)}
    (halo.folder / "go").touch()
    await background.until_over()
    assert {halo.state(task).last_end.reason for task in tasks} == {StopReason.END_TURN}


async def test_what_a_task_asks_waits_for_a_terminal_that_attaches_and_leaving_that_leaves_it_running(
    halo: Halo, background: Background
) -> None:
    task = await background.start("--approval-mode", "auto", "-m", halo.script(RISKY, WAITS, HI), "first")
    await background.until_said("waits for you")
    assert "  needs you    first" in (await halo.run("tasks", "list")).out
    terminal = halo.terminal("attach", task)
    await shows(terminal, "allow once")
    await shows(terminal, CHOICE)
    terminal.send("y\r")
    await until_written(halo.folder / "began")
    terminal.kill(signal.SIGHUP)
    await shows(terminal, pexpect.EOF)
    assert (halo.folder / "made").exists()
    assert "  running      first" in (await halo.run("tasks", "list")).out
    (halo.folder / "go").touch()
    await background.until_over()
    assert halo.state(task).last_end.reason is StopReason.END_TURN


@pytest.mark.parametrize("words", [("-c",), ("-r", "TASK")], ids=" ".join)
async def test_resuming_a_task_of_the_background_joins_it_unasked(
    halo: Halo, background: Background, words: tuple[str, ...]
) -> None:
    task = await background.start("-y", "-m", halo.script(WAITS, HI), "first")
    await until_written(halo.folder / "began")
    terminal = halo.terminal(*(word.replace("TASK", task) for word in words))
    await shows(terminal, "running")
    (halo.folder / "go").touch()
    await shows(terminal, "Hello")
    await shows(terminal, "What should I do?")
    assert background.pid
    terminal.send("\x04")
    await shows(terminal, "continues it")
    await shows(terminal, pexpect.EOF)
    await background.until_over()


async def test_a_stopped_task_is_closed_and_its_command_ended(halo: Halo, background: Background) -> None:
    task = await background.start("-y", "-m", halo.script(FOR_EVER, HI), "first")
    await until_written(halo.folder / "began")
    done = await halo.run("stop", task[-4:])
    assert (done.code, done.out) == (0, f"Stopped {task}. To continue it: halo -r {task}\n")
    await background.until_over()
    assert halo.state(task).last_end.reason is StopReason.CANCELLED
    again = await halo.run("stop", task)
    assert (again.code, "is not running" in again.err) == (2, True)


async def test_a_message_reaches_the_running_turn_and_a_task_that_is_over_continues_with_it(
    halo: Halo, background: Background
) -> None:
    task = await background.start("-y", "-m", halo.script(WAITS, HI, {"text": "And more."}), "first")
    await until_written(halo.folder / "began")
    assert (await halo.run("send", task, "look", "left")).code == 0
    (halo.folder / "go").touch()
    await background.until_over()
    steered = [event for event in halo.log(task) if isinstance(event, ev.TurnStarted)]
    assert len(steered) == 1
    assert "look left" in json.dumps([str(line) for line in halo.raw_log(task)])
    done = await halo.run("send", task, stdin=b"now right\n")
    assert done.code == 0, done.err
    await background.until_over()
    assert [event.content[0].text for event in halo.log(task) if isinstance(event, ev.TurnStarted)] == [
        "first",
        "now right",
    ]


async def test_the_log_of_a_task_is_followed_until_it_is_closed(halo: Halo, background: Background) -> None:
    task = await background.start("-y", "-m", halo.script(WAITS, HI), "first")
    await until_written(halo.folder / "began")
    following = await halo.start("logs", "-f", task)
    await line_with(following, "first")
    (halo.folder / "go").touch()
    done = await ended(following)
    assert (done.code, done.err, "Hello." in done.out) == (0, "", True)
    again = await halo.run("logs", "-f", task)
    assert ("Hello." in again.out, again.err) == (True, "")


async def test_after_a_kill_the_next_command_names_the_tasks_once_and_they_continue(
    halo: Halo, background: Background
) -> None:
    runs = await background.start("-y", "-m", halo.script(FOR_EVER, HI, name="runs"), "runs")
    asks = await background.start("--approval-mode", "auto", "-m", halo.script(RISKY, HI, name="asks"), "asks")
    over = await background.start("-m", halo.script(HI, name="over"), "over")
    await until_written(halo.folder / "began")
    await background.until_said(f"{asks} waits for you")
    await background.until_said(f"{over} is closed")
    background.kill()
    await background.until_over()
    first, second = await halo.run("tasks", "list"), await halo.run("tasks", "list")
    assert "The background process was killed" in first.err
    assert (runs in first.err, asks in first.err, over in first.err) == (True, True, False)
    assert second.err == ""
    await background.start("-r", runs)
    await background.start("-r", asks)
    await background.until_said(f"{asks} waits for you")
    terminal = halo.terminal("attach", asks)
    await shows(terminal, CHOICE)
    terminal.send("y\r")
    await shows(terminal, "Hello")
    await shows(terminal, "What should I do?")
    terminal.send("\x04")
    await shows(terminal, pexpect.EOF)
    await background.until_over()
    assert len([event for event in halo.log(asks) if isinstance(event, ev.TurnStarted)]) == 1
    assert halo.state(runs).last_end.reason is StopReason.END_TURN


async def test_a_signal_ends_the_process_and_leaves_its_questions(halo: Halo, background: Background) -> None:
    task = await background.start("--approval-mode", "auto", "-m", halo.script(RISKY, HI), "asks")
    await background.until_said("waits for you")
    background.kill(signal.SIGTERM)
    await background.until_over()
    assert halo.state(task).is_asking
    assert "killed" not in (await halo.run("tasks", "list")).err


async def test_each_task_has_the_variables_of_the_terminal_that_started_it(halo: Halo, background: Background) -> None:
    model = halo.script({"call": [shell('echo "$COLOR" > color.$COLOR')]}, WAITS, HI)
    for color in ("red", "blue"):
        await background.start("-y", "-m", model, "go", env={"COLOR": color})
    for color in ("red", "blue"):
        assert await until_written(halo.folder / f"color.{color}") == f"{color}\n"
    other = await halo.run("run", "--bg", "-m", model, "go", env={"AWS_PROFILE": "other"})
    assert (other.code, other.out) == (2, "")
    assert "AWS_PROFILE" in other.err
    assert len(halo.tasks) == 2
    (halo.folder / "go").touch()
    await background.until_over()


async def test_a_key_of_the_terminal_is_in_no_file_and_no_argument(halo: Halo, background: Background) -> None:
    key = "sk-ant-" + "q7Zx" * 8
    await background.start("-y", "-m", halo.script(WAITS, HI), "--api-key", key, "go", env={"ANTHROPIC_API_KEY": key})
    await until_written(halo.folder / "began")
    assert key.encode() not in Path(f"/proc/{background.pid}/cmdline").read_bytes()
    found = [path for path in halo.home.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert found == []
    (halo.folder / "go").touch()
    await background.until_over()


async def test_other_programs_and_broken_requests_do_not_disturb_the_process(
    halo: Halo, background: Background
) -> None:
    await background.start("-y", "-m", halo.script(WAITS, HI), "go")
    await until_written(halo.folder / "began")
    for line in (b"", b"hello\n", b"[" * 10_000 + b"\n", b'{"task": "../x", "folder": "/", "content": []}\n'):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(background.folder / "door"))
            peer.sendall(line)
            peer.shutdown(socket.SHUT_WR)
            await asyncio.to_thread(peer.recv, 1000)
    assert background.pid
    (halo.folder / "go").touch()
    await background.until_over()
    assert len(halo.tasks) == 1


async def test_what_a_task_started_hands_no_task_over(halo: Halo, background: Background) -> None:
    request = StartRequest("mine", str(halo.folder), (), Choices(), TaskOptions(), {}, version=__version__)
    (halo.folder / "request").write_bytes(json_output.encode(request) + b"\n")
    (halo.folder / "sends.py").write_text(SENDS.format(door=repr(str(background.folder / "door"))))
    script = halo.script({"call": [shell(f"{sys.executable} sends.py > out 2>&1; mv out heard")]}, HI)
    await background.start("-y", "-m", script, "go")
    heard = await until_written(halo.folder / "heard")
    assert heard == "nothing;"
    await background.until_over()
    assert len(halo.tasks) == 1


async def test_what_needs_this_terminal_or_is_wrong_starts_nothing(halo: Halo, background: Background) -> None:
    model = halo.script(HI)

    async def refused(*words: str) -> Done:
        done = await halo.run("run", "--bg", *words)
        assert (done.code, done.out) == (2, "")
        return done

    assert "--print does not go with --bg" in (await refused("-p", "-m", model, "hi")).err
    assert "No prompt" in (await refused("-m", model)).err
    assert not background.folder.exists()
    assert "nosuch" in (await refused("-m", "nosuch/model", "hi")).err
    assert "no slash command" in (await refused("-m", model, "/nosuchword")).err
    assert halo.tasks == []
    await background.until_over()


async def test_a_process_of_another_version_takes_no_task(halo: Halo, background: Background) -> None:
    await background.start("-y", "-m", halo.script(WAITS, HI), "go")
    await until_written(halo.folder / "began")
    request = StartRequest("mine", str(halo.folder), (), Choices(), TaskOptions(), {}, version="0.0.1")
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(background.folder / "door"))
        peer.sendall(json_output.encode(request) + b"\n")
        assert b"not 0.0.1" in await asyncio.to_thread(peer.recv, 1000)
    assert len(halo.tasks) == 1


async def test_a_plan_waits_in_the_background_until_it_is_stopped(halo: Halo, background: Background) -> None:
    plan = {"call": [call("plan_mode_respond", response="Do it.")]}
    task = await background.start("--mode", "plan", "-m", halo.script(plan, HI), "first")
    await background.until_said("ended: end_turn")
    await asyncio.sleep(1)
    assert "  needs you    first" in (await halo.run("tasks", "list")).out
    assert (await halo.run("stop", task)).code == 0
    await background.until_over()


@pytest.mark.parametrize("command", ["", "exit 3"])
async def test_the_desktop_is_told_that_a_task_waits_in_words_of_ours_alone_also_if_the_own_command_fails(
    halo: Halo, background: Background, command: str
) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text(f"[terminal]\nnotify_command = '{command}'\n")
    program = halo.root / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$@" >> "$HOME/told"\n')
    program.chmod(0o700)
    hostile = {"call": [shell("touch '<a href=x>made</a>'", risky=True)]}
    path = {"PATH": f"{program.parent}:{halo.env['PATH']}"}
    task = await background.start("--approval-mode", "auto", "-m", halo.script(hostile), "<b>go", env=path)
    told = await until_written(halo.root / "told")
    assert told == f"--app-name=Halocline|--|Halocline: a task needs you|halo attach {task}|"
    waits = await halo.run("logs", task)
    assert f"Answer: halo attach {task}" in waits.err


@pytest.mark.parametrize("allows", ["true", "false"])
async def test_a_person_is_needed_only_once_the_judge_has_not_allowed_it(
    halo: Halo, background: Background, allows: str
) -> None:
    judge = halo.root / "judge.toml"
    judge.write_text(f"""summary = '{{"allow": {allows}, "reason": "Because."}}'\n[[turn]]\ntext = ''\n""")
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text(f"[judge]\nmodel = 'scripted/{judge}'\nrule = 'Edits are fine.'\n")
    write = {"call": [call("write_to_file", path="made.txt", content="x")]}
    task = await background.start("--approval-mode", "ask", "-m", halo.script(write, HI), "go")
    await background.until_said("waits for you" if allows == "false" else "is closed")
    assert ("waits for you" in background.output) == (allows == "false")
    assert any(isinstance(event, ev.ApprovalJudged) for event in halo.log(task))


async def test_the_output_of_the_process_does_not_grow_without_end(halo: Halo, background: Background) -> None:
    log = halo.home / "logs" / "background.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * 2_000_000)
    await background.start("-m", halo.script(HI), "go")
    await background.until_over()
    assert log.stat().st_size < 2_000


async def test_a_live_screen_is_left_by_one_key_and_the_task_runs_on(halo: Halo, background: Background) -> None:
    task = await background.start("-y", "-m", halo.script(WAITS, HI), "first")
    await until_written(halo.folder / "began")
    terminal = TmuxTerminal(halo, 100, 30)
    try:
        terminal.runs(shlex.join([*HALO, "attach", task])).sees("running echo began")
        terminal.presses("C-d").sees(f"Left task {task}")
    finally:
        terminal.close()
    (halo.folder / "go").touch()
    await background.until_over()
    assert halo.state(task).last_end.reason is StopReason.END_TURN


async def test_a_joined_terminal_cannot_make_a_task_in_the_background_ask_less(
    halo: Halo, background: Background
) -> None:
    task = await background.start("--approval-mode", "ask", "-m", halo.script(RISKY, HI), "first")
    await background.until_said("waits for you")
    async with guest(halo) as ann:
        ann.send(cmd.SetPolicy, approval_mode=ApprovalMode.YOLO)
        while "in the background" not in (await ann.until(ev.Noticed)).text:
            pass
    assert halo.state(task).permissions.approval_mode is ApprovalMode.ASK
