import asyncio
import io
import os
import signal
import sys
import termios
from collections.abc import Sequence
from typing import Any

import pexpect
import pytest
from msgspec.structs import replace
from rich.console import Console
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Diff, Grant, Mode, Scope, ToolKind
from halocline.protocol.messages import AssistantMessage, Image, ToolCall
from halocline.surfaces.cli.plain.line_menu import CHOICE, LineMenu
from halocline.surfaces.terminal.application.person_call import PersonCall
from halocline.surfaces.terminal.asking.approval_prompt import Asker, Decision
from halocline.surfaces.terminal.asking.menu import Kind
from halocline.surfaces.terminal.composing.prompt import (
    KEY_NOT_SENT,
    Prompt,
    is_key,
    join_drafts,
    split_first,
    split_typed,
    type_keys,
)
from halocline.surfaces.terminal.drawing.screen import Screen

KEY = "sk-ant-" + "aB3dE6gH9" * 5
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


class TypedLines:
    """A person who types these choices, and these lines where one is asked for; None goes back."""

    draft = ""

    def __init__(self, choices: Sequence[str], lines: Sequence[str | None]) -> None:
        self._choices = [None if one == "\x1b" else one for one in choices]
        self._lines = list(lines)
        self.person = PersonCall(lambda code: None)

    async def wait_for_silence(self) -> None: ...

    async def read_line(self, prompt: str, initial: str = "", hint: str = "") -> str | None:
        return (self._choices if prompt.startswith(CHOICE) else self._lines).pop(0)


class Terminal:
    """A screen on which a call waits."""

    def __init__(self) -> None:
        self.output = io.StringIO()
        self.begun: list[Prompt | None] = []
        self.screen = Screen(Console(file=self.output, width=80))
        call = ToolCall("c1", "execute_command", dict(ARGUMENTS))
        self.screen.show(ev.AssistantMessageCompleted(AssistantMessage((call,))))

    def asker(self, choices: Sequence[str], *lines: str | None) -> Asker:
        self.lines = TypedLines(choices, lines)
        return Asker(self.screen, LineMenu(self.screen, self.lines))


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


async def approve(
    terminal: Terminal,
    keys: list[str],
    *lines: str | None,
    event: ev.ApprovalRequested = COMMAND,
    messages: tuple[Prompt | None, ...] = (),
) -> Decision:
    written, begun = list(messages), terminal.begun

    async def write(before: Prompt | None) -> Prompt | None:
        begun.append(before)
        return written.pop(0)

    return await terminal.asker(keys, *lines).ask_approval(event, write)


@pytest.mark.parametrize(("line", "key"), [("esc", "\x1b"), ("yes", "y"), ("keep them", "n")])
async def test_a_line_chooses_in_a_menu_of_our_own_by_a_word_too(terminal: Terminal, line: str, key: str) -> None:
    options = {"y": "Restore them", "n": "Keep them", "\x1b": "back"}
    menu = LineMenu(terminal.screen, TypedLines([line], []))  # type: ignore[arg-type]
    assert await menu.choose("", options, kind=Kind.OWN) == key


async def test_a_message_comes_back_when_the_question_ends_without_an_answer(terminal: Terminal) -> None:
    asker = terminal.asker(["t"])
    asking = asyncio.create_task(asker.ask_approval(COMMAND, lambda before: asyncio.sleep(0, MESSAGE)))
    read = terminal.lines.read_line

    async def read_once(prompt: str, initial: str = "", hint: str = "") -> str | None:
        if not terminal.lines._choices:
            asking.cancel()
        return await read(prompt) if terminal.lines._choices else await asyncio.sleep(60)

    terminal.lines.read_line = read_once  # type: ignore[method-assign]
    await asyncio.wait([asking])
    assert (asking.cancelled(), terminal.lines.draft) == (True, MESSAGE.text)


PICTURE = Image("image/png", "b" * 64)
MESSAGE = Prompt("as in [picture 1] ", Mode.ACT, (PICTURE,))
SAID = {"note": "as in [picture 1]", "content": (PICTURE,)}


@pytest.mark.parametrize(
    ("keys", "lines", "messages", "decision"),
    [
        (["t", "y"], [], [MESSAGE], Decision(Choice.ALLOW_ONCE, **SAID)),
        (["t", "a", "1"], [], [MESSAGE], Decision(Choice.ALLOW_ALWAYS, **SAID)),
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


async def test_a_message_is_edited_from_what_it_was_and_given_back_where_the_turn_is_stopped(
    terminal: Terminal,
) -> None:
    await approve(terminal, ["t", "t", "\x1b"], messages=(MESSAGE, None))
    assert (terminal.begun, terminal.lines.draft) == ([None, MESSAGE], MESSAGE.text)


@pytest.mark.parametrize(
    ("keys", "lines", "decision"),
    [
        (["y"], [], Decision(Choice.ALLOW_ONCE)),
        (["a", "1"], [], Decision(Choice.ALLOW_ALWAYS)),
        (["a", ""], [], Decision(Choice.ALLOW_ALWAYS)),
        (["a", "\x1b", "y"], [], Decision(Choice.ALLOW_ONCE)),
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


@pytest.mark.parametrize("noise", ["x", "yes please", "1", "yy", "Y N"])
async def test_other_lines_decide_nothing(terminal: Terminal, noise: str) -> None:
    assert await approve(terminal, [noise, "n"], "") == Decision(Choice.REJECT_ONCE)


@pytest.mark.parametrize(
    ("word", "choice"), [("yes", Choice.ALLOW_ONCE), ("", Choice.ALLOW_ONCE), (" Y ", Choice.ALLOW_ONCE)]
)
async def test_a_word_decides_as_its_key_and_enter_alone_allows_what_is_ordinary(
    terminal: Terminal, word: str, choice: Choice
) -> None:
    assert await approve(terminal, [word]) == Decision(choice)


async def test_words_that_choose_nothing_wait_for_the_next_prompt(terminal: Terminal) -> None:
    await approve(terminal, ["look at the tests first", "yy", "y"])
    assert terminal.lines.draft == "look at the tests first"
    assert "“look at the tests first” is none of them." in terminal.output.getvalue()


async def test_a_command_at_a_plain_card_is_said_not_to_run_and_waits_for_the_next_prompt(terminal: Terminal) -> None:
    await approve(terminal, ["!touch made", "/plan", "y"])
    shown = " ".join(terminal.output.getvalue().split())
    for command in ("!touch made", "/plan"):
        assert f"“{command}” does not run while plain lines wait for your choice." in shown
    assert terminal.lines.draft == "!touch made\n/plan"


P, Q = "\x1b[200~", "\x1b[201~"


@for_each(
    "typed, sent, draft",
    [
        ("hello\r", ["hello"], ""),
        ("one\rtwo\r", ["one\ntwo"], ""),
        ("one\rtwo", [], "one\ntwo"),
        ("!ls\rmore\rleft", ["!ls"], "more\nleft"),
        ("!ls\r", ["!ls"], ""),
        ("/review a\rmore\r", ["/review a"], "more"),
        ("/login\rkey\r", ["/login"], "key"),
        ("one\r/model\rtwo\r", ["one", "/model"], "two"),
        ("one\r!ls\rtwo\r", ["one"], "!ls\ntwo"),
        ("one\r/review\rtwo\r", ["one"], "/review\ntwo"),
        ("/usr/bin/x fails\rwhy?\r", ["/usr/bin/x fails\nwhy?"], ""),
        (f"{P}see:\r!ls\r/quit{Q}\r", ["see:\n!ls\n/quit"], ""),
        (f"see {P}!a\n!b{Q}", [], "see !a\n!b"),
        (f"!ls\r{P}a\nb{Q}\r", ["!ls"], "a\nb"),
        (f"{P}!rm -rf build\rmore\r", [], "!rm -rf build\nmore\n"),  # the end of the paste has not come
    ],
)
def test_what_was_typed_before_the_screen_is_what_it_would_be_there(typed: str, sent: list[str], draft: str) -> None:
    assert split_typed(typed) == [*sent, draft]


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


async def test_the_card_shows_the_command_and_the_exact_grant_and_not_that_the_mode_asks(terminal: Terminal) -> None:
    await approve(terminal, ["y"])
    shown = terminal.output.getvalue()
    assert "$ pytest -q\n\n  y " in shown
    assert "  a   always allow `pytest -q` …\n" in shown


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
    assert await terminal.asker(keys, *lines).ask_question(question) == answer


@pytest.mark.parametrize(
    ("typed", "answer"), [(["Ada"], "Ada"), (["", " ", "Ada"], "Ada"), ([None], None), (["", None], None)]
)
async def test_a_question_without_options_is_answered_by_words_and_asked_again_without(
    terminal: Terminal, typed: list[str | None], answer: str | None
) -> None:
    assert await terminal.asker([], *typed).ask_question(ev.QuestionAsked("q1", "Your name?")) == answer


async def test_nothing_is_allowed_before_the_rest_of_a_long_edit_was_shown(terminal: Terminal) -> None:
    await approve(terminal, ["y", "y"], event=EDIT)
    first, second = terminal.output.getvalue().split("± Write a.txt")[1:]
    assert "… 20 more lines" in first
    assert "line 60" in second


PROGRAM = """
import asyncio, signal
from pathlib import Path
from prompt_toolkit.history import FileHistory
from halocline.surfaces.cli.plain.line_reader import LineReader

async def main():
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    reader = LineReader()
    print("LINE", repr(await reader.read_line("edit: ", "make test")), flush=True)
    print("QUIET?", flush=True)
    await reader.wait_for_silence()
    print("LINE", repr(await reader.read_line("choice: ")), repr(reader.take_draft()), flush=True)
    for _ in range(2):
        print("PROMPT", repr(await reader.read_line("> ", "", "What?", FileHistory("history"))), flush=True)
    print("WAITING", flush=True)
    await stopped.wait()
    print("STOPPED", flush=True)

asyncio.run(main())
"""


@pytest.mark.process
def test_lines_and_prompts_are_typed_on_a_real_terminal(tmp_path: Any) -> None:
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    with pexpect.spawn(
        sys.executable, ["-c", PROGRAM], cwd=str(tmp_path), env=environment, timeout=20, encoding="utf-8"
    ) as child:
        before = termios.tcgetattr(child.child_fd)
        child.expect("make test")
        child.send("\x7f" * 4 + "check\r")
        child.expect("LINE 'make check'")
        child.expect("QUIET")
        child.send("too early\r")
        child.expect("choice: ")
        child.send("y\r")
        child.expect("LINE 'y' 'too early'")
        child.expect("What")
        child.send("one\ntwo\r")
        child.expect(r"PROMPT 'one\\ntwo'")
        child.expect("What")
        child.send("\x04")
        child.expect("PROMPT None")
        child.expect("WAITING")
        assert termios.tcgetattr(child.child_fd) == before
        child.kill(signal.SIGINT)
        child.expect("STOPPED")
        child.expect(pexpect.EOF)
    assert "one" in (tmp_path / "history").read_text()


WIDER = replace(COMMAND, wider=Grant(ToolKind.EXECUTE, argv=("pytest",)))


@pytest.mark.parametrize(
    ("event", "keys", "scope", "wider"),
    [
        (COMMAND, ["a", "2"], Scope.PROJECT, False),
        (COMMAND, ["a", "3"], Scope.EVERYWHERE, False),
        (WIDER, ["a", "1"], Scope.TASK, False),
        (WIDER, ["a", "4"], Scope.TASK, True),
        (WIDER, ["a", "5"], Scope.PROJECT, True),
    ],
)
async def test_leave_can_reach_further(
    terminal: Terminal, event: ev.ApprovalRequested, keys: list[str], scope: Scope, wider: bool
) -> None:
    decided = await approve(terminal, keys, event=event)
    assert decided == Decision(Choice.ALLOW_ALWAYS, scope=scope, wider=wider)


async def test_the_rules_on_offer_are_shown_as_they_will_be_kept(terminal: Terminal) -> None:
    assert (await approve(terminal, ["a", "\x1b", "y"], event=WIDER)).choice is Choice.ALLOW_ONCE
    shown = terminal.output.getvalue()
    assert "  4   `pytest …` in this task\n" in shown
    assert "  2   `pytest -q` in this project\n" in shown
    assert "  3   `pytest -q` everywhere\n" in shown


async def test_enter_behind_a_reason_that_was_not_given_allows_nothing(terminal: Terminal) -> None:
    assert await approve(terminal, ["n", "", "n"], None, "no") == Decision(Choice.REJECT_ONCE, "no")


@for_each(
    "draft, first, rest",
    [
        ("!echo one\nhalf message", "!echo one", "half message"),
        ("/plan\n!touch x", "/plan", "!touch x"),
        ("!echo early\n/status\n", "!echo early", "/status"),
        ("one\ntwo", "one\ntwo", ""),
        ("one\n!ls", "one", "!ls"),
        (join_drafts("!for x in 1; do\necho $x; done", "more"), "!for x in 1; do\necho $x; done", "more"),
        (f"/login anthropic\n{KEY}\nmore", "/login anthropic", "more"),
        ("", "", ""),
    ],
)
def test_a_draft_of_plain_lines_is_offered_prompt_by_prompt_and_no_command_is_lost(
    draft: str, first: str, rest: str
) -> None:
    assert split_first(draft) == (first, rest)


def test_a_message_to_the_model_does_not_begin_with_a_command_that_waits() -> None:
    assert split_first("!echo one", is_message=True) == ("", "!echo one")
    assert join_drafts("half message", "!echo one") == "half message\n!echo one"


async def test_a_key_typed_at_a_plain_card_is_no_answer_and_no_draft(terminal: Terminal) -> None:
    await approve(terminal, [KEY, "y"])
    assert (terminal.lines.draft, KEY_NOT_SENT in terminal.output.getvalue()) == ("", True)


@for_each(
    "text, known", [(KEY, True), (f" {KEY}\n", True), (f"use {KEY}", False), ("[redacted x]", False), ("", False)]
)
def test_a_key_is_a_text_that_is_nothing_else(text: str, known: bool) -> None:
    assert is_key(text) is known
