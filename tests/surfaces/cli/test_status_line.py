import asyncio
import io

import pytest
from rich.console import Console

from halocline.protocol import events as ev
from halocline.surfaces.rows.transcript import Transcript
from halocline.surfaces.terminal.drawing.activity_line import ActivityLine
from halocline.surfaces.terminal.drawing.status_line import INTERVAL, Activity, StatusLine


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def line(clock: Clock) -> StatusLine:
    return StatusLine(Console(file=io.StringIO(), width=80), clock)


def test_it_says_what_happens_and_for_how_long() -> None:
    clock = Clock()
    status = line(clock)
    status.set(Activity("running npm test"))
    clock.now += 12.4
    assert status.words(80) == "running npm test · 12 s"


def test_the_same_words_go_on_counting_and_other_words_begin_anew() -> None:
    clock = Clock()
    status = line(clock)
    status.set(Activity("writing"))
    clock.now += 3
    status.set(Activity("writing"))
    clock.now += 3
    assert status.words(80) == "writing · 6 s"
    status.set(Activity("working"))
    assert status.words(80) == "working"


def test_a_retry_counts_down() -> None:
    clock = Clock()
    status = line(clock)
    status.set(Activity("retrying in", until=clock.now + 8))
    clock.now += 3
    assert status.words(80) == "retrying in 5 s"


def test_after_a_long_wait_it_says_how_to_stop() -> None:
    clock = Clock()
    status = line(clock)
    status.set(Activity("waiting for the model"))
    clock.now += 21
    assert status.words(80) == "waiting for the model · 21 s · Ctrl-C stops"


def test_before_that_it_says_what_else_can_be_done() -> None:
    clock = Clock()
    status = line(clock)
    status.set(Activity("running make", hint="press B"))
    assert status.words(80) == "running make"
    clock.now += 5
    assert status.words(80) == "running make · 5 s · press B"


def test_it_shows_the_end_of_what_is_being_said() -> None:
    status = line(Clock())
    status.set(Activity("writing", lambda: "x" * 100 + " the end\x1b[31m"))
    assert status.words(40) == "writing   …" + "x" * 21 + " the end"


@pytest.mark.parametrize("width", [10, 20, 60])
def test_it_never_wraps(width: int) -> None:
    status = line(Clock())
    status.set(Activity("漢字" * 40, lambda: "漢" * 200))
    assert len(status.words(width)) <= width


def test_a_long_command_is_cut_and_not_the_time_and_the_keys() -> None:
    clock = Clock()
    status = line(clock)
    status.set(Activity("running for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 1; done", hint="Ctrl-B moves it"))
    clock.now += 25
    assert status.words(60).endswith("… · 25 s · Ctrl-C stops · Ctrl-B moves it")
    assert status.words(40).endswith("… · 25 s · Ctrl-C stops")
    assert status.words(24).endswith("… · 25 s")


def test_nothing_is_drawn_where_the_terminal_cannot_redraw() -> None:
    assert not line(Clock()).is_live


@pytest.fixture(autouse=True)
def able_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever terminal the tests are run on."""
    monkeypatch.setenv("TERM", "xterm-256color")


async def drawn(terminal: io.StringIO, width: int, height: int, below: tuple[str, ...]) -> StatusLine:
    status = StatusLine(Console(file=terminal, width=width, height=height, force_terminal=True, color_system=None))
    status.start()
    status.set(Activity("writing a.py", lambda: "+1 −1", below=below))
    await asyncio.sleep(2.5 * INTERVAL)
    return status


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def test_a_command_that_runs_long_is_told_of_once() -> None:
    clock, told = Clock(), []
    status = StatusLine(Console(file=Terminal(), force_terminal=True), clock)
    status.on_long = told.append
    status.interval = 0.001
    status.start()
    for activity in (Activity("waiting for the model"), Activity("running npm test", is_command=True)):
        status.set(activity)
        for seconds in (29, 2, 60):
            clock.now += seconds
            await asyncio.sleep(0.02)
    status.stop()
    assert told == ["running npm test"]


async def test_what_grows_is_drawn_below_and_all_of_it_is_taken_away() -> None:
    terminal = Terminal()
    status = await drawn(terminal, 40, 20, ("-old", "+new" + "x" * 50, " \x1b[2Jsame\r"))
    frames = terminal.getvalue().split("\r\x1b[3A\x1b[J")
    assert len(frames) >= 2
    assert [line.count("\x1b[") for line in frames[0].split("\r\n")][1:] == [2, 2, 2]
    assert "+ newxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" in frames[0]
    assert "\x1b[2J" not in terminal.getvalue()
    before = len(terminal.getvalue())
    status.stop()
    assert terminal.getvalue()[before:] == "\r\x1b[3A\x1b[J"


async def test_what_grows_has_no_more_lines_than_there_is_room_for() -> None:
    terminal = Terminal()
    (await drawn(terminal, 40, 4, ("+one", "+two", "+three"))).stop()
    assert "+ one" not in terminal.getvalue()
    assert "+ two" in terminal.getvalue()


def test_a_command_of_another_client_names_its_place_and_no_keys_that_do_not_stop_it() -> None:
    status = StatusLine(Console(file=io.StringIO(), width=80))
    status.is_live, status.patience = True, 0.0
    activity = ActivityLine(status, can_leave=False)
    activity.is_own = lambda client: False
    activity.follow(ev.OwnCommandStarted("!1", "make", "cli 7"), Transcript(), ())
    assert status.words(80) == "running !make · in another terminal"
