import asyncio
from pathlib import Path

import pytest

from halocline.surfaces.cli.live.outside import OutsideSigns, knows_progress
from halocline.surfaces.terminal.application.person_call import PersonCall, make_notice


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.read_text()]


class Terminal(list[str]):
    @property
    def text(self) -> str:
        return "".join(self)


def signs(terminal: Terminal, *, title: bool = True, progress: bool = True, notify: str = "desktop") -> OutsideSigns:
    found = OutsideSigns(terminal.append, away=0.0)
    found.configure("/home/me/project", title=title, progress=progress, notify=notify)
    return found


def test_the_title_and_the_task_bar_say_what_the_task_does_and_are_given_back() -> None:
    terminal = Terminal()
    shown = signs(terminal)
    for state in ("working", "waiting", "idle"):
        shown.change_state(state)
    shown.close()
    titles = [f"{turn} · project" for turn in ("your turn", "● halo works", "? halo asks you", "your turn")]
    assert [text for text in terminal if text.startswith("\x1b]2;")] == [f"\x1b]2;{title}\x1b\\" for title in titles]
    progress = ["\x1b]9;4;3\x1b\\", "\x1b]9;4;4;100\x1b\\", "\x1b]9;4;0\x1b\\"]
    assert [text for text in terminal if text.startswith("\x1b]9;4")] == progress
    assert (terminal[0], terminal[-1]) == ("\x1b[22;2t", "\x1b[23;2t")


def test_nothing_is_written_where_the_settings_say_so() -> None:
    terminal = Terminal()
    shown = signs(terminal, title=False, progress=False, notify="off")
    shown.change_state("waiting")
    shown.person.call("needs your approval")
    shown.close()
    assert terminal.text == ""


@pytest.mark.parametrize(
    ("notify", "text"), [("bell", "\a"), ("desktop", "\x1b]9;Halocline needs your approval: rm\x1b\\\a"), ("off", "")]
)
def test_a_person_who_is_away_is_called(monkeypatch: pytest.MonkeyPatch, notify: str, text: str) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("TMUX", "VTE_VERSION", "KITTY_WINDOW_ID"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    signs(terminal, title=False, notify=notify).person.call("needs your approval:\nrm")
    assert terminal.text == text


async def test_a_person_who_leaves_after_a_card_appeared_is_called_and_a_key_cancels_that() -> None:
    terminal = Terminal()
    person = PersonCall(terminal.append, away=0.05)
    person.how = "bell"
    person.call("needs your approval")
    assert terminal.text == ""
    person.note_key()
    await asyncio.sleep(0.1)
    assert terminal.text == ""
    person.note_key()
    person.call("needs your approval")
    await asyncio.sleep(0.1)
    assert terminal.text == "\a"


async def test_a_card_that_is_decided_elsewhere_calls_no_one() -> None:
    terminal = Terminal()
    shown = OutsideSigns(terminal.append, away=0.05)
    shown.configure("/x", title=False, progress=False, notify="bell")
    shown.person.call("needs your approval")
    shown.change_state("waiting")
    shown.change_state("working")
    await asyncio.sleep(0.1)
    assert terminal.text == ""


async def test_a_command_of_the_person_calls_instead_and_the_code_does_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("TMUX", "VTE_VERSION", "KITTY_WINDOW_ID"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    for command in (f"printf '%s' \"$1\" > '{tmp_path}/said'", "exit 3"):
        shown = OutsideSigns(terminal.append, away=0.0)
        shown.configure("/x", title=False, progress=False, notify="desktop", command=command)
        shown.person.call("needs your approval:\n$(rm x)")
        while not (terminal if command == "exit 3" else files_in(tmp_path)):
            await asyncio.sleep(0.01)
    assert (tmp_path / "said").read_text() == "Halocline needs your approval: $(rm x)"
    assert "needs your approval" in terminal.text


NOTICES = {
    "xterm-256color": "\x1b]9;Halocline is done; yes\x1b\\\a",
    "xterm-kitty": "\x1b]99;;Halocline is done; yes\x1b\\\a",
    "foot": "\x1b]777;notify;Halocline;is done, yes\x1b\\\a",
    "dumb": "\a",
}


@pytest.mark.parametrize(("term", "code"), NOTICES.items())
def test_each_terminal_gets_the_notification_that_it_knows(term: str, code: str) -> None:
    assert make_notice("is done; yes", {"TERM": term}) == code


def test_tmux_hands_a_notification_on_and_rings_itself() -> None:
    code = make_notice("is done", {"TERM": "tmux-256color", "TMUX": "/tmp/tmux"})
    assert code == "\x1bPtmux;\x1b\x1b]9;Halocline is done\x1b\x1b\\\x1b\\\a"


def test_a_folder_whose_name_has_escape_codes_cannot_write_to_the_terminal() -> None:
    terminal = Terminal()
    shown = OutsideSigns(terminal.append)
    shown.configure("/x/\x1b]52;c;evil\x07", title=True, progress=False, notify="off")
    assert "\x1b]52" not in terminal.text


@pytest.mark.parametrize(
    ("variables", "knows"),
    [
        ({"WT_SESSION": "1"}, True),
        ({"TERM_PROGRAM": "ghostty"}, True),
        ({"VTE_VERSION": "7902"}, True),
        ({"VTE_VERSION": "6800"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, False),
    ],
)
def test_only_terminals_that_know_progress_are_sent_it(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], knows: bool
) -> None:
    for name in ("WT_SESSION", "TERM_PROGRAM", "TERM", "VTE_VERSION", "ConEmuANSI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert knows_progress() is knows
