import io

from rich.console import Console

from halocline.protocol import events as ev
from halocline.surfaces.cli.live.live_screen import LiveScreen
from halocline.surfaces.terminal.application.activity import LiveActivity


def test_what_was_unfinished_stays_drawn_while_its_rows_wait_for_the_next_frame() -> None:
    console = Console(file=io.StringIO(), width=40, force_terminal=True)
    screen, holds = LiveScreen(console, LiveActivity(console, lambda: None)), False
    screen.is_holding = lambda: holds
    screen.show(ev.TextDelta("some words"))
    before = screen.draw_unfinished(40, 20)
    holds = True
    screen.show(ev.TextDelta(" and more\n\n"))
    assert screen.draw_unfinished(40, 20) == before
    holds = False
    assert screen.draw_unfinished(40, 20) == ()
