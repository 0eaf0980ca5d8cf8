"""Several processes on one task: one writes, the others look on, take part, and take over."""

import asyncio
import os
import signal
import socket
import stat
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pexpect
import pytest
from tests.surfaces.cli.halo_process import Halo, call, ended, line_with, shell, until_written

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import Choice
from halocline.protocol.messages import StopReason, Text
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.controller import Controller, TaskOptions
from halocline.surfaces.cli.plain.line_menu import CHOICE
from halocline.surfaces.cli.plain.line_mode import LineMode
from halocline.surfaces.slash.context import SlashContext
from halocline.surfaces.slash.queue import answer_queue

HI = {"text": "Hello."}
WAITS = {"call": [shell("echo began > began; while [ ! -e go ]; do sleep 0.05; done")]}
RISKY = {"call": [shell("touch made", risky=True)]}
FOR_EVER = {"call": [shell("echo began > began; sleep 1000")]}
LIMIT = 30


@asynccontextmanager
async def guest(halo: Halo, name: str = "guest", *, asks: bool = True) -> AsyncIterator["Guest"]:
    """Another client of the same home, in this process, attached to its only task."""
    client = Client(Controller(Assembly.of(Choices(), halo.env)), name)
    try:
        async with asyncio.timeout(LIMIT):
            while not halo.tasks:
                await asyncio.sleep(0.01)
            task = await client.join(halo.tasks[0], TaskOptions(attended=asks, asks_again=asks))
        yield Guest(client, task)
    finally:
        await client.close()


@pytest.fixture(autouse=True)
async def no_connection_is_left_open() -> AsyncIterator[None]:
    """Looks when all guests have gone: the one who stays longer may take the task over, and open its socket."""
    before = sockets()
    yield
    async with asyncio.timeout(LIMIT):
        while sockets() - before:
            await asyncio.sleep(0.01)


def sockets() -> set[tuple[int, int]]:
    """The stream sockets that this process has open. That of the fork server, which stays, is none."""
    found = set()
    for file in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # the listing itself is closed by now
            info = os.fstat(file)
            if stat.S_ISSOCK(info.st_mode):
                with socket.socket(fileno=os.dup(file)) as opened:
                    found |= {(file, info.st_ino)} if opened.type == socket.SOCK_STREAM else set()
    return found


@asynccontextmanager
async def writing(halo: Halo, *words: str, begun: bool = True) -> AsyncIterator[Process]:
    """A process that does a prompt, and has begun its first command."""
    process = await halo.start("run", "-p", *words, "first")
    try:
        if begun:
            await until_written(halo.folder / "began")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def shows(terminal: pexpect.spawn, text: str) -> None:
    await asyncio.to_thread(terminal.expect, text)


class Guest:
    def __init__(self, client: Client, task: str) -> None:
        self.client = client
        self.task = task
        self.seen: list[ev.Event] = []
        self._events = client.events(task)

    async def until(self, kind: type, count: int = 1) -> ev.Event:
        """The next event of a kind, from the beginning of the task on."""
        async with asyncio.timeout(LIMIT):
            async for event in self._events:
                self.seen.append(event)
                if isinstance(event, kind) and (count := count - 1) == 0:
                    return event
        raise AssertionError(f"the task ended without {kind.__name__}")

    def send(self, kind: type, **what: object) -> None:
        self.client.send(kind(task=self.task, **what))

    def allow(self, asked: ev.Event) -> None:
        self.send(cmd.ResolveApproval, request=asked.request, decision=Choice.ALLOW_ONCE)

    @property
    def durable(self) -> list[ev.Durable]:
        return [event for event in self.seen if isinstance(event, ev.Durable)]


async def test_two_attached_clients_see_the_same_and_one_of_them_approves(halo: Halo) -> None:
    model = halo.script(WAITS, RISKY, HI)
    async with writing(halo, "--approval-mode", "auto", "-m", model) as writer:
        async with guest(halo, "ann") as ann, guest(halo, "ben") as ben:
            (halo.folder / "go").touch()
            asked = await ann.until(ev.ApprovalRequested)
            assert await ben.until(ev.ApprovalRequested) == asked
            ben.allow(asked)
            decided = await ann.until(ev.ApprovalResolved)
            assert (decided.client, decided.decision) == (f"ben {os.getpid()}", Choice.ALLOW_ONCE)
            await ann.until(ev.TurnEnded)
            await ben.until(ev.TurnEnded)
            assert (await ended(writer)).out == "Hello.\n"
            assert ann.durable == ben.durable == halo.log()[: len(ann.durable)]
        assert (halo.folder / "made").exists()


async def test_whoever_leaves_at_once_leaves_no_connection_behind(halo: Halo) -> None:
    async with writing(halo, "-y", "-m", halo.script(FOR_EVER)), guest(halo):
        pass


async def test_a_second_process_is_told_who_has_the_task(halo: Halo) -> None:
    async with writing(halo, "-y", "-m", halo.script(FOR_EVER)) as writer:
        other = await halo.run("run", "-p", "-r", halo.tasks[0], "go")
    assert other.code == 1
    assert f"pid {writer.pid}" in other.err
    assert "Traceback" not in other.err


async def test_an_attached_client_sees_words_as_they_come_and_those_that_came_before_it(halo: Halo) -> None:
    words = "one two three four five six seven"
    model = halo.script({"text": words, "pace": 0.3, "chunk": 4})
    async with writing(halo, "-m", model, begun=False):
        while not halo.tasks or not [event for event in halo.log() if isinstance(event, ev.StepStarted)]:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.7)
        async with guest(halo) as ann:
            await ann.until(ev.TurnEnded)
    deltas = [event.text for event in ann.seen if isinstance(event, ev.TextDelta)]
    assert "".join(deltas) == words
    assert len(deltas[0]) > 4
    assert len(deltas) > 1


async def test_when_the_writer_is_killed_an_attached_client_goes_on_with_the_task(halo: Halo) -> None:
    model = halo.script(FOR_EVER, HI)
    async with writing(halo, "-y", "-m", model) as writer:
        async with guest(halo) as ann:
            assert ann.client.is_attached(ann.task)
            writer.kill()
            assert (await ann.until(ev.TurnEnded)).reason is StopReason.CANCELLED
            assert not ann.client.is_attached(ann.task)
            ann.send(cmd.SubmitPrompt, content=(Text("again"),))
            assert (await ann.until(ev.TurnEnded)).reason is StopReason.END_TURN
            assert ann.durable == halo.log()
        assert [event.seq for event in halo.log()] == list(range(1, len(halo.log()) + 1))


async def test_who_takes_over_is_asked_again_what_the_killed_writer_had_asked(halo: Halo) -> None:
    model = halo.script(WAITS, RISKY, HI)
    async with writing(halo, "--approval-mode", "auto", "-m", model) as writer:
        async with guest(halo) as ann:
            (halo.folder / "go").touch()
            first = await ann.until(ev.ApprovalRequested)
            writer.kill()
            again = await ann.until(ev.ApprovalRequested)
            assert (again.call, again.title) == (first.call, first.title)
            assert again.request != first.request
            assert not (halo.folder / "made").exists()
            ann.allow(again)
            assert (await ann.until(ev.TurnEnded)).reason is StopReason.END_TURN
        assert (halo.folder / "made").exists()
        assert len([event for event in halo.log() if isinstance(event, ev.TurnStarted)]) == 1


async def test_a_terminal_that_takes_over_shows_the_question_anew_and_takes_the_answer(halo: Halo) -> None:
    model = halo.script(WAITS, RISKY, HI)
    async with writing(halo, "--approval-mode", "auto", "-m", model) as writer:
        second = halo.terminal("attach", halo.tasks[0])
        await shows(second, "running")
        (halo.folder / "go").touch()
        await shows(second, "allow once")
        writer.kill()
        await shows(second, "allow once")
        await shows(second, CHOICE)
        second.send("y\r")
        await shows(second, "Hello")
        await shows(second, "What should I do?")
        second.send("\x04")
        await shows(second, pexpect.EOF)
        assert (halo.folder / "made").exists()


async def test_resuming_a_task_that_is_open_elsewhere_joins_it_in_place(halo: Halo) -> None:
    model = halo.script({"text": "The first answer."}, {"text": "The second answer."})
    first = halo.terminal("-m", model, "one")
    await shows(first, "What should I do?")
    busy = halo.tasks[0]
    second = halo.terminal("-m", model)
    await shows(second, "What should I do?")
    second.send(f"/resume {busy}\r")
    await shows(second, "Joined task")
    await shows(second, "What should I do?")
    second.send("two\r")
    await shows(first, "The second answer")
    await shows(second, "The second answer")
    await shows(second, "What should I do?")
    second.send("\x04")
    await shows(second, "continues it")
    await shows(second, pexpect.EOF)
    assert halo.tasks == [busy]
    await shows(first, "What should I do?")
    first.send("\x04")
    await shows(first, pexpect.EOF)


async def test_of_two_attached_clients_one_takes_over_and_the_other_joins_it(halo: Halo) -> None:
    model = halo.script(FOR_EVER, HI)
    async with writing(halo, "-y", "-m", model) as writer, guest(halo, "ann") as ann, guest(halo, "ben") as ben:
        writer.kill()
        await ann.until(ev.TurnEnded)
        await ben.until(ev.TurnEnded)
        assert ann.client.is_attached(ann.task) != ben.client.is_attached(ben.task)
        ann.send(cmd.SubmitPrompt, content=(Text("again"),))
        await ann.until(ev.TurnEnded)
        await ben.until(ev.TurnEnded)
        assert ann.durable == ben.durable == halo.log()


async def test_when_the_last_who_can_be_asked_leaves_nobody_answers(halo: Halo) -> None:
    model = halo.script(WAITS, RISKY, HI)
    async with writing(halo, "--approval-mode", "auto", "-m", model) as writer:
        async with guest(halo) as ann:
            (halo.folder / "go").touch()
            await ann.until(ev.ApprovalRequested)
        done = await ended(writer)
        assert (done.code, (halo.folder / "made").exists()) == (4, False)


async def test_an_answer_that_comes_too_late_says_so_to_who_gave_it(halo: Halo) -> None:
    model = halo.script(WAITS, HI)
    async with writing(halo, "-y", "-m", model), guest(halo, "ann") as ann, guest(halo, "ben") as ben:
        ann.send(cmd.AnswerQuestion, request="q1", answer="yes")
        await ann.until(ev.Noticed)
        while "Too late" not in ann.seen[-1].text:
            await ann.until(ev.Noticed)
        (halo.folder / "go").touch()
        await ben.until(ev.TurnEnded)
        assert not [event for event in ben.seen if isinstance(event, ev.Noticed) and "Too late" in event.text]


async def test_who_only_looks_on_does_not_become_the_writer(halo: Halo) -> None:
    model = halo.script(WAITS, HI)
    async with writing(halo, "-y", "-m", model) as writer:
        watching = await halo.start("attach", halo.tasks[0])
        await line_with(watching, "first")
        (halo.folder / "go").touch()
        assert (await ended(writer)).code == 0
        done = await ended(watching)
        assert (done.code, done.err, "Hello." in done.out) == (0, "", True)


async def test_a_task_that_nobody_has_open_cannot_be_watched(halo: Halo) -> None:
    await halo.run("run", "-p", "-m", halo.script(HI), "first")
    done = await halo.run("attach", halo.tasks[0])
    assert (done.code, done.out) == (2, "")
    assert f"Task {halo.tasks[0]} is not open in any process" in done.err


async def test_a_home_with_a_long_name_has_doors_too(halo: Halo) -> None:
    halo.home = halo.root / ("long" * 30)
    halo.env["HALOCLINE_HOME"] = str(halo.home)
    model = halo.script(WAITS, HI)
    async with writing(halo, "-y", "-m", model), guest(halo) as ann:
        (halo.folder / "go").touch()
        assert (await ann.until(ev.TurnEnded)).reason is StopReason.END_TURN


async def test_the_door_is_for_its_owner_alone_and_is_gone_with_the_writer(halo: Halo) -> None:
    model = halo.script(WAITS, HI)
    async with writing(halo, "-y", "-m", model) as writer:
        async with guest(halo, asks=False):
            door = halo.home / "tasks" / halo.tasks[0] / "door"
            assert door.is_socket()
            assert (stat.S_IMODE(door.stat().st_mode), stat.S_IMODE(door.parent.stat().st_mode)) == (0o600, 0o700)
            (halo.folder / "go").touch()
            await ended(writer)
        assert not door.exists()


async def test_a_second_terminal_joins_and_both_show_what_either_asks_for(halo: Halo) -> None:
    model = halo.script({"text": "The first answer."}, {"text": "The second answer."}, {"text": "The third answer."})
    first = halo.terminal("-m", model, "one")
    await shows(first, "The first answer")
    second = halo.terminal("-r", halo.tasks[0])
    await shows(second, "Join it")
    second.sendline("y")
    await shows(second, "What should I do?")
    second.send("two\r")
    await shows(second, "The second answer")
    await shows(first, "The second answer")
    await shows(first, "What should I do?")
    first.send("three\r")
    await shows(second, "The third answer")
    await shows(second, "What should I do?")
    second.send("\x04")
    await shows(second, "continues it")
    await shows(first, "What should I do?")
    first.send("\x04")
    await shows(first, pexpect.EOF)


async def test_an_approval_on_two_terminals_is_gone_from_both_when_one_decides(halo: Halo) -> None:
    model = halo.script(WAITS, RISKY, HI)
    first = halo.terminal("--approval-mode", "auto", "-m", model, "one")
    await until_written(halo.folder / "began")
    second = halo.terminal("attach", halo.tasks[0])
    await shows(second, "running")
    (halo.folder / "go").touch()
    await shows(first, "allow once")
    await shows(second, "allow once")
    await shows(second, CHOICE)
    second.send("y\r")
    await shows(first, "Hello")
    await shows(second, "Hello")
    assert (halo.folder / "made").exists()
    for terminal in (second, first):
        await shows(terminal, "What should I do?")
        terminal.send("\x04")
        await shows(terminal, pexpect.EOF)


async def test_a_terminal_that_joined_takes_over_when_the_other_is_killed(halo: Halo) -> None:
    model = halo.script(FOR_EVER, {"text": "The second answer."})
    async with writing(halo, "-y", "-m", model) as writer:
        second = halo.terminal("attach", halo.tasks[0])
        await shows(second, "running")
        writer.kill()
        await shows(second, "What should I do?")
        second.send("two\r")
        await shows(second, "The second answer")
        await shows(second, "What should I do?")
        second.send("\x04")
        await shows(second, pexpect.EOF)
        assert halo.state().turn is None


async def test_from_a_joined_task_one_goes_on_to_a_new_one_and_what_stayed_empty_leaves_no_trace(halo: Halo) -> None:
    model = halo.script({"text": "The first answer."})
    first = halo.terminal("-m", model, "one")
    await shows(first, "What should I do?")
    second = halo.terminal("attach", halo.tasks[0])
    await shows(second, "What should I do?")
    second.send("/nosuchword\r")
    await shows(second, "There is no slash command")
    await shows(second, "What should I do?")
    second.send("/clear\r")
    await shows(second, "New task.")
    await shows(second, "What should I do?")
    second.send("\x04")
    await shows(second, pexpect.EOF)
    assert len(halo.tasks) == 1
    first.send("\x04")
    await shows(first, pexpect.EOF)


async def test_what_was_typed_when_another_client_handed_the_work_over_is_there_in_the_new_task(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('extra_tools = ["new_task"]\n')
    first = halo.terminal("-m", halo.script(HI, {"call": [call("new_task", context="All of it.")]}), "one")
    await shows(first, "What should I do?")
    first.send("half typed")
    await shows(first, "half typed")
    async with guest(halo) as other:
        other.send(cmd.SubmitPrompt, content=(Text("hand it over"),))
        asked = await other.until(ev.QuestionAsked)
        other.send(cmd.AnswerQuestion, request=asked.request, answer="Start the new task")
        await shows(first, "Handed over by task")
        await shows(first, "done")
        await shows(first, "half typed")
    first.send("\x03\x04")
    await shows(first, pexpect.EOF)


async def test_what_was_typed_when_another_terminal_began_a_turn_is_there_again(halo: Halo) -> None:
    model = halo.script({"text": "The first answer."}, {"text": "The second answer."})
    first = halo.terminal("-m", model, "one")
    await shows(first, "What should I do?")
    second = halo.terminal("attach", halo.tasks[0])
    await shows(second, "What should I do?")
    second.send("half typed")
    await shows(second, "half typed")
    first.send("two\r")
    await shows(second, "The second answer")
    await shows(second, "half typed")
    second.send("\x03\x04")
    await shows(second, pexpect.EOF)
    await shows(first, "What should I do?")
    first.send("\x04")
    await shows(first, pexpect.EOF)


async def test_the_list_names_a_task_that_waits_for_an_approval(halo: Halo) -> None:
    terminal = halo.terminal("--approval-mode", "auto", "-m", halo.script(RISKY, HI), "one")
    await shows(terminal, "allow once")
    assert "  needs you    one" in (await halo.run("tasks", "list")).out
    terminal.kill(signal.SIGKILL)
    await shows(terminal, pexpect.EOF)
    assert "  needs you    one" in (await halo.run("tasks", "list")).out


async def test_of_two_who_delete_a_waiting_message_one_learns_that_it_was_too_late(halo: Halo) -> None:
    async with (
        writing(halo, "--approval-mode", "auto", "-m", halo.script(WAITS, HI)),
        guest(halo, "ann") as ann,
        guest(halo, "ben") as ben,
    ):
        ann.send(cmd.SubmitPrompt, content=(Text("and then"),))
        await ann.until(ev.MessageQueued)
        await ben.until(ev.MessageQueued)
        view = LineMode(attended=False)
        contexts = [SlashContext(one.client, one.task, view) for one in (ann, ben)]
        answers = await asyncio.gather(*(answer_queue(context, "delete 1") for context in contexts))
        assert sorted(map(str, answers)) == ["Deleted: and then", "Too late, it waits no more: and then"]
        (halo.folder / "go").touch()
