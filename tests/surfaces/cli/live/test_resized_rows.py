import io
import time

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.input import DummyInput
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from halocline.surfaces.terminal.application.renderer import QUIET, LiveOutput, LiveRenderer

WIDE, NARROW = Size(rows=40, columns=100), Size(rows=40, columns=60)


class Drawn:
    """A row that changes above a rule and the cursor, drawn in a window of 100 columns."""

    def __init__(self) -> None:
        self.text, self.size, self.written = "spins -", WIDE, io.StringIO()
        output = LiveOutput(self.written, lambda: self.size)
        rows = [Window(FormattedTextControl(lambda: self.text), height=1), Window(height=1, char="─")]
        typed = Window(FormattedTextControl("typed", focusable=True, get_cursor_position=lambda: Point(0, 0)))
        self.app: Application[None] = Application(
            Layout(HSplit([*rows, typed]), typed), output=output, input=DummyInput(), color_depth=ColorDepth.DEPTH_1_BIT
        )
        self.renderer = LiveRenderer(Style([]), output)
        self.draw(self.text)

    def draw(self, text: str) -> None:
        self.text = text
        self.app.render_counter += 1
        with set_app(self.app):
            self.renderer.render(self.app, self.app.layout)

    def narrow(self) -> str:
        """Make the window narrower. Returns what is written to erase the rows."""
        self.size, before = NARROW, len(self.written.getvalue())
        self.renderer.begin_resize()
        self.renderer.erase_resized()
        return self.written.getvalue()[before:]


def test_a_rule_that_wraps_is_erased_whole_though_a_row_above_it_changed_just_before() -> None:
    drawn = Drawn()
    time.sleep(QUIET)
    drawn.draw("spins /")
    assert "\x1b[3A" in drawn.narrow()


def test_rows_drawn_just_before_the_window_narrowed_are_not_taken_for_wrapped_ones() -> None:
    drawn = Drawn()
    time.sleep(QUIET)
    drawn.draw("spins on and on")
    assert "\x1b[2A" in drawn.narrow()


def test_no_frame_is_drawn_at_a_size_that_no_signal_told_yet() -> None:
    drawn, noticed = Drawn(), list[Size]()
    before = drawn.written.getvalue()

    def begin() -> None:
        noticed.append(drawn.size)
        drawn.renderer.begin_resize()

    drawn.renderer.on_resize = begin
    drawn.size = NARROW
    drawn.draw("spins /")
    assert (noticed, drawn.written.getvalue()) == ([NARROW], before)
