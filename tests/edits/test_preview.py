import json
import sys
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from halocline.edits.preview.growing_arguments import GrowingArguments
from halocline.edits.preview.growing_edit import Growth, start_edit
from halocline.edits.text import TextFile

FILE = TextFile("".join(f"line {i}\r\n" for i in range(30)) + "same\nsame\n")
WORDS = ["line 3", "line 7", "  line 7", "line 29", "same", "nowhere", "", "new", "=======", "+++ REPLACE", "é", '"\\']
LINES = st.lists(st.sampled_from(WORDS), max_size=3)
MARKS = st.sampled_from([("------- SEARCH", "=======", "+++++++ REPLACE"), ("<<< SEARCH", "===", ">>> REPLACE")])
BLOCK = st.builds(lambda m, s, r: [m[0], *s, m[1], *r, m[2]], MARKS, LINES, LINES)
HUNK = st.builds(
    lambda a, b, c: ["@@", *(f" {line}" for line in a), *(f"-{line}" for line in b), *(f"+{line}" for line in c)],
    LINES,
    LINES,
    LINES,
)
PART = st.sampled_from(["*** Update File: a", "*** Update File: b", "*** Add File: c", "*** End Patch", "stray"])


def lines_of(parts: st.SearchStrategy[list[str]], most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map(lambda some: "\n".join(line for part in some for line in part))


CALLS = st.one_of(
    st.tuples(st.just("replace_in_file"), lines_of(BLOCK, 5).map(lambda text: {"path": "a", "diff": text})),
    st.tuples(st.just("replace_in_file"), lines_of(BLOCK, 5).map(lambda text: {"diff": text, "path": "a"})),
    st.tuples(
        st.just("replace_in_file"),
        st.builds(lambda a, b: {"path": "a", "old_text": "\n".join(a), "new_text": "\n".join(b)}, LINES, LINES),
    ),
    st.tuples(st.just("write_to_file"), LINES.map(lambda some: {"path": "a", "content": "\n".join(some)})),
    st.tuples(
        st.just("apply_patch"),
        lines_of(st.one_of(HUNK, PART.map(lambda line: [line])), 8).map(lambda text: {"input": text}),
    ),
)
CUTS = st.lists(st.integers(0, 600), max_size=12)


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    return [text[a:b] for a, b in pairwise(places)]


def grown(tool: str, given: list[str], file: TextFile | None = FILE) -> Growth:
    edit = start_edit(tool, {})
    for piece in given:
        edit.feed(piece)
        while edit.wanted:
            edit.know(file if edit.wanted in "ab" else None)
    return edit.growth


def seen(tool: str, arguments: dict[str, str], file: TextFile | None = FILE) -> Growth:
    return grown(tool, [json.dumps(arguments)], file)


@given(CALLS, CUTS, st.booleans(), st.integers(0, 40))
def test_however_a_call_is_cut_the_same_is_seen(call, cuts: list[int], ascii: bool, missing: int):
    tool, arguments = call
    text = json.dumps(arguments, ensure_ascii=ascii)
    text = text[: len(text) - missing] if missing else text
    assert grown(tool, pieces(text, cuts)) == grown(tool, list(text)) == grown(tool, [text])


@given(st.sampled_from(["replace_in_file", "write_to_file", "apply_patch"]), st.text(max_size=80))
def test_what_is_no_call_gives_nothing_and_does_no_harm(tool: str, text: str):
    grown(tool, [text])
    grown(tool, [json.dumps({"path": text, "diff": text, "content": text, "input": text})])


VALUES = st.recursive(
    st.one_of(st.text(), st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), st.booleans(), CUTS)
def test_the_texts_of_an_object_are_read_as_json_reads_them(fields, ascii: bool, cuts: list[int]):
    got: dict[str, str] = {}
    whole: list[str] = []
    reader = GrowingArguments()
    for part in pieces(json.dumps(fields, ensure_ascii=ascii), cuts):
        for piece in reader.feed(part):
            got[piece.field] = got.get(piece.field, "") + piece.text
            whole += [piece.field] if piece.ends else []
    wanted = {name: value for name, value in fields.items() if isinstance(value, str)}
    assert got == wanted
    assert sorted(whole) == sorted(wanted)


def test_half_of_a_pair_of_surrogates_that_stands_alone_is_a_mark():
    text, end = GrowingArguments().feed('{"a": "\\ud83d", "b": 1}')
    assert (text.text, end.ends) == ("\ufffd", True)


def block(search: str, replace: str) -> str:
    return f"------- SEARCH\n{search}\n=======\n{replace}\n+++++++ REPLACE\n"


def test_a_block_is_placed_as_soon_as_its_search_part_is_whole():
    diff = block("line 3\nline 4", "line 3\nfour\nand more")
    growth = seen("replace_in_file", {"path": "a", "diff": diff})
    assert growth == Growth("a", 1, 4, 2, 1, ("-line 3", "-line 4", " line 3", "+four", "+and more"))
    part = json.dumps({"path": "a", "diff": diff})
    before, at = (grown("replace_in_file", [part[: part.index("=") + more]]).line for more in (7, 9))
    assert (before, at) == (None, 4)


def test_what_is_not_sure_to_be_one_place_has_no_line():
    assert seen("replace_in_file", {"path": "a", "diff": block("same", "x")}).line is None
    assert seen("replace_in_file", {"path": "a", "diff": block("nowhere", "x")}).line is None
    assert seen("replace_in_file", {"path": "a", "diff": block("line 3", "x")}, file=None).line is None


def test_an_old_text_and_a_new_one_look_like_a_block():
    growth = seen("replace_in_file", {"path": "a", "old_text": "line 8\n", "new_text": "eight\n"})
    assert growth == Growth("a", 1, 9, 1, 1, ("-line 8", "+eight"))


def test_a_whole_file_is_compared_with_the_one_that_is_there():
    content = FILE.view.replace("line 4\n", "four\nfive\n")
    growth = seen("write_to_file", {"path": "a", "content": content})
    assert (growth.added, growth.removed, growth.line) == (2, 1, None)
    assert seen("write_to_file", {"path": "new", "content": "one\ntwo\n"}) == Growth(
        "new", 0, None, 2, 0, ("+one", "+two")
    )


def test_a_patch_is_seen_file_by_file():
    text = "*** Begin Patch\n*** Add File: c\n+one\n*** Update File: a\n@@\n line 4\n-line 5\n+five\n line 6\n@@\n"
    first = seen("apply_patch", {"input": text})
    assert first == Growth("a", 1, 5, 2, 1, ("+one", " line 4", "-line 5", "+five", " line 6"))
    second = seen("apply_patch", {"input": f"{text}-line 20\n*** Update File: b\n*** End Patch\n"})
    assert (second.path, second.number, second.removed) == ("b", 2, 2)


def calls_made(tool: str, arguments: dict[str, str], file: TextFile) -> int:
    """How many functions, ours and built-in ones, are called for a call that comes in pieces of 16 characters."""
    text = json.dumps(arguments)
    parts = [text[at : at + 16] for at in range(0, len(text), 16)]
    made = 0

    def count(frame, event: str, arg) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        grown(tool, parts, file)
    finally:
        sys.setprofile(None)
    return made


def numbered(size: int) -> TextFile:
    return TextFile("".join(f"value {i} stands here\n" for i in range(size)))


def as_blocks(size: int) -> dict[str, str]:
    found = [block(f"value {i} stands here", f"value {i} is gone") for i in range(0, size, 4)]
    return {"path": "a", "diff": "".join(found)}


def as_patch(size: int) -> dict[str, str]:
    hunks = [f"@@\n-value {i} stands here\n+value {i} is gone\n" for i in range(0, size, 4)]
    return {"input": "*** Begin Patch\n*** Update File: a\n" + "".join(hunks) + "*** End Patch\n"}


def as_one_block(size: int) -> dict[str, str]:
    lines = "\n".join(f"value {i} stands here" for i in range(size))
    return {"path": "a", "diff": block(lines, lines.replace("stands", "stood"))}


def as_nowhere(size: int) -> dict[str, str]:
    return {"path": "a", "diff": "".join(block(f"nothing {i} here", "x") for i in range(0, size, 4))}


def as_content(size: int) -> dict[str, str]:
    return {"path": "a", "content": numbered(size).view}


@pytest.mark.parametrize(
    ("tool", "make"),
    [
        ("replace_in_file", as_blocks),
        ("replace_in_file", as_one_block),
        ("replace_in_file", as_nowhere),
        ("apply_patch", as_patch),
        ("write_to_file", as_content),
    ],
)
def test_the_work_grows_with_the_file_and_the_call_and_no_faster(tool: str, make):
    calls_made(tool, make(100), numbered(100))
    once, four_times = (calls_made(tool, make(size), numbered(size)) for size in (400, 1_600))
    assert four_times < 4.2 * once
