"""A person at a terminal: prompts, approvals and questions by keys, and a terminal that is given back whole."""

import os
import random
import re
import signal
import subprocess
import termios
from typing import Any

import pexpect
import pytest
from benchmarks.history import steps, write
from tests.surfaces.cli.halo_process import Halo, call, shell

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason
from halocline.surfaces.cli.commands.tasks.manage import SHOWN_STEPS
from halocline.surfaces.cli.plain.line_menu import CHOICE

HI = {"text": "Hello."}
TOUCH = {"call": [shell("touch made")]}
MENU = "reject and stop"
COMPOSER = "What should I do?"
CTRL_C, CTRL_D, ESCAPE = "\x03", "\x04", "\x1b"


class Person:
    """Sits at the terminal of a running `halo`: reads what it shows, and types."""

    def __init__(self, halo: Halo, *words: str, forks: bool = True) -> None:
        self._before = read_fresh_modes()  # those of its own terminal may already be `halo`'s
        self._terminal = halo.terminal(*words, forks=forks)

    def sees(self, *texts: str) -> "Person":
        """Wait for each text in turn, whatever colours are in it."""
        for text in texts:
            self._terminal.expect(re.compile(r"(?:\x1b\[[0-9;]*m)*".join(map(re.escape, text))))
        return self

    def read(self, pattern: str) -> str:
        """Wait for a text of this pattern and return it."""
        self._terminal.expect(pattern)
        return str(self._terminal.match.group())

    @property
    def skipped(self) -> str:
        """What was shown before the text that was waited for last."""
        return self._terminal.before or ""

    def presses(self, key: str) -> "Person":
        """Type the key of an option, once it is asked for."""
        return self.sees(CHOICE).types(f"{'esc' if key == ESCAPE else key}\r")

    def presses_always(self) -> "Person":
        """Allow always, in this task."""
        return self.presses("a").sees("in this task").presses("1")

    def types(self, text: str) -> "Person":
        self._terminal.send(text)
        return self

    def is_gone_with(self) -> int:
        """The exit code of `halo`, which must have left the terminal as it found it."""
        self._terminal.expect(pexpect.EOF)
        assert termios.tcgetattr(self._terminal.child_fd) == self._before
        self._terminal.close()
        assert self._terminal.signalstatus is None
        return int(self._terminal.exitstatus)


def read_fresh_modes() -> list[Any]:
    """The modes of a terminal that no program has changed."""
    ends = os.openpty()
    try:
        return termios.tcgetattr(ends[0])
    finally:
        for end in ends:
            os.close(end)


def statuses(halo: Halo) -> list[str]:
    return [event.status.value for event in halo.log() if isinstance(event, ev.ToolCallEnded)]


def is_running(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def is_settled(halo: Halo) -> bool:
    state = halo.state()
    return (state.turn, state.pending.calls, state.pending.approvals, state.pending.questions) == (None, (), (), ())


def test_a_conversation_stays_for_the_next_prompt_and_ends_with_ctrl_d(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI, {"text": "Once more.", "expect": "and again"}), "hi")
    person.sees("Hello.", "done", COMPOSER).types("and again\r").sees("Once more.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert halo.state().budget.steps == 2


def test_without_a_prompt_the_composer_asks_for_one(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script({**HI, "expect": "first"}))
    person.sees(COMPOSER).types("first\r").sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_run_does_one_prompt_and_ends(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(HI), "hi").sees("Hello.", "done")
    assert person.is_gone_with() == 0


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_leaving_without_a_word_leaves_no_task(halo: Halo, key: str) -> None:
    person = Person(halo, "-m", halo.script(HI)).sees(COMPOSER).types(key)
    assert person.is_gone_with() == 0
    assert halo.tasks == []


def test_a_yes_runs_the_command(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, HI), "hi").sees("touch made", MENU).presses("y")
    assert person.sees("exit code 0", "Hello.").is_gone_with() == 0
    assert (halo.folder / "made").exists()


def test_always_asks_no_second_time(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, TOUCH, HI), "hi").sees(MENU).presses_always()
    assert person.sees("Hello.").is_gone_with() == 0
    assert statuses(halo) == ["completed", "completed"]


def test_leave_for_the_task_is_taken_back_by_its_number(halo: Halo) -> None:
    person = (
        Person(halo, "-m", halo.script(TOUCH, HI, TOUCH, HI), "hi").sees(MENU).presses_always().sees("Hello.", COMPOSER)
    )
    person.types("/permissions\r").sees("in this task", "touch made", "/permissions forget N", COMPOSER)
    person.types("/permissions forget 1\r").sees("Permission revoked: touch made", COMPOSER)
    person.types("/leave\r").sees("No permissions.", COMPOSER)
    person.types("again\r").sees(MENU).presses("y").sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_an_exclamation_mark_runs_a_command_of_the_person_and_asks_nobody(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script({**HI, "expect": "$ mkdir own && echo made it"}))
    person.sees(COMPOSER).types("!mkdir own && echo made it\r").sees("you", "made it", "exit code 0", COMPOSER)
    person.types("!\r").sees("There is no command", COMPOSER)
    person.types("and now\r").sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert (halo.folder / "own").is_dir()


def test_ctrl_c_ends_the_persons_command(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI))
    person.sees(COMPOSER).types("!echo $$ > pid; echo fir''st; sleep 1000\r").sees("first").types(CTRL_C)
    person.sees("stopped", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert not is_running(int((halo.folder / "pid").read_text()))


def test_a_command_in_another_folder_says_so_before_it_is_allowed(halo: Halo) -> None:
    (halo.folder / "sub").mkdir()
    moves = {"call": [shell("cd sub"), shell("touch here")]}
    person = Person(halo, "run", "-m", halo.script(moves, HI), "hi")
    person.sees("touch here", "runs in sub", MENU).presses("y")
    assert person.sees("Hello.").is_gone_with() == 0
    assert (halo.folder / "sub" / "here").exists()


def test_a_no_asks_for_the_reason_and_the_model_hears_it(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, {**HI, "expect": "not on a Friday"}), "hi")
    person.sees(MENU).presses("n").sees("Reason (optional)").types("not on a Friday\r")
    assert person.sees("Hello.").is_gone_with() == 0
    assert statuses(halo) == ["rejected"]


def test_an_edited_command_is_what_runs(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, {**HI, "expect": "touch made-otherwise"}), "hi")
    person.sees(MENU).presses("e").sees("$ ").types("-otherwise\r")
    assert person.sees("Hello.").is_gone_with() == 0
    assert [path.name for path in halo.folder.iterdir()] == ["made-otherwise"]


def test_an_edited_command_that_a_rule_refuses_is_shown_and_audited_as_it_was_typed(halo: Halo) -> None:
    deletes = {"call": [shell("rm -rf src")]}
    person = Person(halo, "run", "-m", halo.script(deletes, {**HI, "expect": "rule never"}), "hi")
    person.sees(MENU).presses("e").sees("$ ").types("\x15rm -rf /\r")
    person.sees("rm -rf /", "edited by you", "blocked: it deletes / (no mode allows that)", "Hello.")
    assert person.is_gone_with() == 0
    (task,) = halo.tasks
    shown = Person(halo, "policy", "audit", task).sees("ask", "rm -rf src", "edited by user")
    shown.sees("deny", "rm -rf /", "never; typed by user")
    assert shown.is_gone_with() == 0
    again = Person(halo, "tasks", "show", task).sees("rm -rf /", "edited by you", "no mode allows that")
    assert again.is_gone_with() == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [("exit 3", "✗ exit code 3"), ("kill -9 $$", "✗ "), ("(exit 3) && touch x || false", "✗ exit code 1")],
)
def test_a_command_that_failed_is_marked_as_that(halo: Halo, command: str, said: str) -> None:
    model = halo.script({"call": [shell(command)]}, HI)
    person = Person(halo, "run", "-y", "-m", model, "hi").sees(said, "Hello.")
    assert person.is_gone_with() == 0


def test_escape_declines_and_ends_the_turn(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, HI), "hi").sees(MENU).presses(ESCAPE)
    assert person.sees("interrupted").is_gone_with() == 130
    assert is_settled(halo)
    assert not (halo.folder / "made").exists()


def test_ctrl_c_at_an_approval_ends_the_turn_and_the_conversation_stays(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(TOUCH, HI), "hi").sees(MENU).types(CTRL_C)
    person.sees("interrupted", COMPOSER).types("go on\r").sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert statuses(halo) == ["cancelled"]


def test_ctrl_c_at_an_approval_of_a_single_run_quits(halo: Halo) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, HI), "hi").sees(MENU).types(CTRL_C)
    assert person.sees("interrupted").is_gone_with() == 130
    assert is_settled(halo)


def test_ctrl_c_in_a_streamed_reply_ends_the_turn(halo: Halo) -> None:
    slow = {"text": "First paragraph.\n\n" + "And on and on. " * 99, "pace": 0.02}
    person = Person(halo, "-m", halo.script(slow, HI), "hi").sees("First paragraph.").types(CTRL_C)
    person.sees("interrupted", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 130


@pytest.mark.parametrize("keys", [CTRL_C, CTRL_D])
def test_leaving_the_line_of_a_reason_goes_back_to_the_approval(halo: Halo, keys: str) -> None:
    person = Person(halo, "run", "-m", halo.script(TOUCH, HI), "hi").sees(MENU).presses("n").sees("Reason (optional)")
    person.types(keys).sees(MENU).presses("y").sees("Hello.")
    assert person.is_gone_with() == 0
    assert statuses(halo) == ["completed"]


def test_a_question_is_answered_by_the_number_of_an_option(halo: Halo) -> None:
    asked = {"call": [call("ask_followup_question", question="Tabs or spaces?", options=["tabs", "spaces"])]}
    person = Person(halo, "run", "-m", halo.script(asked, {**HI, "expect": "spaces"}), "hi")
    person.sees("Tabs or spaces?", "1 tabs", "2 spaces", "stop").presses("2")
    assert person.sees("Hello.").is_gone_with() == 0


def test_a_question_is_answered_in_words(halo: Halo) -> None:
    asked = {"call": [call("ask_followup_question", question="Which name?")]}
    person = Person(halo, "run", "-m", halo.script(asked, {**HI, "expect": "Ada"}), "hi")
    person.sees("Which name?", "› ").types("Ada\r")
    assert person.sees("Hello.").is_gone_with() == 0


def test_at_a_limit_the_person_may_go_on(halo: Halo) -> None:
    look = {"call": [call("list_files", path=".")]}
    person = Person(halo, "run", "--max-steps", "1", "-m", halo.script(look, HI), "hi")
    person.sees("limit of 1 step", "1 Go on", "2 Stop here", "stop").presses("1")
    assert person.sees("Hello.").is_gone_with() == 0


def test_at_a_limit_the_person_may_stop(halo: Halo) -> None:
    look = {"call": [call("list_files", path=".")]}
    person = Person(halo, "run", "--max-steps", "1", "-m", halo.script(look, HI), "hi").sees("Go on?", "stop")
    assert person.presses("2").sees("stopped").is_gone_with() == 3


def test_a_resumed_conversation_shows_where_it_stands(halo: Halo) -> None:
    model = halo.script({"text": "The first answer."}, HI)
    person = Person(halo, "run", "-m", model, "the first prompt").sees("done")
    assert person.is_gone_with() == 0
    person = Person(halo, "-c", "-m", model).sees("act mode", "the first prompt", "The first answer.", COMPOSER)
    assert person.types(CTRL_D).is_gone_with() == 0


def test_a_resumed_conversation_shows_at_once_what_a_crash_cut_short(halo: Halo) -> None:
    model = halo.script({"text": "Now.", "call": [shell("echo begun; sleep 1000")]}, HI)
    first = halo.terminal("-y", "-m", model, "wait a while", forks=False)
    first.expect("begun")
    first.kill(signal.SIGKILL)
    first.wait()
    person = Person(halo, "-c", "-m", model)
    person.sees("wait a while", "$ echo begun; sleep 1000", "■ interrupted", "Continue where you left off")
    assert person.types(CTRL_D).is_gone_with() == 130


async def test_of_a_long_task_a_terminal_shows_the_last_steps_and_a_pipe_all(halo: Halo) -> None:
    write(halo.home / "tasks", "long", steps(random.Random(1), 1, SHOWN_STEPS + 7), 1.79e9)
    last = Person(halo, "tasks", "show", "long")
    last.sees(
        "model-1 · act mode", "… 7 earlier steps. To print all: halo tasks show", "❯ Please", "± Edit", "207 steps"
    )
    assert last.is_gone_with() == 0
    assert "earlier step" not in (await halo.run("tasks", "show", "long")).out
    every = Person(halo, "tasks", "show", "long", "--all").sees("207 steps")
    assert "earlier step" not in every.skipped


def test_a_terminal_that_goes_away_ends_the_turn(halo: Halo) -> None:
    terminal = halo.terminal("-y", "-m", halo.script({"call": [shell("echo began; sleep 1000")]}, HI), "hi")
    terminal.expect("sleep 1000")
    terminal.ptyproc.fileobj.close()  # terminal.close() also kills what has not ended a moment later
    terminal.wait()
    ends = [event for event in halo.log() if isinstance(event, ev.TurnEnded)]
    assert [end.reason for end in ends] == [StopReason.CANCELLED]
    assert is_settled(halo)


def test_the_demo_asks_and_ends_well(halo: Halo) -> None:
    person = Person(halo, "demo")
    person.sees("Only the model is scripted", "python3 -m unittest", MENU).presses_always()
    person.sees("intervals.py", MENU).presses_always().sees("All four tests pass", "To use a real model")
    assert person.is_gone_with() == 0


@pytest.mark.parametrize(("typed", "code", "left"), [("y\r", 0, 0), ("\r", 2, 1), (CTRL_D, 2, 1), (CTRL_C, 130, 1)])
def test_deleting_a_task_asks_first(halo: Halo, typed: str, code: int, left: int) -> None:
    assert Person(halo, "run", "-m", halo.script(HI), "hi").sees("done").is_gone_with() == 0
    person = Person(halo, "tasks", "delete", halo.tasks[0]).sees("to the trash? [y/N]").types(typed)
    assert (person.is_gone_with(), len(halo.tasks)) == (code, left)


def test_an_edit_is_seen_while_it_is_written_and_then_its_diff(halo: Halo) -> None:
    (halo.folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    diff = "------- SEARCH\n    return a - b\n=======\n    total = a + b\n    return total\n+++++++ REPLACE\n"
    model = halo.script(
        {"call": [call("replace_in_file", path="calc.py", diff=diff)], "chunk": 8, "pace": 0.05}, {"text": "Mended."}
    )
    person = Person(halo, "mend it", "-m", model, "--approval-mode", "accept-edits")
    person.sees("writing calc.py", "edit 1 at line 2 · +1 −0", "-     return a - b", "+     total = a + b")
    person.sees("\x1b[J").sees("Edit calc.py", "+2", "Mended.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_a_line_behind_a_hash_is_kept_as_a_note_and_sent_to_nobody(halo: Halo) -> None:
    settings = halo.home / "settings.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("memory = true\n")
    person = Person(halo, "-m", halo.script(HI))
    person.sees(COMPOSER).types("# the tests need a database\r").sees("Saved to", "will read it", COMPOSER)
    person.types("hello\r").sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    (kept,) = (halo.home / "memory").rglob("*.md")
    assert "- the tests need a database\n" in kept.read_text()
    assert [event.content[0].text for event in halo.log() if isinstance(event, ev.TurnStarted)] == ["hello"]


def test_a_note_is_refused_where_notes_are_off(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI))
    person.sees(COMPOSER).types("# the tests need a database\r").sees("Memory is off", "memory = true")
    person.sees("❯ # the tests need a database").types(CTRL_C).sees(COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert not (halo.home / "memory").exists()
