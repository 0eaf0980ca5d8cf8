"""The layout of the live screen: lines above the composer, the composer, lines below it."""

from collections.abc import Callable, Sequence

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import ConditionalContainer, Dimension, HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl, SearchBufferControl
from prompt_toolkit.layout.processors import AfterInput, BeforeInput, ConditionalProcessor, PasswordProcessor
from prompt_toolkit.lexers import SimpleLexer
from prompt_toolkit.styles import Style

from halocline.client.themes import ATTRIBUTES, Theme
from halocline.first_frame import LEAST_RULED_ROWS
from halocline.surfaces.terminal.application.renderer import repeats_characters
from halocline.surfaces.wrapping import Fragments

_SEARCH = {"search": "nobold", "incsearch": "nobold underline", "incsearch.current": "nobold underline"}
MOST_TYPED_ROWS = 10
"""Most rows of the text being typed; a longer one scrolls."""


def build_style(theme: Theme) -> Style:
    """Build the styles of a theme, which are those of the rows above the screen."""
    styles = {role: translate_style(style, dims=theme.has_colors) for role, style in theme.styles.items()}
    return Style.from_dict({**styles, "mark": f"{styles['accent']} bold", "rule": styles["quiet"], **_SEARCH})


def translate_style(style: str, *, dims: bool) -> str:
    """Return a theme's style in the words of the screen. What is only dim is gray there if it `dims`."""
    words, place = list[str](), "fg:"
    for word in style.split():
        match word:
            case "on":
                place = "bg:"
            case "dim":
                words += ["fg:ansibrightblack"] if dims else []
            case _:
                words.append(word if word in ATTRIBUTES else f"{place}{_translate_color(word)}")
    return " ".join(words)


def _translate_color(name: str) -> str:
    if name.startswith("#"):
        return name
    return "ansi" + {"white": "gray", "bright_white": "white"}.get(name, name.replace("_", ""))


Lines = Callable[[int, int], list[Fragments]]
"""Lines for a width, at most so many."""


class LivePanes:
    """The parts of the screen: lines above and below the composer, its mark, and the hint shown while it is empty.

    What is typed is not shown while it `is_secret`, and has few rows where the person `is_asked` something else.
    """

    def __init__(
        self,
        buffer: Buffer,
        above: Lines,
        below: Lines,
        mark: Callable[[], str],
        hint: Callable[[], str],
        is_secret: Callable[[], bool] = bool,
        is_asked: Callable[[], bool] = bool,
    ) -> None:
        self._above = above
        self._below = below
        self._mark = mark
        self._search = SearchBufferControl(
            Buffer(multiline=False), input_processors=[BeforeInput("Search prompts: ", style="class:accent")]
        )
        is_empty = Condition(lambda: not buffer.text) & ~is_searching
        self.typed = Window(
            BufferControl(
                buffer,
                lexer=SimpleLexer("class:prompt"),
                search_buffer_control=self._search,
                preview_search=True,
                input_processors=[
                    ConditionalProcessor(PasswordProcessor(), Condition(is_secret)),
                    ConditionalProcessor(AfterInput(hint, style="class:quiet"), is_empty),
                ],
            ),
            height=lambda: Dimension(min=1, max=min(MOST_TYPED_ROWS, max(1, _rows() // (8 if is_asked() else 3)))),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=self._prefix,
        )

    def build_layout(self) -> Layout:
        """Build the layout, with the composer in focus."""
        search = ConditionalContainer(Window(self._search, height=1), is_searching)
        above, below = _lines_window(self._lines_above), _lines_window(self._lines_below)
        split = HSplit([above, _draw_rule(1), self.typed, search, _draw_rule(2), below])
        return Layout(split, focused_element=self.typed)

    def _prefix(self, line: int, wraps: int) -> StyleAndTextTuples:
        return [("class:mark", self._mark())] if line == wraps == 0 else [("", "  ")]

    def _lines_below(self) -> StyleAndTextTuples:
        return join_lines(self._below(_columns(), max(1, _rows() - 3 - _count_rules())))

    def _lines_above(self) -> StyleAndTextTuples:
        """Lines above, in the rows that the others leave."""
        below = len(self._below(_columns(), max(1, _rows() - 3 - _count_rules()))) + _count_rules()
        typed = self.typed.preferred_height(_columns(), _rows()).preferred
        return join_lines(self._above(_columns(), max(0, _rows() - below - typed - 1)))


def _draw_rule(number: int) -> ConditionalContainer:
    """A rule: the first one above the composer, the second below it."""
    rule = Window(height=1, char="─", style="class:rule")
    return ConditionalContainer(rule, Condition(lambda: _count_rules() >= number))


def _count_rules() -> int:
    """None where there are no rows to spare, one where a rule takes many bytes of each frame."""
    if _rows() < LEAST_RULED_ROWS:
        return 0
    return 2 if repeats_characters() else 1


def _lines_window(lines: Callable[[], StyleAndTextTuples]) -> ConditionalContainer:
    control = FormattedTextControl(lines)
    window = Window(control, dont_extend_height=True, wrap_lines=False)
    return ConditionalContainer(window, Condition(lambda: bool(lines())))


def join_lines(lines: Sequence[Fragments]) -> StyleAndTextTuples:
    """Join lines into one formatted text."""
    joined: StyleAndTextTuples = []
    for at, line in enumerate(lines):
        joined += [("", "\n")] * bool(at)
        joined += line
    return joined


def _columns() -> int:
    return get_app().output.get_size().columns


def _rows() -> int:
    return get_app().output.get_size().rows
