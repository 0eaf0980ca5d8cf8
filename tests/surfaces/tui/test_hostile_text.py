import re

import pytest
from rich.style import Style
from tests.surfaces.cli.halo_process import Halo, shell
from tests.surfaces.tui.conftest import OpenBoard

from halocline.protocol.kinds import Diff, Todo, TodoStatus, ToolKind
from halocline.protocol.messages import StopReason
from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.transcript import Transcript
from halocline.surfaces.tui.drawing import Pen
from halocline.surfaces.tui.hunks import Hunk, HunkBlock
from halocline.surfaces.tui.row_blocks import NoteBlock, RowBlocks
from halocline.surfaces.tui.task_entry import TaskEntry, draw_entry
from halocline.surfaces.tui.timeline_screen import TextBlock

EVIL = (
    "[red]markup[/red] [@click=app.bell]click[/] [link=https://evil.example]l[/link] :bomb: "
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\ \x1b]52;c;ZXZpbA==\a \x9b2J "
    "\u202egnp.exe\u202c zero\u200bwidth \x07bell \x7f"
)
SHOWN = ("[red]markup[/red]", "[@click=app.bell]click[/]", ":bomb:")
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PEN = Pen()
DIFF = f"@@ -1,2 +1,2 @@\n-old {EVIL}\n+new {EVIL}\n same {EVIL}\n"

ROWS = (
    r.PromptRow(EVIL),
    r.ThoughtRow(EVIL),
    r.ReplyRow(EVIL),
    r.CallRow("1", "execute_command", EVIL, ToolKind.EXECUTE, output=EVIL),
    r.CallRow("2", EVIL, EVIL, foreign=True, status=r.CallStatus.COMPLETED, output=EVIL),
    r.CallRow(
        "3", "replace_in_file", EVIL, ToolKind.EDIT, diffs=(Diff(EVIL, DIFF, 1, 1),), approval=r.Approval("q", EVIL)
    ),
    r.CallRow("4", "use_subagents", EVIL, lanes=(r.Lane("c", EVIL, EVIL, doing=EVIL),)),
    r.QuestionRow("q", EVIL, (EVIL, "no")),
    r.TodosRow((Todo(EVIL, TodoStatus.PENDING),)),
    r.CheckpointRow(EVIL, EVIL),
    r.NoticeRow(EVIL),
    r.ErrorRow("x", EVIL, EVIL),
    r.TurnEndRow(StopReason.ERROR, text=EVIL),
)


def assert_harmless(strips) -> None:
    for strip in strips:
        assert not UNSAFE.search(strip.text)
        for segment in strip:
            style = segment.style or Style.null()
            assert not style.meta
            assert not style.link or style.link == segment.text.strip()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{type(row).__name__}")
@pytest.mark.parametrize("is_expanded", [False, True])
def test_a_hostile_row_is_drawn_as_text(row: r.Row, is_expanded: bool):
    blocks = RowBlocks()
    (block,) = blocks.build(Transcript(rows=(row,)))
    if is_expanded:
        blocks.toggle(block)
        (block,) = blocks.build(Transcript(rows=(row,)))
    for width in (20, 80, 200):
        assert_harmless(block.draw_lines(width, PEN))


def test_a_growing_reply_is_drawn_as_text():
    blocks = RowBlocks()
    for end in range(0, len(EVIL), 3):
        for block in blocks.build(Transcript(draft=(r.ReplyRow(f"{EVIL}\n\n{EVIL[:end]}", draft=True),))):
            assert_harmless(block.draw_lines(60, PEN))


@pytest.mark.parametrize("width", [40, 119, 200])
def test_a_hostile_hunk_is_drawn_as_text(width: int):
    strips = HunkBlock(Hunk(EVIL, "changed", f"--- a\n+++ b\n{DIFF}", 0)).draw_lines(width, PEN)
    assert_harmless(strips)
    assert "[red]markup" in "".join(strip.text for strip in strips)


def test_a_hostile_task_is_drawn_as_text():
    entry = TaskEntry(TaskInfo("1", EVIL, EVIL, EVIL, 0.0, 0.0, EVIL, 0))
    for width in (50, 120):
        assert_harmless(map(PEN.draw_fragments, draw_entry(entry, width, 1.0)))


def test_notes_and_messages_are_drawn_as_text():
    assert_harmless([*NoteBlock("n", EVIL, (Diff(EVIL, DIFF, 1, 1),)).draw_lines(80, PEN), PEN.draw_text(EVIL)])
    assert_harmless(TextBlock([EVIL]).draw_lines(80, PEN))


@pytest.mark.slow
@pytest.mark.process
async def test_markup_in_names_output_and_replies_is_shown_as_it_is(halo: Halo, open_board: OpenBoard):
    name = "[@click=app.exit]x[red]"
    (halo.folder / name).write_text("[bold]content[/bold]\n")
    turns = ({"text": "A [b]reply[/b].", "call": [shell("ls; cat '[@click=app.exit]x[red]'")]}, {"text": "[red]End[/]"})
    await halo.run("-p", "--approval-mode", "yolo", "-m", halo.script(*turns), "[green]go[/green]")
    async with open_board() as board:
        await board.sees("[green]go[/green]")
        await board.presses("enter")
        await board.sees("A [b]reply[/b].", name, "[bold]content[/bold]", "[red]End[/]", "[green]go[/green]")
