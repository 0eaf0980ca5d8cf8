import hypothesis.strategies as st
import pytest
from hypothesis import given as any_of

from halocline.context.instructions.touched_files import MOST, Touched, folders_of, named_in
from halocline.protocol.messages import AssistantMessage, Note, StopReason, Text, ToolCall, UserMessage
from halocline.protocol.state.files import FilesState
from halocline.protocol.state.state import State


def call(name: str, **arguments: object) -> AssistantMessage:
    return AssistantMessage(content=(ToolCall("c", name, arguments),), model="m", stop_reason=StopReason.END_TURN)


def said(*words: str) -> UserMessage:
    return UserMessage(tuple(map(Text, words)))


def of(*messages: UserMessage | AssistantMessage, **more: object) -> dict[str, str]:
    return Touched().of(State(workspace="/w", messages=messages, **more))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Look at src/api/users.py, then (lib/a.ts:12:3)!", ["src/api/users.py", "lib/a.ts"]),
        ("fix `README.md` and @docs/guide.md.", ["README.md", "docs/guide.md"]),
        ("mend .gitignore and src/api/", [".gitignore", "src/api"]),
        ("see https://example.org/a/b.py and git@host:a", []),
        ("before\n```\nsrc/a.py\n```\nafter\n~~~\nsrc/b.py", []),
        ("this, or 3.14, and version 1.2.3", []),
    ],
)
def test_words_that_look_like_paths_are_taken_from_a_prompt(text, named):
    assert list(named_in(text)) == named


def test_only_the_last_prompt_counts_but_every_call():
    paths = of(said("src/old.py"), call("read_file", path="src/read.py"), said("src/new.py"))
    assert paths == {"src/new.py": "mentioned", "src/read.py": "read"}


def test_what_the_model_was_told_unasked_is_no_prompt():
    assert of(said("src/a.py"), UserMessage((Note("src/b.py", "jobs"),))) == {"src/a.py": "mentioned"}


def test_headers_of_a_patch_name_its_files():
    patch = "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n*** Add File: c/d.py\n*** End Patch"
    assert list(of(call("apply_patch", input=patch))) == ["src/a.py", "src/b.py", "c/d.py"]
    assert list(of(call("apply_patch", input="--- a/src/a.py\n+++ b/src/a.py\n"))) == ["src/a.py"]


def test_paths_are_given_from_the_workspace_on_and_others_are_left_out():
    paths = of(
        *(call("read_file", path=path) for path in ("/w/a/../b.py", "./c.py", "../d.py", "/etc/e", "~/f", "/w", 7))
    )
    assert sorted(paths) == ["b.py", "c.py"]


def test_what_was_changed_long_ago_still_counts():
    assert of(said("go"), files=FilesState(changed=frozenset({"a.py"}))) == {"a.py": "edited"}


def test_a_hundred_of_them_are_enough_and_the_newest_come_first():
    paths = of(*(call("read_file", path=f"{number}.py") for number in range(MOST + 50)))
    assert len(paths) == MOST
    assert next(iter(paths)) == f"{MOST + 49}.py"


def test_outer_folders_come_before_inner_ones():
    assert list(folders_of(["a/b/c.py", "d.py"])) == ["a", "a/b"]


@any_of(st.text())
def test_no_prompt_breaks_the_search_for_paths(text):
    assert all(path.startswith(("/w/",)) is False for path in of(said(text)))


@any_of(
    st.lists(
        st.one_of(
            st.builds(lambda at: call("read_file", path=f"{at}.py"), st.integers(0, 2 * MOST)),
            st.builds(lambda at: call("write_to_file", path=f"./{at}.py"), st.integers(0, 5)),
            st.builds(lambda at: said(f"look at {at}.py"), st.integers(0, 5)),
        )
    ),
    st.integers(0, 5),
)
def test_who_asks_after_each_message_hears_the_same_as_who_asks_once(messages, left):
    known = Touched()
    for messages_then in (*(messages[:end] for end in range(len(messages) + 1)), messages[:left], messages):
        state = State(workspace="/w", messages=tuple(messages_then), files=FilesState(changed=frozenset({"old.py"})))
        assert list(known.of(state).items()) == list(Touched().of(state).items())


def test_files_that_are_open_in_an_editor_count_until_the_editor_says_otherwise():
    def told(*lines: str) -> UserMessage:
        return UserMessage((Note("\n".join(lines), "environment"),))

    first = told("Visible in the editor: src/a.py", "Open in the editor: src/a.py, /w/src/b.py, /elsewhere/c.py")
    shown = "open in the editor"
    assert of(first) == {"src/a.py": shown, "src/b.py": shown}
    assert of(first, call("read_file", path="src/b.py"), told("Open in the editor: nothing")) == {
        "src/b.py": "read",
        "src/a.py": shown,
    }
    assert of(first, told("Visible in the editor: nothing", "Open in the editor: nothing")) == {}
