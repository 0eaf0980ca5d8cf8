import pytest
from hypothesis import given, strategies as st

from halocline.context.user_files.mentions import Kind, escape_mentions, find_mentions, format_mention


def seen(text):
    return [(mention.kind.value, mention.target) for mention in find_mentions(text)]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("mend @src/a.py, please", ["src/a.py"]),
        ("(see @/src/a.py)", ["/src/a.py"]),
        ("@a.py!? @b.py: @c.py; **@d.py** @e.py's", ["a.py", "b.py", "c.py", "d.py", "e.py"]),
        ('@"with spaces.txt" and @with\\ spaces.txt', ["with spaces.txt", "with spaces.txt"]),
        ("@/folder/ @./ @../ @.. @~/x", ["/folder/", "./", "../", "..", "~/x"]),
        ("@src/(group)/[id].tsx (@src/[id].tsx)", ["src/(group)/[id].tsx", "src/[id].tsx"]),
        ("看@src/a.py。", ["src/a.py"]),
        ("two\n@a.py\n\n@b.py", ["a.py", "b.py"]),
        ("@. @ @! @", []),
    ],
)
def test_paths_are_found_without_the_punctuation_around_them(text, targets):
    assert [target for _, target in seen(text)] == targets


@pytest.mark.parametrize(
    "text",
    [
        "me@example.org",
        "git@github.com:a/b.git",
        "https://medium.com/@name/x",
        "a@b",
        "`@a.py`",
        "``a ` @a.py``",
        "```\n@a.py\n```",
        "~~~py\n@a.py\n~~~\n",
        "  ```py\n@property\ndef f(): ...",
        "\\@a.py",
        "./@a",
    ],
)
def test_an_at_sign_in_words_addresses_and_code_is_none(text):
    assert seen(text) == []


def test_after_code_mentions_count_again():
    assert seen("```\n@a\n```\n@b `@c` @d ` @e") == [("path", "b"), ("path", "d"), ("path", "e")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@problems.", [("problems", "")]),
        ("(@terminal)", [("terminal", "")]),
        ("@git-changes", [("git-changes", "")]),
        ("@problemsolving", [("path", "problemsolving")]),
        ("@task:261121-101010-abcd,", [("task", "261121-101010-abcd")]),
        ("@symbol:Outer.name()", [("symbol", "Outer.name()")]),
        ("@0123abc and @0123ab", [("commit", "0123abc"), ("path", "0123ab")]),
        ("(@https://a.example/b_(c)?d=e).", [("url", "https://a.example/b_(c)?d=e")]),
    ],
)
def test_what_is_no_path_has_a_form_of_its_own(text, expected):
    assert seen(text) == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [("@a.py:10-40", (10, 40)), ("@a.py:40-10,", (10, 40)), ("@a.py:7", (7, 7)), ('@"a b.py":3-4', (3, 4))],
)
def test_a_path_may_have_lines(text, lines):
    (mention,) = find_mentions(text)
    assert (mention.first, mention.last) == lines
    assert mention.whole.startswith(f"{mention.target}:")


@given(st.text(alphabet="@`~\"'\\/.:()[]ab1 \n。", max_size=200))
def test_no_text_breaks_it_and_every_mention_stands_in_the_text(text):
    for mention in find_mentions(text):
        assert mention.text in text
        assert mention.text.startswith("@")


@given(st.text(alphabet='@`"\\/.:(ab \n', max_size=100))
def test_quieted_words_mention_nothing(text):
    assert find_mentions(escape_mentions(text)) == ()


@given(st.text(alphabet="a/ .:1()'é", min_size=1, max_size=30))
def test_every_path_can_be_written_as_a_mention(path):
    mentions = find_mentions(format_mention(path))
    assert any(path in (mention.target, mention.whole) and mention.kind is Kind.PATH for mention in mentions)


@pytest.mark.parametrize(
    "text", ["@" * 200_000, '@"' * 100_000, "@(" * 100_000, "`" * 99_999 + "@a", "@a" + ")" * 200_000]
)
def test_a_hostile_text_is_looked_through_in_one_go(text):
    assert len(find_mentions(text)) < 200_000
