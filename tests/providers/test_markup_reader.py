import re

import pytest
from hypothesis import example, given, strategies as st
from tests.providers.markup import TAGS, TOOLS, cut_into, markup, meant, read
from tests.tables import for_each

from halocline.providers.text_tools.reader import Called, Growing, Reader, Thoughts, Words
from halocline.providers.text_tools.tags import THINKING, WRAPPERS, Lexer, text_of

READ = markup("read_file", path="a.py")
LOOK = ("read_file", {"path": "a.py"})


def write(content: str) -> str:
    return markup("write_to_file", path="a", content=content)


def wrote(content: str) -> tuple[str, object]:
    return "write_to_file", {"path": "a", "content": content}


REPLIES = {
    "words alone": ("Hello\n\nyou ", ["Hello\n\nyou"]),
    "a call alone": (READ, [LOOK]),
    "words, then a call": (f"I look.\n\n{READ}\n", ["I look.", LOOK]),
    "several calls": (f"{READ}\n{write('x')}{write('y')}{READ}", [LOOK, wrote("x"), wrote("y"), LOOK]),
    "words between calls": (f"One.\n{READ}\nTwo.\n{READ}", ["One.", LOOK, "\nTwo.", LOOK]),
    "a fence around a call": (f"So:\n```xml\n{READ}\n```\n", ["So:", LOOK]),
    "a fence that is content": ("So:\n```py\nx = 1\n```\n", ["So:\n```py\nx = 1\n```"]),
    "an opened fence at the end": ("I write it.\n```python", ["I write it."]),
    "wrapper tags": (f"<function_calls>\n{READ}\n</function_calls>", [LOOK]),
    "thoughts": (f"<thinking>I should.</thinking>\n\nYes. {READ}", ["I should.", "Yes.", LOOK]),
    "a call in thoughts": (f"<think>{READ}</think>Yes.", [READ, "Yes."]),
    "thoughts whose beginning was not sent": ("Hm.</think>Yes.", ["Hm.Yes."]),
    "unknown tags": ("<b>bold</b> <path>x</path> a < b", ["<b>bold</b> <path>x</path> a < b"]),
    "a mention in backticks": (f"Use `<read_file>` now: {READ}", ["Use `<read_file>` now:", LOOK]),
    "a mention": (f"The <read_file> tool. {READ}", ["The <read_file> tool.", LOOK]),
    "a mention at the end": ("That is what <read_file> is for.", ["That is what <read_file> is for."]),
    "a stray word in a call": ("<read_file>See: <path>a.py</path></read_file>", [LOOK]),
    "a bare value": ("<read_file>a.py</read_file>", [LOOK]),
    "a JSON object": ('<read_file>{"path": "a.py"}</read_file>', [LOOK]),
    "no parameters": ("<list_files></list_files>", [("list_files", {})]),
    "another tool's tags in a value": (
        markup("execute_command", command="echo '<read_file><path>a</path></read_file>'"),
        [("execute_command", {"command": "echo '<read_file><path>a</path></read_file>'"})],
    ),
    "content with its own closing tag": (write("a </content> b"), [wrote("a </content> b")]),
    "content with the end of a call": (
        f"{write('a </content></write_to_file> b')} {READ}",
        [wrote("a </content></write_to_file> b"), LOOK],
    ),
    "content with whole calls": (write(write("x") + write("y")), [wrote(write("x") + write("y"))]),
    "content with whole calls, then a call": (f"{write(write('x'))}{READ}", [wrote(write("x")), LOOK]),
    "content with the end of a call and another call behind it, which is taken for one": (
        write(f"x</content></write_to_file>{READ}"),
        [wrote("x"), LOOK, "</content>\n</write_to_file>"],
    ),
    "content with a call's beginning": (
        f"{write('<write_to_file><path>x')}Done.",
        [wrote("<write_to_file><path>x"), "Done."],
    ),
    "content before the path": (
        "<write_to_file><content>x</content>\n<path>a</path></write_to_file>",
        [wrote("x")],
    ),
    "words behind a written file": (f"{write('x')}\nDone.", [wrote("x"), "Done."]),
    "a diff with its own closing tag": (
        markup("replace_in_file", path="a", diff="x</diff>y\n"),
        [("replace_in_file", {"path": "a", "diff": "x</diff>y\n"})],
    ),
    "a trailing half tag": ("I look.\n<read_fi", ["I look."]),
    "a trailing half closing tag behind a file": (f"{write('x')}</read_fi", [wrote("x")]),
    "no end": ("So: <read_file><path>a.py</path>", ["So:", ("read_file", None)]),
    "no end of a parameter": ("<read_file><path>a.py</read_file>", [("read_file", None)]),
    "no end of a file": ("<write_to_file><path>a</path><content>x</content>", [("write_to_file", None)]),
}


@for_each("reply, expected", REPLIES.values())
@for_each("size", [1, 3, 1000])
def test_a_reply_is_read_the_same_however_it_is_cut(reply: str, expected: list[object], size: int) -> None:
    assert meant(read(cut_into(reply, size))) == expected


CUT_SHORT = {
    "in a parameter": "<read_file><path>a.p",
    "behind the tool's tag": "<list_files>\n",
    "in a file": "<write_to_file><path>a</path><content>x",
    "in a file that holds the end of a call": f"{write('x')} and",
    "in a file that holds a call": f"<write_to_file><path>a</path><content>{write('x')} and",
}


@pytest.mark.parametrize("reply", CUT_SHORT.values(), ids=CUT_SHORT)
def test_a_call_in_which_the_reply_was_cut_off_is_not_whole(reply: str) -> None:
    (called,) = read([reply], cut=True)
    assert isinstance(called, Called)
    assert not called.whole


def test_a_call_that_was_whole_before_the_reply_was_cut_off_counts() -> None:
    assert meant(read([f"{READ} and"], cut=True)) == [LOOK, "and"]
    assert meant(read([f"{write('x')}\n<read_f"], cut=True)) == [wrote("x")]


def test_a_call_is_previewed_as_it_grows() -> None:
    reader = Reader(TOOLS)
    grown = [list(reader.feed(chunk)) for chunk in ("<write_to_file><path>", "a.py</path><conte", "nt>x = ", "1\n")]
    assert [[piece.text for piece in pieces if isinstance(piece, Growing)] for pieces in grown] == [
        ["<path>"],
        ["a.py", "</path>"],
        ["<content>", "x = "],
        ["1\n"],
    ]


SNIPPETS = st.sampled_from(
    [
        *(text for name in ("read_file", "write_to_file", "list_files") for text in (f"<{name}>", f"</{name}>")),
        *(text for name in ("path", "content", "think", "tool_call") for text in (f"<{name}>", f"</{name}>")),
        *("<", "</", "`", "```", "```xml", "\n", " ", "\n\n", "word", "é", "{", READ, write("x"), "<read_f", ">"),
    ]
)
TEXTS = st.lists(SNIPPETS | st.text(max_size=3), max_size=14).map("".join)


@given(TEXTS, st.lists(st.integers(1, 9), max_size=30), st.booleans())
def test_any_cutting_gives_the_same_reading(text: str, sizes: list[int], cut: bool) -> None:
    chunks = []
    rest = text
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    assert read([*chunks, rest], cut=cut) == read([text], cut=cut)


@given(TEXTS, st.integers(1, 9))
def test_the_lexer_loses_no_character(text: str, size: int) -> None:
    lexer = Lexer({*TAGS, "path", "content", *THINKING, *WRAPPERS})
    tokens = [token for chunk in cut_into(text, size) for token in lexer.feed(chunk)]
    assert text_of(tokens) + lexer.rest() == text


# Behind the end of the call, another call's beginning cannot be told from content.
AMBIGUOUS = re.compile(rf"</content>\s*</write_to_file>.*<({'|'.join(TAGS)})>", re.DOTALL)


@given(TEXTS.filter(lambda text: text.rstrip(" \t") == text and not AMBIGUOUS.search(text)))
def test_a_file_may_hold_anything_but_its_call_s_end_with_another_call_behind_it(content: str) -> None:
    assert meant(read([f"I write it.\n{write(content)}"])) == ["I write it.", wrote(content)]


@given(st.text(alphabet="xy<>/{ \n", max_size=40), st.integers(1, 9))
def test_text_without_tags_is_shown_as_it_is(text: str, size: int) -> None:
    assert "".join(piece.text for piece in read(cut_into(text, size))) == text.strip()


@example("```é<think>")
@example("```word<think>a</think>")
@example("\n```é </think>")
@example(f"```word{READ}")
@example(f"```word\n{READ}\n```")
@given(TEXTS)
def test_letters_are_lost_only_with_the_tags_they_are_in_or_as_the_language_of_a_fence(text: str) -> None:
    said = "".join(piece.body if isinstance(piece, Called) else piece.text for piece in read([f"{text} end."]))
    languages = "".join(re.findall(r"```\w+", text))
    for letters in ("word", "é"):
        assert text.count(letters) - languages.count(letters) <= said.count(letters) <= text.count(letters)


LARGE = {
    "a file": (write("x" * 10_000_000), 1),
    "a file full of brackets": (write("<x" * 500_000), 1),
    "words full of blanks": ("a" + " " * 1_000_000 + "b", 0),
    "a file full of closing tags": (write("</content>" * 20_000), 1),
    "mentions without end": ("<read_file>" * 20_000, 0),
    "a file full of calls": (write(write("x") * 4_000), 1),
}


@pytest.mark.parametrize(("reply", "calls"), LARGE.values(), ids=LARGE)
def test_a_huge_reply_is_looked_at_once(reply: str, calls: int) -> None:
    reader, tags = Reader(TOOLS), reply.count(">")
    chunks = cut_into(reply, 4096)
    pieces = [piece for chunk in chunks for piece in reader.feed(chunk)]
    pieces += reader.finish(cut=False)
    given_out = sum(len(piece.text) for piece in pieces if isinstance(piece, Words | Thoughts | Growing))
    assert given_out <= len(reply)
    assert len(pieces) <= len(chunks) + 2 * tags + calls
    assert sum(isinstance(piece, Called) for piece in pieces) == calls
