import os
import pty
import tty

import pytest

from halocline.surfaces.terminal.application.terminal_answers import (
    AnsweringReader,
    answers_queries,
    drop_codes,
    take_answer,
)


@pytest.mark.parametrize(
    ("typed", "rest", "color"),
    [
        ("\x1b]11;rgb:1616/1818/1d1d\x1b\\", "", (22, 24, 29)),
        ("ab\x1b]11;rgb:ff/ff/ff\x07c", "abc", (255, 255, 255)),
        ("]11;rgb:0/8/f\x07", "", (0, 136, 255)),
        ("\x1b[A]11;rgb", "\x1b[A]11;rgb", None),
        ("no answer", "no answer", None),
    ],
)
def test_the_answer_is_taken_out_of_what_is_typed(typed: str, rest: str, color: tuple[int, int, int] | None) -> None:
    assert take_answer(typed) == (rest, color)


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("a\x1b[I\x1b[Ob", "ab"),
        ("\x1b[?62;22c", ""),
        ("\x1b[200;5u", ""),
        ("\x1b[A\x1b[1;5C", "\x1b[A\x1b[1;5C"),
        ("\x1b[200~x\x1b[201~", "\x1b[200~x\x1b[201~"),
        ("\x1b[<0;3;4M\x1b[5;9R", "\x1b[<0;3;4M\x1b[5;9R"),
        ("\x1b", "\x1b"),
    ],
)
def test_codes_that_are_no_keys_are_not_typed(typed: str, left: str) -> None:
    assert drop_codes(typed) == left


@pytest.mark.process
def test_an_answer_in_pieces_is_no_key_and_what_is_typed_around_it_stays() -> None:
    terminal, keyboard = pty.openpty()
    tty.setraw(keyboard)
    colors: list[tuple[int, int, int]] = []
    with open(keyboard, encoding="utf-8", closefd=False) as stdin:
        reader, typed = AnsweringReader(stdin, colors.append), ""
        for piece in ("a\x1b]11;r", "gb:0000/0000/00", "00\x1b", "\\b", "\x1b]later"):
            os.write(terminal, piece.encode())
            typed += reader.read()
    assert (typed, colors) == ("ab\x1b]later", [(0, 0, 0)])
    os.close(terminal)
    os.close(keyboard)


@pytest.mark.parametrize(
    ("term", "asks"), [("xterm-256color", True), ("tmux", True), ("dumb", False), ("linux", False)]
)
def test_only_terminals_that_read_questions_are_asked(monkeypatch: pytest.MonkeyPatch, term: str, asks: bool) -> None:
    monkeypatch.setenv("TERM", term)
    assert answers_queries() is asks
