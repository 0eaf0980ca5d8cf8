import io

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from tests.tables import for_each

from halocline.surfaces.cli.live.card import Card
from halocline.surfaces.cli.stderr import fold_text
from halocline.surfaces.wrapping import wrap_line

CONSOLE = Console(file=io.StringIO(), width=200)
LINES = [
    "The café is open until the evening, and all who come are welcome there – always.",
    "Ein Satz mit Umlauten wie für, größer und über, der länger ist als eine Zeile.",
    "Emoji 🎉 count 🎉🎉 as two columns each, and 漢字 too, also 漢字仮名交じり文はどこでも改行できます in a sentence.",
    "averyveryverylongwordwithoutanyspacethatisbrokenanywhere and short ones",
    "  indented words stay where they are",
    "",
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def rich_rows(line: str, width: int) -> list[str]:
    rows = Text(line, overflow="fold").wrap(CONSOLE, width)
    return [row.plain.rstrip() for row in rows]


@for_each("width", [12, 20, 37, 80])
@for_each("line", LINES)
def test_a_line_breaks_between_words_where_its_row_will_when_it_is_printed(line: str, width: int) -> None:
    rows = wrap_line(line, width)
    assert [row.rstrip() for row in rows] == rich_rows(line, width)
    assert "".join(rows) == line
    assert all(cell_len(row.rstrip()) <= width for row in rows)


@given(st.text(alphabet="ab é漢🎉-", max_size=60), st.integers(4, 30))
def test_any_text_breaks_as_when_it_is_printed(line: str, width: int) -> None:
    line = line.strip()
    assert [row.rstrip() for row in wrap_line(line, width)] == rich_rows(line, width)


def test_messages_break_between_words_and_leave_commands_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    text = "The café is open until the evening for all.\n  halo checkpoints list -C /a/very/long/path"
    assert fold_text(text, "halo: ", Terminal()).split("\n") == [
        "halo: The café is open until",
        "      the evening for all.",
        "        halo checkpoints list -C /a/very/long/path",
    ]


async def test_options_of_a_card_break_between_words() -> None:
    card = Card("Go?", {"a": "always allow the café program to run, in this folder and below"}, lambda: None)
    rows = ["".join(text for _, text in line) for line in card.lines(30, 10, has_text=False)]
    assert rows[1:4] == ["  a   always allow the café ", "      program to run, in ", "      this folder and below"]
