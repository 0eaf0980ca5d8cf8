import asyncio
import io
import os
import signal
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pexpect
import pytest
from msgspec.structs import replace
from rich.console import Console

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Diff, Grant, Mode, Scope, ToolKind
from halocline.protocol.messages import AssistantMessage, Image, ToolCall
from halocline.store.paths import Home
from halocline.surfaces.cli.plain.key_menu import KeyMenu
from halocline.surfaces.cli.plain.keyboard import BEAT, Keyboard
from halocline.surfaces.terminal.asking.approval_prompt import Asker, Decision
from halocline.surfaces.terminal.composing.prompt import Prompt, type_keys
from halocline.surfaces.terminal.drawing.screen import Screen

ARGUMENTS = {"command": "pytest -q", "requires_approval": True}
COMMAND = ev.ApprovalRequested(
    "r1",
    "c1",
    "execute_command",
    "pytest -q",
    ToolKind.EXECUTE,
    "ask mode asks before every command",
    tuple(Choice),
    "pytest -q",
    grant=Grant(ToolKind.EXECUTE, "pytest -q"),
)
LONG = Diff("a.txt", "@@ -0,0 +1,60 @@\n" + "".join(f"+line {number}\n" for number in range(1, 61)), 60, 0)
EDIT = ev.ApprovalRequested(
    "r1", "c1", "write_to_file", "Write a.txt", ToolKind.EDIT, "ask mode", tuple(Choice), diffs=(LONG,)
)


class Output(io.StringIO):
    """What the screen wrote; says when a menu of keys was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.menus = asyncio.Semaphore(0)

    def write(self, text: str) -> int:
        if "  esc " in text:
            self.menus.release()
        return super().write(text)


class Terminal:
    """A pseudo-terminal and its typist, who waits for the menu before pressing a key."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        self.output = Output()
        self.screen = Screen(Console(file=self.output, width=80))
        call = ToolCall("c1", "execute_command", dict(ARGUMENTS))
        self.screen.show(ev.AssistantMessageCompleted(AssistantMessage((call,))))

    def asker(self, *lines: str | None) -> Asker:
        typed = list(lines)

        async def line(keyboard: Keyboard, prompt: str, initial: str, hint: str) -> str | None:
            return typed.pop(0)

        self.keyboard = Keyboard(self.slave, silence=0, alone=0)
        return Asker(self.screen, KeyMenu(self.screen, self.keyboard, line=line))

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.output.menus.acquire()
            await turns()  # of the event loop, in which the keys are armed
            os.write(self.master, key.encode())


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    os.close(terminal.slave)
    with suppress(OSError):
        os.close(terminal.master)


async def approve(
    terminal: Terminal,
    keys: list[str],
    *lines: str | None,
    event: ev.ApprovalRequested = COMMAND,
    messages: tuple[Prompt | None, ...] = (),
) -> Decision:
    written = list(messages)

    async def write() -> Prompt | None:
        return written.pop(0)

    async with asyncio.timeout(5):
        decision, _ = await asyncio.gather(terminal.asker(*lines).ask_approval(event, write), terminal.press(*keys))
    return decision


async def no_message() -> Prompt | None:
    return None


PICTURE = Image("image/png", "b" * 64)
MESSAGE = Prompt("as in [picture 1] ", Mode.ACT, (PICTURE,))
SAID = {"note": "as in [picture 1]", "content": (PICTURE,)}


@pytest.mark.parametrize(
    ("keys", "lines", "messages", "decision"),
    [
        (["t", "y"], [], [MESSAGE], Decision(Choice.ALLOW_ONCE, **SAID)),
        (["t", "a"], [], [MESSAGE], Decision(Choice.ALLOW_ALWAYS, **SAID)),
        (["t", "n"], [], [MESSAGE], Decision(Choice.REJECT_ONCE, **SAID)),
        (["t", "t", "n"], [], [MESSAGE, None], Decision(Choice.REJECT_ONCE, **SAID)),
        (["t", "n"], ["why"], [None], Decision(Choice.REJECT_ONCE, "why")),
        (["t", "\x1b"], [], [MESSAGE], Decision(Choice.REJECT_ONCE, stop=True)),
        (
            ["t", "e"],
            ["pytest"],
            [MESSAGE],
            Decision(Choice.ALLOW_ONCE, arguments={**ARGUMENTS, "command": "pytest"}, **SAID),
        ),
    ],
)
async def test_a_message_and_its_pictures_go_with_the_decision(
    terminal: Terminal, keys: list[str], lines: list[str], messages: list[Prompt | None], decision: Decision
) -> None:
    assert await approve(terminal, keys, *lines, messages=tuple(messages)) == decision


@pytest.mark.parametrize(
    ("keys", "lines", "decision"),
    [
        (["y"], [], Decision(Choice.ALLOW_ONCE)),
        (["a"], [], Decision(Choice.ALLOW_ALWAYS)),
        (["n"], ["not now "], Decision(Choice.REJECT_ONCE, "not now")),
        (["n"], [""], Decision(Choice.REJECT_ONCE)),
        (["n", "y"], [None], Decision(Choice.ALLOW_ONCE)),
        (["e"], ["pytest"], Decision(Choice.ALLOW_ONCE, arguments={"command": "pytest", "requires_approval": True})),
        (["e"], ["pytest -q"], Decision(Choice.ALLOW_ONCE)),
        (["e", "\x1b"], [" "], Decision(Choice.REJECT_ONCE, stop=True)),
        (["\x1b"], [], Decision(Choice.REJECT_ONCE, stop=True)),
    ],
)
async def test_each_key_means_what_the_menu_says(
    terminal: Terminal, keys: list[str], lines: list[str | None], decision: Decision
) -> None:
    assert await approve(terminal, keys, *lines) == decision


@pytest.mark.parametrize("noise", ["x", "\r", "\x1b[A", "yes please", "1"])
async def test_other_keys_arrows_and_pasted_text_decide_nothing(terminal: Terminal, noise: str) -> None:
    async with asyncio.timeout(5):
        keyboard = Keyboard(terminal.slave, silence=0, alone=0)
        key = asyncio.create_task(keyboard.choose("ya"))
        await turns()
        os.write(terminal.master, noise.encode())
        await asyncio.sleep(BEAT)
        os.write(terminal.master, b"a")
        assert await key == "a"
    keyboard.close()


async def test_what_was_typed_before_the_question_decides_nothing(terminal: Terminal) -> None:
    os.write(terminal.master, b"y")
    async with asyncio.timeout(5):
        keyboard = Keyboard(terminal.slave, silence=0.2, alone=0)
        key = asyncio.create_task(keyboard.choose("ya"))
        await asyncio.sleep(0.6)
        os.write(terminal.master, b"a")
        assert await key == "a"
    keyboard.close()


async def test_a_key_counts_only_in_silence_since_the_last_one_and_before_the_next(terminal: Terminal) -> None:
    async with asyncio.timeout(20):
        keyboard = Keyboard(terminal.slave, silence=0.5, alone=0.3)
        key = asyncio.create_task(keyboard.choose("ya"))
        for typed in "yayayayaya":
            await asyncio.sleep(0.1)
            os.write(terminal.master, typed.encode())
        await asyncio.sleep(1)
        os.write(terminal.master, b"a")  # the beginning of a word
        await asyncio.sleep(0.1)
        os.write(terminal.master, b"n")
        await asyncio.sleep(1)
        os.write(terminal.master, b"y")
        assert await key == "y"
        assert keyboard.take_draft() == "yayayayayaan"
    keyboard.close()


async def test_a_busy_program_takes_no_stall_for_silence(terminal: Terminal) -> None:
    async with asyncio.timeout(20):
        keyboard = Keyboard(terminal.slave, silence=0.5, alone=0)
        key = asyncio.create_task(keyboard.choose("ya"))
        await turns()
        asyncio.get_running_loop().call_soon(time.sleep, 1)  # the event loop stands still
        await turns()
        os.write(terminal.master, b"y")
        await asyncio.sleep(1)
        assert not key.done()
        os.write(terminal.master, b"a")
        assert await key == "a"
    keyboard.close()


async def test_impatient_keys_of_the_menu_are_no_draft_but_words_are(terminal: Terminal) -> None:
    async with asyncio.timeout(20):
        keyboard = Keyboard(terminal.slave, silence=0.3, alone=0)
        for early, draft in [(b"yy\r", ""), (b"yes, but\r", "yes, but")]:
            key = asyncio.create_task(keyboard.choose("ya"))
            await turns()
            os.write(terminal.master, early)
            await asyncio.sleep(1)
            os.write(terminal.master, b"y")
            assert await key == "y"
            assert keyboard.take_draft() == draft
    keyboard.close()


@pytest.mark.parametrize(
    ("typed", "draft"),
    [
        ("one two", "one two"),
        ("one\rtwo\r", "one\ntwo\n"),
        ("onn\x7fe", "one"),
        ("one two\x17", "one "),
        ("a line\rone two\x15", "a line\n"),
        ("\x1b[Aup\x1bOB\x1b", "up"),
        ("\x01\x0c\x12naïve ✓", "naïve ✓"),
    ],
)
def test_a_draft_is_typed_as_in_a_line(typed: str, draft: str) -> None:
    assert type_keys("", typed) == draft


async def test_the_terminal_is_given_back_when_asking_is_cancelled(terminal: Terminal) -> None:
    before = termios.tcgetattr(terminal.slave)
    asking = asyncio.create_task(terminal.asker().ask_approval(COMMAND, no_message))
    await terminal.output.menus.acquire()
    await turns()
    assert termios.tcgetattr(terminal.slave) != before
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    terminal.keyboard.close()
    assert termios.tcgetattr(terminal.slave) == before


async def test_the_end_of_input_is_a_no(terminal: Terminal) -> None:
    assert await approve(terminal, ["\x04"]) == Decision(Choice.REJECT_ONCE, stop=True)


async def test_a_terminal_that_goes_away_is_a_no(terminal: Terminal) -> None:
    async with asyncio.timeout(5):
        asking = asyncio.create_task(terminal.asker().ask_approval(COMMAND, no_message))
        await terminal.output.menus.acquire()
        await turns()
        os.close(terminal.master)
        assert await asking == Decision(Choice.REJECT_ONCE, stop=True)


async def test_the_card_shows_the_command_the_rule_and_the_exact_grant(terminal: Terminal) -> None:
    await approve(terminal, ["y"])
    shown = terminal.output.getvalue()
    assert "$ pytest -q\n│ ask mode asks before every command\n" in shown
    assert "  a   always allow `pytest -q` in this task\n" in shown


async def test_the_card_is_printed_once_when_the_screen_has_shown_the_event(terminal: Terminal) -> None:
    terminal.screen.show(COMMAND)
    await approve(terminal, ["y"])
    assert terminal.output.getvalue().count("$ pytest -q\n") == 1


async def test_an_edit_offers_no_command_to_change(terminal: Terminal) -> None:
    await approve(terminal, ["y", "y"], event=EDIT)
    assert "edit the command" not in terminal.output.getvalue()


async def test_a_diff_that_was_cut_can_be_seen_whole_before_deciding(terminal: Terminal) -> None:
    await approve(terminal, ["d", "y"], event=EDIT)
    first, second = terminal.output.getvalue().split("± Write a.txt")[1:]
    assert "… 20 more lines" in first
    assert "line 60" in second
    assert "show the full diff" not in second


@pytest.mark.parametrize(
    ("keys", "lines", "answer"),
    [(["2"], [], "JSON"), (["t"], ["neither"], "neither"), (["t", "1"], [None], "SQLite"), (["\x1b"], [], None)],
)
async def test_a_question_is_answered_by_a_number_or_by_words(
    terminal: Terminal, keys: list[str], lines: list[str | None], answer: str | None
) -> None:
    question = ev.QuestionAsked("q1", "Which?", ("SQLite", "JSON"))
    async with asyncio.timeout(5):
        given, _ = await asyncio.gather(terminal.asker(*lines).ask_question(question), terminal.press(*keys))
    assert given == answer


@pytest.mark.parametrize(
    ("typed", "answer"), [(["Ada"], "Ada"), (["", " ", "Ada"], "Ada"), ([None], None), (["", None], None)]
)
async def test_a_question_without_options_is_answered_by_words_and_asked_again_without(
    terminal: Terminal, typed: list[str | None], answer: str | None
) -> None:
    assert await terminal.asker(*typed).ask_question(ev.QuestionAsked("q1", "Your name?")) == answer


async def test_nothing_is_allowed_before_the_rest_of_a_long_edit_was_shown(terminal: Terminal) -> None:
    await approve(terminal, ["y", "y"], event=EDIT)
    first, second = terminal.output.getvalue().split("± Write a.txt")[1:]
    assert "… 20 more lines" in first
    assert "line 60" in second


PROGRAM = """
import asyncio, signal
from pathlib import Path
from halocline.runtime.assembly.assembly import Choices
from halocline.client import open_client
from halocline.runtime.controller import TaskOptions
from halocline.surfaces.cli.plain.composer import Composer
from halocline.surfaces.cli.plain.keyboard import Keyboard
from halocline.surfaces.cli.plain.line_input import read_line

async def main():
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    keyboard = Keyboard(0)
    print("LINE", repr(await read_line(keyboard, "edit: ", "make test")), flush=True)
    keyboard.close()
    client = open_client(Choices())
    composer = Composer(client, await client.start(Path.cwd(), TaskOptions(model="scripted/script.toml")))
    for _ in range(3):
        typed = await composer.ask()
        print("PROMPT", typed and (typed.text, typed.mode.value), flush=True)
    print("WAITING", flush=True)
    await stopped.wait()
    await client.close()
    print("STOPPED", flush=True)

asyncio.run(main())
"""


@pytest.mark.process
def test_lines_and_prompts_are_typed_on_a_real_terminal(tmp_path: Any) -> None:
    (tmp_path / "script.toml").write_text('[[turn]]\ntext = "Hello."\n')
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm", "HALOCLINE_HOME": str(tmp_path)}
    with pexpect.spawn(
        sys.executable, ["-c", PROGRAM], cwd=str(tmp_path), env=environment, timeout=20, encoding="utf-8"
    ) as child:
        child.expect("make test")
        child.send("\x7f" * 4 + "check\r")
        child.expect("LINE 'make check'")
        child.expect("What should I do?")
        child.send("one\ntwo\r")
        child.expect(r"PROMPT \('one\\ntwo', 'act'\)")
        child.expect("What should I do?")
        child.send("think\x1b[Z")
        child.expect("plan")
        child.send("\r")
        child.expect(r"PROMPT \('think', 'plan'\)")
        child.expect("What should I do?")
        child.send("\x04")
        child.expect("PROMPT None")
        child.expect("WAITING")
        child.kill(signal.SIGINT)
        child.expect("STOPPED")
        child.expect(pexpect.EOF)
    assert "one" in Home(tmp_path).prompt_history.read_text()


WIDER = replace(COMMAND, wider=Grant(ToolKind.EXECUTE, argv=("pytest",)))


@pytest.mark.parametrize(
    ("event", "keys", "scope", "wider"),
    [
        (COMMAND, ["s", "1"], Scope.PROJECT, False),
        (COMMAND, ["s", "2"], Scope.EVERYWHERE, False),
        (WIDER, ["s", "1"], Scope.TASK, True),
        (WIDER, ["s", "2"], Scope.PROJECT, True),
        (WIDER, ["s", "4"], Scope.PROJECT, False),
    ],
)
async def test_leave_can_reach_further(
    terminal: Terminal, event: ev.ApprovalRequested, keys: list[str], scope: Scope, wider: bool
) -> None:
    decided = await approve(terminal, keys, event=event)
    assert decided == Decision(Choice.ALLOW_ALWAYS, scope=scope, wider=wider)


async def test_the_rules_on_offer_are_shown_as_they_will_be_kept(terminal: Terminal) -> None:
    assert (await approve(terminal, ["s", "\x1b", "y"], event=WIDER)).choice is Choice.ALLOW_ONCE
    shown = terminal.output.getvalue()
    assert "  1   always allow `pytest …` in this task\n" in shown
    assert "  4   always allow `pytest -q` in this project\n" in shown
    assert "  5   always allow `pytest -q` everywhere\n" in shown
