"""The person's own keys: how they are written, what they may not take, and that they act on a real terminal."""

from string import ascii_letters as LETTERS

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open

from halocline.surfaces.cli.live.keys import KEYS
from halocline.surfaces.cli.live.own_keys import OTHER_NAMES, parse_keys, read_own_keys, show_keys

WRITTEN = {
    "ctrl-x ctrl-e": ("c-x", "c-e"),
    "Ctrl+X Ctrl+E": ("c-x", "c-e"),
    r"\C-x\C-e": ("c-x", "c-e"),
    r"\C-xp": ("c-x", "p"),
    r"\e\C-k": ("escape", "c-k"),
    "alt-p": ("escape", "p"),
    "meta+P": ("escape", "P"),
    r"\M-f": ("escape", "f"),
    "ctrl-alt-k": ("escape", "c-k"),
    "shift-tab": ("s-tab",),
    "ctrl-enter": ("f24",),
    "shift+enter": ("escape", "enter"),
    "ctrl-k p": ("c-k", "p"),
    "ctrl-space": ("c-space",),
    "f5": ("f5",),
    "PgUp": ("pageup",),
}
REFUSED = {
    "enter": "Enter keeps its meaning",
    "ctrl-m": "Enter keeps its meaning",
    "esc": "Escape keeps its meaning",
    "ctrl+[": "Escape keeps its meaning",
    "esc esc": "Escape keeps its meaning",
    "ctrl-c": "Ctrl-C keeps its meaning",
    "ctrl-c x": "Ctrl-C keeps its meaning",
    "y": "it is text",
    "Y": "it is text",
    "space": "it is text",
    "ä": "it is text",
    "shift-x": "there is no key",
    "hyper-x": "there is no key",
    "ctrl-nothing": "there is no key",
    "": "it names no key",
}


@pytest.mark.parametrize(("text", "keys"), WRITTEN.items())
def test_keys_are_read_as_people_claude_code_and_readline_write_them(text: str, keys: tuple[str, ...]) -> None:
    assert parse_keys(text) == keys
    assert parse_keys(show_keys(keys)) == keys


@pytest.mark.parametrize(("text", "why"), REFUSED.items())
def test_a_line_that_would_take_what_must_stay_is_left_out_and_named(text: str, why: str) -> None:
    own = read_own_keys({text: "send"})
    assert own.rows == KEYS
    assert why in own.problems[0]


def test_every_known_name_of_another_program_is_an_action() -> None:
    names = [*OTHER_NAMES, "undo"]
    assert (
        read_own_keys({f"ctrl-x {letter}": name for letter, name in zip(LETTERS, names, strict=False)}).problems == ()
    )
    assert len(names) < len(LETTERS)


def test_keys_that_are_bound_anew_lose_what_they_did() -> None:
    own = read_own_keys({"ctrl-o": "edit", "ctrl-s": "", "ctrl-r": "/status"})
    keys = {row.action: row.keys for row in own.rows}
    assert (keys["edit"], keys["expand"], keys["steer"]) == ((("c-g",), ("c-o",)), (), (("f24",),))
    shown = dict(own.key_lines())
    assert shown["Ctrl-O"] == "edit in your editor"
    assert shown["Ctrl-Enter"] == "send to this turn now"
    assert shown["Ctrl-R"] == "/status"
    assert not {"Ctrl-G", "Ctrl-S"} & {*shown}
    assert ("←" in shown, "←" in dict(own.key_lines(without="go_to_board"))) == (True, False)


@pytest.mark.parametrize("action", ["no-such-action", 3, ["send"], {"key": "send"}])
def test_an_action_that_does_not_exist_is_named_and_the_other_lines_count(action: object) -> None:
    own = read_own_keys({"ctrl-t": action, "ctrl-y": "/todos"})
    assert len(own.problems) == 1
    assert own.others == {("c-y",): "/todos"}


@pytest.mark.process
@pytest.mark.slow
def test_own_keys_act_on_the_screen_and_a_bad_line_is_said_once(halo: Halo, open_terminal: Open) -> None:
    halo.home.mkdir()
    (halo.home / "keys.toml").write_text('"ctrl-t" = "/todos"\n"ctrl-y" = "nothing-like-it"\n')
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    terminal.sees("'ctrl-y' is left out").presses("C-t").sees("The to-do list is empty.")
    terminal.types("half a prompt").presses("C-t").sees("/todos needs an empty prompt", "❯ half a prompt")


@pytest.mark.process
@pytest.mark.slow
def test_with_keys_of_vi_escape_leaves_the_text_and_then_edits_it(halo: Halo, open_terminal: Open) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('[terminal]\nkeys = "vi"\n')
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    terminal.types("one two three").presses("Escape").sees("NORMAL").types("bbdw").sees("❯ one three")
    terminal.types("A!").sees("❯ one three!").sees_no("NORMAL").presses("Enter").sees("Hello.")


@pytest.mark.process
@pytest.mark.slow
def test_the_editor_of_the_settings_gets_pasted_texts_in_full_and_a_text_pasted_again_is_shown(
    halo: Halo, open_terminal: Open
) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text("""[terminal]\neditor = "sed -i s/line/row/"\n""")
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    pasted = "".join(f"line {number}\n" for number in range(12))
    terminal.pastes(pasted).sees("[pasted 12 lines]").presses("C-g").sees("row 11").presses("C-c").sees_no("row 11")
    terminal.pastes(pasted).sees("[pasted 12 lines]").pastes(pasted).sees("line 11").sees_no("[pasted")
