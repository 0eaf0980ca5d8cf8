import asyncio

import pytest
from tests.tables import for_each

from halocline.protocol.events.mentions import Mentioned
from halocline.surfaces.terminal.composing.mention_preview import PROBLEM, QUIET, MentionedLine, describe_mentions

A = Mentioned("@a.py", "a.py: 14 bytes", 1_234)
B = Mentioned("@docs/", "docs/: folder", 20_000)
GONE = Mentioned("@gone.py", "not found", problem=True)
PAGE = Mentioned("@https://x.org", "a page, fetched when it is sent")


def words(mentions, width=80):
    return "".join(text for _, text in describe_mentions(mentions, width))


@pytest.mark.parametrize(
    ("mentions", "line"),
    [
        ([], ""),
        ([A], "@a.py ~1.2k tokens"),
        ([A, B], "~21.2k tokens · @a.py ~1.2k · @docs/ ~20.0k"),
        ([GONE, A], "@gone.py: not found · @a.py ~1.2k tokens"),
        ([PAGE], "@https://x.org: a page, fetched when it is sent"),
    ],
)
def test_each_mention_has_its_size_and_several_their_sum(mentions, line):
    assert words(mentions) == line


def test_what_cannot_be_given_stands_out():
    assert [style for style, text in describe_mentions([A, GONE], 80) if text.strip(" ·")] == [QUIET, PROBLEM]


@for_each("width", range(20, 60))
def test_a_narrow_line_counts_what_it_has_no_room_for(width):
    line = words([A, B, GONE, PAGE], width)
    assert len(line) <= width
    assert "+" in line or line.endswith("…")


async def test_it_is_looked_up_once_the_typing_rests_and_an_older_answer_is_dropped():
    asked, drawn = [], asyncio.Event()

    async def ask(text):
        asked.append(text)
        return [Mentioned(text, "", 1)]

    line = MentionedLine(ask, drawn.set)
    for text in ("@", "@a", "@a.", "@a.py"):
        line.typed(text)
    async with asyncio.timeout(5):
        await drawn.wait()
    assert asked == ["@a.py"]
    assert line.draw_lines(80)[0][0][1] == "@a.py ~1 tokens"
    line.typed("@a.p")
    assert line.draw_lines(80) == []
    line.stop()


async def test_a_text_that_mentions_nothing_is_not_looked_up():
    line = MentionedLine(lambda text: pytest.fail("asked"), lambda: None)
    line.typed("nothing")
    line.say("Something else")
    assert line.draw_lines(80) == [[(PROBLEM, "Something else")]]
    line.typed("nothing more")
    assert line.draw_lines(80) == []
