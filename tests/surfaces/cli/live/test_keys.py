from collections import deque

import pytest
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from halocline.surfaces.cli.live.actions import LiveActions
from halocline.surfaces.cli.live.bindings import take_rest_of_paste
from halocline.surfaces.cli.live.keys import KEYS
from halocline.surfaces.terminal.application.terminal_keys import (
    APART,
    CTRL_ENTER,
    TOGETHER,
    find_escape_timeout,
    has_unambiguous_keys,
    list_sequences,
    split_recall,
    teach_sequences,
)

TERMINALS = [
    ({"TERM": "xterm-kitty"}, True),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, True),
    ({"TERM": "xterm-256color"}, False),
    ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1"}, False),
    ({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, False),
]


@pytest.mark.parametrize(("variables", "has"), TERMINALS)
def test_only_terminals_that_know_them_are_asked_for_unambiguous_keys(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], has: bool
) -> None:
    for name in ("TERM", "TERM_PROGRAM", "KITTY_WINDOW_ID", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert has_unambiguous_keys() is has


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        ("\x1b[13;2u", [Keys.Escape, Keys.ControlM]),
        ("\x1b[27;2;13~", [Keys.Escape, Keys.ControlM]),
        ("\x1b[13;5u", [CTRL_ENTER]),
        ("\x1b[27u", [Keys.Escape]),
        ("\x1b[99;5u", [Keys.ControlC]),
        ("\x1b[98;3u", [Keys.Escape, "b"]),
    ],
)
def test_sequences_of_the_kitty_protocol_are_keys(
    monkeypatch: pytest.MonkeyPatch, data: str, keys: list[Keys | str]
) -> None:
    for sequence, meant in list_sequences().items():
        monkeypatch.setitem(ANSI_SEQUENCES, sequence, meant)  # undone afterwards
    teach_sequences()
    pressed: list[KeyPress] = []
    parser = Vt100Parser(pressed.append)
    parser.feed(data)
    parser.flush()
    assert [press.key for press in pressed] == keys


def test_every_bound_key_has_an_action_and_no_two_share_one() -> None:
    bound = [combination for row in KEYS for combination in row.keys]
    assert len(bound) == len(set(bound))
    assert [row.action for row in KEYS if row.keys and not hasattr(LiveActions, row.action)] == ["expand"]


@pytest.mark.parametrize(
    ("env", "timeout"), [({}, TOGETHER), ({"SSH_CONNECTION": "1"}, APART), ({"SSH_TTY": "x"}, APART)]
)
def test_over_a_connection_the_bytes_of_a_key_may_come_apart(env: dict[str, str], timeout: float) -> None:
    assert find_escape_timeout(env) == timeout
    assert APART > 0.5


def test_a_paste_that_writes_an_end_of_its_own_sends_nothing() -> None:
    pressed: list[KeyPress] = []
    Vt100Parser(pressed.append).feed("\x1b[200~first\x1b[201~ second\rthird\x1b[201~")
    paste, *rest = pressed
    waiting = deque(rest)
    assert (paste.key, paste.data) == (Keys.BracketedPaste, "first")
    assert (take_rest_of_paste(waiting), len(waiting)) == (" second\rthird", 0)


def test_enter_behind_a_paste_stays_a_key() -> None:
    waiting = deque([KeyPress(Keys.ControlM, "\r")])
    assert (take_rest_of_paste(waiting), len(waiting)) == ("", 1)


@pytest.mark.parametrize(
    ("typed", "before", "keys"),
    [
        ("hello\r", "hello\r", ""),
        ("\x12walk\rmore\r", "\x1b[200~more", "\x12walk"),
        ("\x1b[A\r", "", "\x1b[A"),
        ("draft\x1b[A\x1bOA now", "draft", "\x1b[A\x1bOA now"),
        ("\x1b[A now\rmore\r", "", "\x1b[A now\x1b[200~\nmore\x1b[201~"),
        ("\x1b[200~a\x1b[A", "\x1b[200~a\x1b[A", ""),
    ],
)
def test_keys_that_ask_for_the_history_before_the_screen_stands_are_keys_and_send_nothing(
    typed: str, before: str, keys: str
) -> None:
    assert split_recall(typed) == (before, keys)
