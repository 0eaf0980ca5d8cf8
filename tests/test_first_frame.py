"""The first frame: when it is drawn, and that whatever comes instead finds the terminal as it was."""

import shlex
import sys

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open, open_terminal

from halocline.first_frame import ALONE, BEFORE_VALUES, HINT, FirstFrame, begins_empty
from halocline.surfaces.cli.args.command_line import parse_arguments
from halocline.surfaces.cli.live.panes import PROMPT_HINTS

__all__ = ["open_terminal"]

EMPTY = ["", "-m a/b", "-y", "--model a/b --yolo", "-C /tmp --effort low"]
ANYTHING_ELSE = [
    "fix it",
    "-p hello",
    "--version",
    "board",
    "-m",
    "-m --yolo",
    "-c",
    "--resume x",
    "--screen-reader",
    "--plain",
]


@pytest.mark.parametrize(("line", "is_drawn"), [(line, line in EMPTY) for line in EMPTY + ANYTHING_ELSE])
def test_the_frame_is_drawn_where_a_conversation_begins_with_an_empty_composer(line: str, is_drawn: bool) -> None:
    assert begins_empty(shlex.split(line)) is is_drawn


def test_what_draws_the_frame_is_known_to_the_command_line_and_looks_like_the_screen() -> None:
    for option in (*ALONE, *(f"{option} low" for option in BEFORE_VALUES)):
        assert parse_arguments(shlex.split(option)).prompt == [], option
    assert all(hint.startswith(HINT) for hint in PROMPT_HINTS)


def test_without_a_terminal_nothing_is_drawn_and_the_streams_stay() -> None:
    frame, streams = FirstFrame(), (sys.stdout, sys.stderr)
    frame.draw([])
    assert (frame.modes, frame.erase(), (sys.stdout, sys.stderr)) == (None, False, streams)


@pytest.mark.process
@pytest.mark.slow
def test_an_error_takes_the_frame_back_and_the_terminal_echoes_again(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal()
    before = terminal.modes()
    terminal.runs(f"{sys.executable} -m halocline -m nowhere/model").sees("no provider 'nowhere'").sees_no("❯")
    assert terminal.modes() == before


@pytest.mark.process
@pytest.mark.slow
def test_after_a_conversation_that_began_with_the_frame_the_terminal_is_as_it_was(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal()
    before = terminal.modes()
    terminal.starts("-m", halo.script({"text": "Hello."}))
    assert terminal.screen.count("❯") == 1
    terminal.presses("C-d").sees_no("❯")
    assert terminal.modes() == before


ASKING = """
from halocline.first_frame import FirstFrame

frame = FirstFrame()
frame.draw([])
print("answered", input("Join it? "))
"""


@pytest.mark.process
@pytest.mark.slow
def test_a_question_takes_the_frame_back_and_its_answer_is_echoed(halo: Halo, open_terminal: Open) -> None:
    (halo.root / "asking.py").write_text(ASKING)
    terminal = open_terminal().runs(f"{sys.executable} {halo.root / 'asking.py'}")
    terminal.sees("Join it?").sees_no("Ask anything").types("yes").sees("Join it? yes").presses("Enter")
    terminal.sees("answered yes")
