import io

from rich.console import Console

from halocline.protocol import events as ev
from halocline.surfaces.cli.live.live_screen import LiveScreen
from halocline.surfaces.terminal.application.activity import LiveActivity


def drawn(text: str, rows: int = 20) -> list[str]:
    console = Console(file=io.StringIO(), width=40, force_terminal=True)
    screen = LiveScreen(console, LiveActivity(console, lambda: None))
    screen.show(ev.TextDelta(text))
    screen.print_code()
    return ["".join(part for _, part, *_ in line).rstrip() for line in screen.draw_unfinished(40, rows)]


def test_a_block_that_is_being_written_is_drawn_as_it_will_stand() -> None:
    assert drawn("- one\n- **two** wo") == ["", "   • one", "   • two wo"]
    assert drawn("some\nwords") == ["", "  some words"]
    assert drawn("") == []


def test_code_that_is_being_written_continues_the_lines_above_it() -> None:
    assert drawn("```python\nx = ") == ["", "x ="]
    assert drawn("```python\nx = 1\ny") == ["y"]


def test_what_outgrows_its_rows_moves_up_by_half_of_them() -> None:
    assert drawn("".join(f"- {number}\n" for number in range(9)), rows=6)[1:] == [f"   • {n}" for n in range(3, 9)]
