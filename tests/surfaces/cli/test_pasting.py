import pytest

from halocline.protocol.messages import Image, Note
from halocline.surfaces.terminal.composing.pasting import Chips, mentions_of

LONG = "\n".join(f"line {number}" for number in range(11))


def test_a_short_text_is_pasted_as_it_is():
    chips = Chips()
    assert chips.chip("\n".join("x" * 10)) == "\n".join("x" * 10)
    assert chips.parts("x") == ()


@pytest.mark.parametrize(("text", "chip"), [(LONG, "[pasted 11 lines]"), ("x" * 2_001, "[pasted 2,001 characters]")])
def test_a_long_text_is_a_chip_and_sent_whole(text, chip):
    chips = Chips()
    assert chips.chip(text) == chip
    assert chips.parts(f"see {chip}, please") == (Note(f"{chip}\n{text}", "pasted"),)
    assert chips.whole(f"see {chip}, please") == f"see {text}, please"


def test_two_texts_of_one_size_have_two_chips_and_the_same_text_has_one():
    chips, other = Chips(), LONG.replace("line", "word")
    assert [chips.chip(text) for text in (LONG, other, LONG)] == [
        "[pasted 11 lines]",
        "[pasted 11 lines, 2]",
        "[pasted 11 lines]",
    ]
    assert [note.text.split("\n")[1] for note in chips.parts("[pasted 11 lines, 2] [pasted 11 lines]")] == [
        "word 0",
        "line 0",
    ]


def test_a_chip_that_was_deleted_is_not_sent():
    chips = Chips()
    chips.chip(LONG)
    assert chips.parts("see [pasted 11 line") == ()


def test_pictures_are_counted_named_and_sent_in_the_order_in_which_they_stand():
    chips = Chips()
    chips.chip(LONG)
    for blob in ("one", "two"):
        chips.picture(chips.next_picture(), (Image("image/png", blob),))
    typed = "[picture 2] before [picture 1]"
    assert (chips.pictures(typed), chips.pictures("[picture 1]")) == (2, 1)
    assert [part.blob for part in chips.parts(typed)] == ["two", "one"]
    assert chips.whole(typed) == " before "


def test_the_chip_before_the_cursor_is_known():
    chips = Chips()
    chips.chip(LONG)
    assert chips.before("see [pasted 11 lines]") == "[pasted 11 lines]"
    assert chips.before("see [pasted 11 lines] ") == "[pasted 11 lines] "
    assert chips.before("see [pasted 11 lines], ") == ""


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work" / "sub").mkdir(parents=True)
    for name in ("a.py", "b c.png", "it's.py"):
        (tmp_path / "work" / name).write_text("x")
    (tmp_path / "out side.txt").write_text("x")
    return tmp_path / "work"


@pytest.mark.parametrize(
    ("pasted", "mentions"),
    [
        ("{}/a.py", "@a.py "),
        ("'{}/b c.png' ", '@"b c.png" '),
        ("{}/b\\ c.png", '@"b c.png" '),
        ("{}/b c.png", '@"b c.png" '),
        ("file://{}/b%20c.png", '@"b c.png" '),
        ("'{}/a.py' '{}/b c.png'\n", '@a.py @"b c.png" '),
        ("file://{}/a.py\nfile://{}/sub", "@a.py @sub/ "),
        ("{}/it's.py", '@"it\'s.py" '),
        ("{}/../out side.txt", "OUTSIDE"),
    ],
)
def test_dropped_files_become_mentions(work, pasted, mentions):
    mentions = mentions.replace("OUTSIDE", f'@"{work.parent}/out side.txt" ')
    assert mentions_of(pasted.replace("{}", str(work)), work) == mentions


@pytest.mark.parametrize(
    "pasted",
    ["a.py", "{}/missing.py", "see {}/a.py", "{}/a.py is wrong", "", "/", "//", "'unclosed", "file://host/a", "\0/"],
)
def test_any_other_text_stays_as_it_is(work, pasted):
    assert mentions_of(pasted.replace("{}", str(work)), work) == ""


def test_a_line_break_at_the_end_of_a_pasted_text_is_no_line() -> None:
    assert Chips().chip("line\n" * 12) == "[pasted 12 lines]"
