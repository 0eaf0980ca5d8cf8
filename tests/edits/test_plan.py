import codecs
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from halocline.edits.edit import UnplacedEdits
from halocline.edits.formats.blocks import parse_blocks
from halocline.edits.plan import Applied, all_or_none
from halocline.edits.text import EditError, TextFile, decode_text, encode_text


def block(search: str, replace: str) -> str:
    lines = ["------- SEARCH", *_lines(search), "=======", *_lines(replace), "+++++++ REPLACE"]
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def applied(file: TextFile, diff: str):
    made = all_or_none(file, parse_blocks(diff))
    return made.file, made.applied


def edited(text: str, *blocks: str) -> str:
    return applied(TextFile(text), "".join(blocks))[0].text


@pytest.mark.parametrize(
    ("before", "search", "replace", "after"),
    [
        ("a\nb\nc\n", "b", "B", "a\nB\nc\n"),
        ("a\nb\nc\n", "b", "", "a\nc\n"),
        ("a\nb\nc\n", "b", "b\nx\ny", "a\nb\nx\ny\nc\n"),
        ("a\nb", "b", "B", "a\nB"),
        ("a\nb", "b", "", "a\n"),
        ("a\n\nb\n", "a\n\nb", "a\nb", "a\nb\n"),
        ("total = subtotal\ntotal\n", "total", "sum", "total = subtotal\nsum\n"),
        ("max = 10\n", "= 10", "= 20", "max = 20\n"),
        ("f(a, b)\n", "a, b", "b", "f(b)\n"),
        ("\tif x:\n\t\treturn 1\n", "if x:\n    return 1", "\tif y:\n\t\treturn 2", "\tif y:\n\t\treturn 2\n"),
        ("  a  \n  b\n", "a\nb", "c", "  c\n"),
        ("x\n" * 3 + "y\n", "x\ny", "z", "x\nx\nz\n"),
        ("no newline at the end", "no newline at the end", "still none", "still none"),
        ("a\n=======\nb\n", "a", "c", "c\n=======\nb\n"),
    ],
)
def test_a_block_replaces_what_it_found_and_nothing_else(before: str, search: str, replace: str, after: str):
    assert edited(before, block(search, replace)) == after


@pytest.mark.parametrize(
    ("before", "search", "replace", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nB", b"a\r\nB\r\nc\r\n"),
        (b"a\r\nb\nc\r\nd\r\n", "a\nb\nc", "a\nb\nC", b"a\r\nb\nC\r\nd\r\n"),
        (b"a\nb\r\nc\nd\n", "b", "x\ny", b"a\nx\ny\r\nc\nd\n"),
        (b"a\r\nb\r\nlast\n", "b\nlast", "b\nnew\nlast", b"a\r\nb\r\nnew\r\nlast\n"),
        (codecs.BOM_UTF8 + b"a\n", "a", "b", codecs.BOM_UTF8 + b"b\n"),
        (b"caf\xe9\nx\n", "x", "y", b"caf\xe9\ny\n"),
        (b"caf\xe9 No\xebl l\xe0\n", "café Noël là", "thé", b"th\xe9\n"),
        (
            codecs.BOM_UTF16_LE + "a\r\nb".encode("utf-16-le"),
            "b",
            "c\nd",
            codecs.BOM_UTF16_LE + "a\r\nc\r\nd".encode("utf-16-le"),
        ),
    ],
)
def test_encoding_mark_and_endings_survive(before: bytes, search: str, replace: str, after: bytes):
    assert encode_text(applied(decode_text(before), block(search, replace))[0]) == after


def test_a_diff_written_with_crlf_edits_a_file_with_lf():
    assert edited("a\nb\n", block("a", "x\ny").replace("\n", "\r\n")) == "x\ny\nb\n"


def test_blocks_may_come_in_any_order():
    assert edited("a\nb\nc\n", block("c", "C"), block("a", "A")) == "A\nb\nC\n"


def test_of_several_places_the_only_one_after_the_last_block_is_meant():
    assert edited("end\na\nend\n", block("a", "A"), block("end", "END")) == "end\nA\nEND\n"


def test_a_block_written_twice_counts_once():
    assert edited("a\nb\n", block("a", "A"), block("a", "A")) == "A\nb\n"


@pytest.mark.parametrize("before", ["", "\n", "  \n"])
def test_an_empty_search_fills_an_empty_file(before: str):
    assert edited(before, block("", "a\nb")) == "a\nb\n"


@pytest.mark.parametrize(
    ("before", "blocks", "message"),
    [
        ("a\n", [block("", "b")], "only for an empty or new file"),
        ("", [block("", "a"), block("", "b")], "overlaps block"),
        ("x\ny\nx\n", [block("x", "z")], r"appears 2 times \(lines 1, 3\)"),
        ("  x\n\tx\n", [block("x ", "z")], r"appears 2 times \(lines 1, 2\)"),
        ("a\nb\nc\n", [block("a\nb", "1"), block("b\nc", "2")], "Block 1 failed: it overlaps block 2"),
        ("a\nb\n", [block("a", "A"), block("zzz", "")], "Block 1 would match at line 1"),
        ("a\nb\n", [block("a", "A"), block("zzz", "")], "Block 2 failed: its search text is not in the file"),
        ("def f():\n    return 1\n", [block("def f():\n    return 2", "x")], r"nearest lines are:\n1 \| def f\(\):"),
        ("import os\nvalue = compute(1)\n", [block("value = compute(2)", "x")], r"2 \| value = compute\(1\)"),
        ("new\n", [block("old", "new")], "already there, at line 1"),
    ],
)
def test_a_block_without_a_certain_place_is_an_error_that_helps(before: str, blocks: list[str], message: str):
    with pytest.raises(UnplacedEdits, match=message):
        edited(before, *blocks)


def test_the_report_names_the_lines_of_the_new_file_and_the_way():
    text = "a\nb\nc\n    d\ne\n"
    _, report = applied(TextFile(text), block("e", "E") + block("a", "1\n2\n3") + block("b", "") + block("d ", "D"))
    assert report == [
        Applied("block 1", 6, 6, "exact"),
        Applied("block 2", 1, 3, "exact"),
        Applied("block 3", 4, 3, "exact"),
        Applied("block 4", 5, 5, "ignoring indentation"),
    ]
    assert str(report[1]) == "block 2: lines 1-3 (exact)"
    assert str(report[2]) == "block 3: deleted before line 4 (exact)"


def test_a_diff_that_misses_everywhere_is_refused_soon_and_in_few_words():
    with pytest.raises(UnplacedEdits) as failed:
        edited("a\nb\n", *(block(f"no {i}", "x") for i in range(200)), block("a", "A"))
    assert "Block 25 failed: it was not tried" in failed.value.text
    assert failed.value.text.endswith("… and 171 more; 201 failed in total.")
    assert len(failed.value.text) < 4_000


LINE = st.text(alphabet="ab \t=é", max_size=4)
ENDING = st.sampled_from(["\n", "\r\n"])
MIXED = st.lists(st.tuples(LINE, ENDING), max_size=12).map(lambda lines: "".join(a + b for a, b in lines))


@given(MIXED, MIXED, st.lists(LINE, max_size=3), st.booleans())
def test_bytes_around_the_edit_are_untouched(before: str, after: str, replacement: list[str], has_bom: bool):
    bom = codecs.BOM_UTF8 if has_bom else b""
    data = bom + f"{before}<unique>\n{after}".encode()
    result = encode_text(applied(decode_text(data), block("<unique>", "\n".join(replacement)))[0])
    assert result.startswith(bom + before.encode())
    assert result.endswith(after.encode())


@given(MIXED, st.lists(st.tuples(LINE, LINE), min_size=1, max_size=4))
def test_an_edit_gives_a_new_file_or_an_error_and_never_changes_the_old_one(text: str, pairs: list[tuple[str, str]]):
    file = TextFile(text)
    with suppress(EditError):
        applied(file, "".join(block(search, replace) for search, replace in pairs))
    assert file == TextFile(text)
