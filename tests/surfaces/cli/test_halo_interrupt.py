"""Ctrl-C and other signals: every call has its end, nothing goes on running, and the task can be taken up again."""

import asyncio
import fcntl
import json
import os
import signal
import sys
import termios
from asyncio.subprocess import Process
from pathlib import Path

import pytest
from tests.servers.model_server import Fault, ModelServer, Turn
from tests.surfaces.cli.halo_process import LIMIT, Halo, asks, ended, line_with, shell, until_written

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State

HI = {"text": "Hello."}
AGAIN = {"text": "Welcome back."}
STUBBORN = "trap '' TERM INT; (trap '' TERM INT; echo $BASHPID > inner; sleep 1000) & echo $$ > outer; sleep 1000"


def is_settled(state: State) -> bool:
    return (state.turn, state.pending.calls, state.pending.approvals, state.pending.questions) == (None, (), (), ())


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rsplit(")", 1)[1].split()[0] not in ("Z", "X")


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(LIMIT):
        while runs(pid):
            await asyncio.sleep(0.01)


async def running_command(halo: Halo, *flags: str) -> tuple[Process, list[int]]:
    """A task whose command, and a child of it, run and want no end."""
    process = await halo.start("-y", *flags, "-m", halo.script({"call": [shell(STUBBORN)]}, AGAIN), "hi")
    return process, [int(await until_written(halo.folder / name)) for name in ("inner", "outer")]


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
async def test_ctrl_c_in_a_streaming_reply_hangs_up_and_keeps_what_was_said(halo: Halo, vendor: str) -> None:
    async with ModelServer([Turn(text="Let me think about this. " * 40, pace=0.02), Turn(text="Back.")]) as server:
        process = await halo.start("--output-format", "json", *asks(server, vendor), "hi")
        await server.received()
        await asyncio.sleep(0.2)  # some words are there
        process.send_signal(signal.SIGINT)
        done = await ended(process)
        async with asyncio.timeout(LIMIT):
            await server.disconnected()
        again = await halo.run("-c", "-p", *asks(server, vendor), "go on")
    assert (done.code, done.result["stop_reason"]) == (130, "cancelled")
    assert done.result["text"].startswith("Let me think")
    assert (again.code, again.out) == (0, "Back.\n")


async def test_ctrl_c_in_a_command_leaves_nothing_of_it_running(halo: Halo) -> None:
    process, pids = await running_command(halo, "-p")
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).code == 130
    for pid in pids:
        await until_gone(pid)
    assert is_settled(halo.state())


async def test_an_interrupted_command_is_answered_and_the_task_goes_on(halo: Halo) -> None:
    process, _ = await running_command(halo, "-p")
    process.send_signal(signal.SIGINT)
    await ended(process)
    expects = {**HI, "expect": "outcome is unknown"}
    done = await halo.run("-c", "-p", "-m", halo.script({}, expects, name="later"), "Continue.")
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_ctrl_c_before_a_retry_ends_the_wait(halo: Halo) -> None:
    async with ModelServer([Turn(fault=Fault.OVERLOADED, retry_after=30)]) as server:
        process = await halo.start("-p", *asks(server), "hi")
        await server.received()
        await asyncio.sleep(0.2)  # the wait has begun
        process.send_signal(signal.SIGINT)
        done = await ended(process)
    assert done.code == 130
    assert is_settled(halo.state())


async def test_a_second_ctrl_c_quits_and_every_end_is_written(halo: Halo) -> None:
    process, pids = await running_command(halo, "-p")
    process.send_signal(signal.SIGINT)
    await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).code == 130
    for pid in pids:
        await until_gone(pid)
    assert is_settled(halo.state())


async def test_who_tells_it_twice_to_quit_sees_no_trace_and_still_has_every_end(halo: Halo) -> None:
    process, _ = await running_command(halo, "-p")
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    done = await ended(process)
    assert (done.code, done.err) == (130, "")
    assert is_settled(halo.state())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_to_quit_writes_every_end_and_the_result(halo: Halo, number: signal.Signals) -> None:
    process, pids = await running_command(halo, "--output-format", "stream-json")
    process.send_signal(number)
    done = await ended(process)
    assert (done.code, done.result["exit_code"], done.result["stop_reason"]) == (130, 130, "cancelled")
    shown = done.out.encode().splitlines()[:-1]
    assert shown == halo.raw_log()[: len(shown)]
    assert shown[-1].startswith(b'{"type":"turn_ended"')
    for pid in pids:
        await until_gone(pid)
    assert is_settled(halo.state())


def count_unread(pipe: int) -> int:
    """Return the number of bytes in a pipe that nobody has read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


async def test_ctrl_c_while_waiting_for_piped_text_quits(halo: Halo) -> None:
    reading, writing = os.pipe()
    try:
        process = await halo.start("-p", "-m", halo.script(HI), stdin=reading)
        os.write(writing, b"half of a ")
        while count_unread(reading):
            await asyncio.sleep(0.01)
        process.send_signal(signal.SIGINT)
        done = await ended(process)
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.code, done.out, done.err) == (130, "", "")


@pytest.mark.parametrize("delay", [0, 0.03, 0.06, 0.1, 0.2])
async def test_ctrl_c_at_any_moment_leaves_a_whole_log(halo: Halo, delay: float) -> None:
    calls = [shell(f"echo {number}") for number in range(3)]
    turns = [{"text": "I think. " * 9, "pace": 0.01, "call": calls}] * 3
    process = await halo.start("-y", "--output-format", "stream-json", "-m", halo.script(*turns, HI), "hi")
    await line_with(process, "task_started")
    await asyncio.sleep(delay)
    process.send_signal(signal.SIGINT)
    done = await ended(process)
    assert (done.code, done.err) == (130, "")
    assert is_settled(halo.state())


async def test_a_killed_stream_showed_nothing_that_is_not_in_the_log(halo: Halo) -> None:
    turns = [{"text": f"Number {number}. " * 9, "pace": 0.003, "call": [shell("true")]} for number in range(9)]
    model = halo.script(*turns, HI)
    for lines in (2, 5, 9, 14):
        process = await halo.start("-y", "--output-format", "stream-json", "-m", model, "hi")
        shown = [await line_with(process, "") for _ in range(lines)]
        process.kill()
        shown += (await ended(process)).out.splitlines(keepends=True)
        task = json.loads(shown[0])["task"]
        whole = [line.encode() for line in shown if line.endswith("\n")]
        assert [line.rstrip(b"\n") for line in whole] == halo.raw_log(task)[: len(whole)]


async def test_a_task_killed_in_a_reply_goes_on(halo: Halo) -> None:
    model = halo.script({"text": "Let me think. " * 99, "pace": 0.02}, HI)
    process = await halo.start("--output-format", "stream-json", "-m", model, "hi")
    await line_with(process, "step_started")
    process.kill()
    await ended(process)
    done = await halo.run("-c", "-p", "-m", halo.script(HI, HI, name="later"), "go on")
    assert (done.code, done.out) == (0, "Hello.\n")
    ends = [event.reason for event in halo.log() if isinstance(event, ev.TurnEnded)]
    assert ends == [StopReason.CANCELLED, StopReason.END_TURN]


async def test_a_command_that_was_killed_with_its_task_is_not_run_again(halo: Halo) -> None:
    once = {"call": [shell("echo ran >> runs; sleep 2")]}
    process = await halo.start("-y", "--output-format", "stream-json", "-m", halo.script(once), "hi")
    await until_written(halo.folder / "runs")
    process.kill()
    await ended(process)
    model = halo.script(once, {**HI, "expect": ["outcome is unknown", "go on"]}, name="later")
    done = await halo.run("-c", "-y", "-p", "-m", model, "go on")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert (halo.folder / "runs").read_text() == "ran\n"
    assert [event.status for event in halo.log() if isinstance(event, ev.ToolCallEnded)] == ["cancelled"]
