"""Typing while the agent works, at a person's speed on real terminals: it decides nothing, and nothing is lost."""

import asyncio
import os
import shlex
import time
from contextlib import suppress
from typing import Any

import pexpect
import pytest
from tests.surfaces.cli.halo_process import HALO, LIMIT, Halo, call, shell
from tests.surfaces.cli.test_halo_terminal import COMPOSER, CTRL_D, MENU, Person

from halocline.protocol import events as ev
from halocline.protocol.messages import Text
from halocline.surfaces.cli.plain.line_menu import CHOICE

HELLO = {"text": "Hello."}
SENTENCE = "and look at the parlour of the grand tomb, at the day of May\r"
PACE = 1 / 9
"""Seconds between two keys of a person who types as most do."""


TOUCH = {"call": [shell("touch made")], "delay": 1}
OPTIONS = {"call": [call("ask_followup_question", question="Which?", options=["tabs", "spaces"])], "delay": 1}
WORDS_WANTED = {"call": [call("ask_followup_question", question="Which name?")], "delay": 1}
DECISIONS = (ev.ApprovalResolved, ev.QuestionAnswered, ev.PolicyChanged)


@pytest.mark.parametrize("asked", [TOUCH, OPTIONS, WORDS_WANTED], ids=["approval", "options", "words"])
async def test_a_sentence_typed_while_the_agent_works_decides_nothing_and_waits_for_the_next_prompt(
    halo: Halo, asked: dict[str, Any]
) -> None:
    person = Person(halo, "-m", halo.script(asked, {"text": "Hello."}), "hi").sees("waiting for the model")
    for key in SENTENCE:
        await asyncio.sleep(PACE)
        person.types(key)
    await asyncio.sleep(2)
    assert not [event for event in halo.log() if isinstance(event, DECISIONS)]
    assert not (halo.folder / "made").exists()
    person.types("\x03").sees("interrupted", SENTENCE.strip())
    person.types("\x03").sees(COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 130


async def test_what_is_typed_while_a_reply_is_spoken_is_the_next_prompt(halo: Halo) -> None:
    slow = {"text": "One line.\n\n" + "And on. " * 30, "pace": 0.02}
    heard = {"text": "Heard it.", "expect": "then the tests"}
    person = Person(halo, "-m", halo.script(slow, heard), "hi").sees("One line.")
    person.types("then the tests\r").sees("done", "then the tests").types("\r").sees("Heard it.", COMPOSER)
    person.types(CTRL_D)
    assert person.is_gone_with() == 0
    prompts = [event.content[0] for event in halo.log() if isinstance(event, ev.TurnStarted)]
    assert prompts[1].text == "then the tests"  # type: ignore[union-attr]


async def test_keys_pressed_behind_the_enter_of_a_prompt_answer_no_question(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(WORDS_WANTED, {"text": "Hello.", "expect": "Ada"})).sees(COMPOSER)
    person.types("hi\rand this\r").sees("Which name?", "› ").types("Ada\r").sees("Hello.", "and this")
    person.types("\x03").sees(COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


async def test_a_message_that_the_person_leaves_with_ctrl_c_is_the_next_prompt(halo: Halo) -> None:
    script = halo.script({"call": [shell("touch made")]}, HELLO, {"text": "Heard it.", "expect": "my note"})
    person = Person(halo, "-m", script, "hi").sees(MENU).presses("t").sees("Your message").types("my note")
    await asyncio.sleep(0.3)
    person.types("\x03").sees("No message.", MENU).presses("y").sees("Hello.", "my note").types("\r").sees("Heard it.")
    person.types(CTRL_D)
    assert person.is_gone_with() == 0


@pytest.mark.slow
def test_a_person_who_may_look_elsewhere_is_called_and_one_who_types_is_not(halo: Halo) -> None:
    slow = [{**TOUCH, "delay": 11}, TOUCH, {"text": "Hello."}]
    person = Person(halo, "run", "-m", halo.script(*slow), "hi")
    person.sees("\x1b]9;Halocline needs your approval: touch made\x1b\\\a", MENU).presses("y")
    assert "\a" not in person.sees(MENU).skipped
    assert person.presses("y").sees("Hello.").is_gone_with() == 0


ASKED_WORDS = {"call": [call("ask_followup_question", question="Which name?")]}
STOPPED = "Stopped"


@pytest.mark.parametrize(
    ("asked", "shown", "answer", "said"),
    [
        (TOUCH, CHOICE, "y\r", "exit code 0"),
        (OPTIONS, CHOICE, "2\r", "spaces"),
        (ASKED_WORDS, "› ", "Ada\r", "Ada"),
        (None, "What should I do?", "again\r", "again"),
    ],
    ids=["approval", "options", "words", "prompt"],
)
def test_ctrl_z_stops_and_fg_goes_on_wherever_a_person_is_asked(
    halo: Halo, asked: dict[str, Any] | None, shown: str, answer: str, said: str
) -> None:
    model = halo.script(*([asked] if asked else []), {"text": "Hello."}, {"text": "Hello."})
    shell = pexpect.spawn(
        "bash",
        ["--norc", "--noediting"],
        cwd=str(halo.folder),
        env=halo.env | {"PROMPT_TOOLKIT_NO_CPR": "1", "PS1": "sh> "},
        dimensions=(30, 100),
        timeout=LIMIT,
        encoding="utf-8",
    )
    shell.expect("sh> ")
    shell.sendline(shlex.join([*HALO, "--plain", "-m", model, "hi"]))
    for _ in range(2):
        shell.expect_exact(shown)
        shell.send("\x1a")
        shell.expect_exact(STOPPED)
        shell.expect("sh> ")
        shell.sendline("stty | grep -o -- -echo || echo is loud")
        shell.expect_exact("is loud")
        shell.sendline("fg")
    shell.expect_exact(shown)
    shell.send(answer)
    shell.expect_exact(said)
    shell.expect_exact("Hello.")
    shell.expect_exact("What should I do?")
    shell.send(CTRL_D)
    shell.expect("sh> ")
    shell.sendline("exit")
    shell.expect(pexpect.EOF)


class Typist:
    """Types words one after the other before a terminal, whatever it shows. `words` are those so far."""

    def __init__(self, halo: Halo, screen: str, *words: str) -> None:
        lines = ("--plain",) if screen == "lines" else ()
        env = halo.env | {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm-256color"}
        arguments = [*HALO[1:], *lines, *words]
        self._halo = halo
        self.terminal = pexpect.spawn(
            HALO[0], arguments, cwd=str(halo.folder), env=env, dimensions=(30, 150), timeout=LIMIT, encoding="utf-8"
        )
        self.words: list[str] = []

    def types(self, count: int) -> "Typist":
        for _ in range(count):
            self.words.append(f"word{len(self.words):03d}")
            for key in f"{self.words[-1]} ":
                self.presses(key)
                time.sleep(0.003)
        return self

    def presses(self, key: str) -> "Typist":
        os.write(self.terminal.child_fd, key.encode())
        with suppress(pexpect.TIMEOUT, pexpect.EOF):
            while True:
                self.terminal.read_nonblocking(65536, 0)
        return self

    def sends(self) -> list[str]:
        """Press Enter until it is taken. Return the words of the prompt."""
        while self.terminal.isalive():
            for _ in range(20):
                time.sleep(0.1)
                self.presses("")
                if found := [text for text in self._prompts() if "word" in text]:
                    self.terminal.close(force=True)
                    return " ".join(found).split()
            self.presses("\r")
        return []

    def _prompts(self) -> list[str]:
        events = [event for task in self._halo.tasks for event in self._halo.log(task)]
        parts = [part for event in events if isinstance(event, ev.TurnStarted) for part in event.content]
        return [part.text for part in parts if isinstance(part, Text)]


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["lines", "live"])
def test_what_is_typed_while_halo_starts_is_all_in_the_first_prompt(halo: Halo, screen: str) -> None:
    typist = Typist(halo, screen, "-m", halo.script(HELLO)).types(70)
    assert typist.sends() == typist.words


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["lines", "live"])
def test_what_is_typed_while_a_turn_begins_and_ends_is_all_in_the_next_prompt(halo: Halo, screen: str) -> None:
    typist = Typist(halo, screen, "-m", halo.script({"text": "And on. " * 10, "pace": 0.05}, HELLO), "hi").types(90)
    assert typist.sends() == typist.words


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["lines", "live"])
def test_what_is_typed_while_a_new_task_begins_is_all_in_its_first_prompt(halo: Halo, screen: str) -> None:
    typist = Typist(halo, screen, "-m", halo.script(HELLO, HELLO), "hi")
    typist.terminal.expect(COMPOSER if screen == "lines" else "done")
    typist.presses("/clear\r").types(70)
    assert typist.sends() == typist.words


@pytest.mark.slow
def test_what_is_typed_while_a_command_goes_to_the_background_is_all_in_the_next_prompt(halo: Halo) -> None:
    endless = {"call": [shell("echo began; sleep 1000")]}
    typist = Typist(halo, "live", "-y", "-m", halo.script(endless, HELLO, HELLO), "hi")
    typist.terminal.expect("began")
    typist.types(10).presses("\x02").types(70)
    assert typist.sends() == typist.words
