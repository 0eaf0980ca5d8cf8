"""Colors of a program's output that a person sees; nothing else of its control sequences."""

import re

import pytest
from hypothesis import given, strategies as st

from halocline.protocol.events import ToolCallProgressed
from halocline.protocol.terminal_text import colored_output, plain_output, redact_colored

PIECES = st.sampled_from(
    [
        "a",
        "two words",
        "\n",
        "\r",
        "\t",
        "\x1b[31m",
        "\x1b[1;32m",
        "\x1b[0m",
        "\x1b[m",
        "\x1b[38;5;196m",
        "\x1b[48;2;0;0;0m",
        "\x1b[8m",
        "\x1b[2J",
        "\x1b[?25l",
        "\x1b]8;;http://x/\x07link\x1b]8;;\x07",
        "\x1b]0;title\x07",
        "\x1b[",
        "\x1b",
        "\x9b31m",
        "\x08",
        "\x7f",
        "ü",
        "😀",
        "\x1b[A",
        "\x1b[30;40m",
        "\x1b[99999999999m",
        "\x1b[38;2m",
        "\x1b[38m",
        "\x1b[;;m",
    ]
)


@given(st.lists(PIECES).map("".join))
def test_without_its_colors_it_is_the_plain_text(text: str) -> None:
    assert plain_output(colored_output(text)) == plain_output(text)


@given(st.lists(PIECES).map("".join))
def test_only_colors_are_left_and_no_line_leaves_one_to_the_next(text: str) -> None:
    look = r"\x1b\[(?:0|(?:[12347]|3[0-7]|9[0-7])(?:;(?:[12347]|3[0-7]|9[0-7]))*)m"
    for line in colored_output(text).split("\n"):
        assert "\x1b" not in re.sub(look, "", line)
        assert re.findall(look, line)[-1:] in ([], ["\x1b[0m"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m and plain", "\x1b[31mred\x1b[0m and plain"),
        ("\x1b[1;31mone\ntwo\x1b[0m", "\x1b[1;31mone\x1b[0m\n\x1b[1;31mtwo\x1b[0m"),
        ("\x1b[31mold\r\x1b[32mnew", "\x1b[32mnew\x1b[0m"),
        ("\x1b[30;40mhidden", "\x1b[30mhidden\x1b[0m"),
        ("\x1b[8mhidden\x1b[0m", "hidden"),
        ("\x1b[38;5;196mbright\x1b[39m", "\x1b[31mbright\x1b[0m"),
        ("\x1b[38;2;20;20;240mblue", "\x1b[34mblue\x1b[0m"),
        ("\x1b[1mbold\x1b[22m not", "\x1b[1mbold\x1b[0m not"),
    ],
)
def test_letters_look_as_in_a_terminal(text: str, shown: str) -> None:
    assert colored_output(text) == shown


def test_a_key_that_has_colors_inside_is_replaced() -> None:
    colored = colored_output("\x1b[32mfine\x1b[0m\nse\x1b[31mcret\x1b[0m\n")
    assert redact_colored(colored, lambda text: text.replace("secret", "***")) == "\x1b[32mfine\x1b[0m\n***\n"


def test_output_without_colors_is_sent_once() -> None:
    assert ToolCallProgressed.of("c", "plain\n", str) == ToolCallProgressed("c", "plain\n")


def test_outputs_that_follow_each_other_keep_their_colors() -> None:
    one, other = ToolCallProgressed("c", "a"), ToolCallProgressed.of("c", "\x1b[31mb", str)
    assert one.joined(other) == ToolCallProgressed("c", "ab", "a\x1b[31mb\x1b[0m")


DRAWN = {
    "longer redraw": ("10%\r100%\n", "100%\n"),
    "shorter redraw": ("full line\rtw\n", "twll line\n"),
    "redraw that erases": ("full line\r\x1b[Ktw\n", "tw\n"),
    "line erased at its end": ("full line\x1b[2K\rtw\n", "tw\n"),
    "CR at the end": ("50%\r100%\r", "100%"),
    "ends of lines of Windows": ("one\r\ntwo\r\n", "one\ntwo\n"),
    "several CR": ("ab\r\r\ncd\r  ", "ab\n  "),
    "backspaces": ("abc\b\bX\n", "aXc\n"),
    "overstruck letters of a manual": ("N\bNA\bA\n", "NA\n"),
    "moves to the right and to a column": ("a\x1b[3Cb\x1b[1Gz\r\n", "z   b\n"),
    "moves that lead far away": ("a\r\x1b[9999Cb", "a" + " " * 200 + "b"),
}


@pytest.mark.parametrize(("text", "shown"), DRAWN.values(), ids=DRAWN)
def test_a_line_that_is_drawn_again_shows_what_a_terminal_shows(text: str, shown: str) -> None:
    assert plain_output(text) == plain_output(colored_output(text)) == shown
