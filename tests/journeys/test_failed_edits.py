"""What a model is told whose edits of one file do not fit."""

import pytest

from halocline.providers.scripted.model import Call, Turn
from halocline.tools.replace_in_file import ADVICE

BLOCK = "------- SEARCH\n{search}\n=======\nnew\n+++++++ REPLACE\n"


def edit(search: str, path: str = "a.txt") -> Turn:
    return Turn(calls=(Call("replace_in_file", {"path": path, "diff": BLOCK.format(search=search)}),))


LOOK = Turn(calls=(Call("read_file", {"path": "a.txt"}),))
MISS, HIT, OTHER = edit("nowhere"), edit("one"), edit("nowhere", "b.txt")


@pytest.mark.parametrize(
    ("turns", "advised"),
    [
        ((MISS, LOOK, MISS), False),
        ((MISS, LOOK, MISS, LOOK, MISS), True),
        ((MISS, LOOK, MISS, OTHER, LOOK, MISS), True),
        ((MISS, LOOK, MISS, HIT, MISS), False),
        ((MISS, LOOK, MISS, LOOK, OTHER), False),
    ],
)
async def test_writing_a_file_whole_is_advised_after_three_edits_in_a_row_that_do_not_fit(journey, turns, advised):
    journey.write("a.txt", "one\ntwo\n")
    journey.write("b.txt", "one\ntwo\n")
    await journey.run(*turns, Turn(text="done"))
    assert "is unchanged" in journey.results[-1]
    assert (ADVICE.format(count=3) in journey.results[-1]) is advised


async def test_a_long_file_is_not_to_be_written_whole_for_one_edit(journey):
    journey.write("a.txt", "line\n" * 600)
    await journey.run(MISS, LOOK, MISS, LOOK, MISS, Turn(text="done"))
    assert "is unchanged" in journey.results[-1]
    assert "write_to_file" not in journey.results[-1]
