from hypothesis import given, strategies as st

from halocline.context.budget import (
    CEILING,
    DEFINITIONS,
    FILE,
    LISTING,
    MATCHES,
    Budget,
    bound_text,
    fit_lines,
    fit_parts,
)
from halocline.protocol.messages import Image, Note, Text

LINES = st.lists(st.text(max_size=40), max_size=30)


def keeper(kept):
    def keep(data):
        kept.append(data)
        return "sha256:1"

    return keep


@given(LINES, st.integers(1, 20), st.integers(1, 400), st.integers(1, 30))
def test_what_fits_is_a_beginning_within_every_bound_and_says_when_more_would_come(lines, most, characters, line):
    fitted = fit_lines(lines, Budget(most, characters, line))
    count = len(fitted.lines)
    assert fitted.cut == (count < len(lines))
    assert count == 1 or sum(len(one) + 1 for one in fitted.lines) <= characters
    assert count <= most
    assert all(len(one) <= line or one.startswith(was[:line]) for one, was in zip(fitted.lines, lines, strict=False))


@given(st.lists(st.text(max_size=9), min_size=1, max_size=9), st.integers(1, 1000))
def test_numbers_count_from_the_first_line_on(lines, first):
    fitted = fit_lines(lines, FILE, numbered_from=first)
    assert fitted.lines == tuple(f"{first + i} | {line}" for i, line in enumerate(lines))


@given(st.text(min_size=400, max_size=2_000), st.integers(200, 399))
def test_a_text_that_is_too_long_keeps_head_and_tail_and_names_the_whole(text, most):
    kept = []
    cut = bound_text(text, most, keeper(kept))
    head, gap, tail = cut.partition("\n[… ")
    missing = int(gap and tail.split(" ", 1)[0].replace(",", ""))
    ending = tail.rpartition("…]\n")[2]
    assert len(cut) <= most
    assert (text.startswith(head), text.endswith(ending)) == (True, True)
    assert len(head) + len(ending) + missing == len(text)
    assert "read sha256:1" in tail
    assert kept == [text.encode("utf-8", "replace")]


def test_a_text_that_fits_is_not_touched_and_not_kept():
    kept = []
    assert bound_text("one", 3, keeper(kept)) == "one"
    assert kept == []


def test_the_parts_of_a_result_share_its_room_and_pictures_stay():
    parts = (Text("x" * 5_000), Image("image/png", "sha256:2"), Text("y" * 5_000), Note("said", "person"))
    cut = fit_parts(parts, 2_000, keeper([]))
    assert sum(len(part.text) for part in cut if not isinstance(part, Image)) <= 2_000 + len("said")
    assert (cut[1], cut[3]) == (parts[1], parts[3])


def test_no_budget_is_above_the_ceiling():
    assert all(one.characters + 2 * one.line < CEILING for one in (FILE, MATCHES, LISTING, DEFINITIONS))
