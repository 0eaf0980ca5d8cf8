"""The person's own commands beside a turn: they are what Esc and Ctrl-C stop first, and their rows stay."""

import shlex
import time
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import HALO, Halo, shell
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT

from halocline.protocol import events as ev
from halocline.protocol.messages import Text

pytestmark = [pytest.mark.slow, pytest.mark.process]

TOUCH, HI = {"call": [shell("touch made")]}, {"text": "Hello."}
OWN = "!echo be''gan; sleep 4711 & echo $! > pid; wait"
CARD = "reject and stop"


def lives(halo: Halo) -> bool:
    return Path("/proc", (halo.folder / "pid").read_text().strip()).exists()


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_at_a_card_the_key_stops_the_own_command_whose_rows_stay_and_the_card_waits_on(
    halo: Halo, open_terminal: Open, key: str
) -> None:
    terminal = open_terminal().starts("-m", halo.script(TOUCH, HI)).says("go").sees(CARD)
    terminal.says(OWN).sees("running !echo").presses(key).saw("began", "stopped after").sees(CARD)
    assert not lives(halo)
    assert [event for event in halo.log() if isinstance(event, ev.TurnEnded | ev.ApprovalResolved)] == []
    terminal.decides("y").saw("Hello.")
    assert (halo.folder / "made").exists()
    assert terminal.everything.count("stopped after") == 1


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_an_own_command_that_outlives_the_turn_is_what_the_key_stops_and_its_rows_come_at_once(
    halo: Halo, open_terminal: Open, key: str
) -> None:
    terminal = open_terminal().starts("-m", halo.script(TOUCH, HI)).says("go").sees(CARD).says(OWN)
    terminal.decides("y").saw("Hello.").sees(HINT).types("draft").presses(key).saw("began", "stopped after")
    assert not lives(halo)
    time.sleep(0.3)
    assert terminal.composer() == "draft"


def test_a_key_stops_the_command_of_its_own_terminal_and_the_other_says_how_it_is_stopped_there(
    halo: Halo, open_terminal: Open
) -> None:
    first = open_terminal(100, 30).starts("-m", halo.script(HI)).says("go").saw("Hello.").sees(HINT)
    second = open_terminal(100, 30).runs(shlex.join([*HALO, "attach", *halo.tasks])).sees(HINT)
    first.says("!sleep 4711").sees("running !sleep 4711", "Esc stops")
    second.sees("running !sleep 4711", "in another terminal").presses("Escape").sees("/jobs stop !1 stops it")
    second.says("!sleep 4712").sees("running !sleep 4712", "Esc stops").presses("Escape").saw("stopped after")
    assert [event.run for event in halo.log() if isinstance(event, ev.OwnCommandEnded)] == ["!2"]
    second.sees("running !sleep 4711").says("/jobs stop !1").saw("Stopping !1")
    first.saw("sleep 4711", "stopped after")


def test_a_terminal_that_joins_later_shows_the_command_that_runs(halo: Halo, open_terminal: Open) -> None:
    first = open_terminal(100, 30).starts("-m", halo.script(HI)).says("go").saw("Hello.").sees(HINT)
    first.says("!sleep 4711").sees("running !sleep 4711", "Esc stops")
    second = open_terminal(100, 30).runs(shlex.join([*HALO, "attach", *halo.tasks]))
    second.sees("running !sleep 4711", "in another terminal")
    first.presses("Escape").saw("stopped after")
    second.sees(HINT)


def test_the_next_key_stops_the_turn_and_the_rows_of_both_stay(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(TOUCH, HI)).says("go").sees(CARD).says(OWN)
    terminal.sees("running !echo").presses("Escape", "Escape").saw("stopped after", "interrupted").sees(HINT)


def test_a_shell_command_typed_before_the_screen_stands_runs_and_is_no_prompt(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().runs(shlex.join([*HALO, "-m", halo.script(HI)])).says("!touch made").says("/status now")
    terminal.saw("exit code 0").sees("❯ /status now")
    assert (halo.folder / "made").exists()
    terminal.presses("C-u").pastes("see:\n!touch more\n/quit").presses("Enter").saw("Hello.")
    turns = [event.content[0] for event in halo.log() if isinstance(event, ev.TurnStarted)]
    assert turns == [Text("see:\n!touch more\n/quit")]


def test_a_paste_before_the_screen_stands_is_one_prompt(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().runs(shlex.join([*HALO, "-m", halo.script(HI)])).sees("Ask anything")
    terminal.pastes("see:\n!touch more\n/quit").presses("Enter").saw("Hello.")
    turns = [event.content[0] for event in halo.log() if isinstance(event, ev.TurnStarted)]
    assert turns == [Text("see:\n!touch more\n/quit")]
