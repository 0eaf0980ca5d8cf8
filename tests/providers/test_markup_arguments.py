from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.providers.markup import TAGS
from tests.tables import for_each

from halocline.providers.text_tools.arguments import read_arguments, write_arguments

READ: list[tuple[str, str, dict[str, Any]]] = [
    ("read_file", "<path>\n  a b.py\t</path>", {"path": "a b.py"}),
    ("read_file", "<path>a</path><start_line> 3 </start_line>", {"path": "a", "start_line": 3}),
    ("read_file", "<path>a</path><start_line></start_line><end_line>null</end_line>", {"path": "a"}),
    ("read_file", "<path>a</path><unknown>x</unknown>", {"path": "a"}),
    ("read_file", "<file_path>a</file_path>", {"path": "a"}),
    ("read_file", "<absolutePath>/a</absolutePath>", {"path": "/a"}),
    ("attempt_completion", "<response>Done.</response>", {"result": "Done."}),
    ("attempt_completion", "\nDone: a < b.\n", {"result": "Done: a < b."}),
    ("execute_command", "<command>a && b</command><timeout>2.5</timeout>", {"command": "a && b", "timeout": 2.5}),
    (
        "execute_command",
        "<command>ls</command><requires_approval>True</requires_approval>",
        {"command": "ls", "requires_approval": True},
    ),
    (
        "ask_followup_question",
        '<question>?</question><options>["a", "b"]</options>',
        {"question": "?", "options": ["a", "b"]},
    ),
    ("update_todos", '<todos>[{"text": "a"}]</todos>', {"todos": [{"text": "a"}]}),
    ("update_todos", '<todos>{"text": "a"}</todos>', {"todos": [{"text": "a"}]}),
    (
        "write_to_file",
        "<path>a</path>\n<content>\n    if x:\n\n</content>",
        {"path": "a", "content": "    if x:\n\n"},
    ),
    ("write_to_file", "<path>a</path><content>\n  x\n  </content>", {"path": "a", "content": "  x\n"}),
    ("write_to_file", "<path>a</path><content></content>", {"path": "a", "content": ""}),
    ("write_to_file", "<path>a</path><content>&lt;b&gt;</content>", {"path": "a", "content": "&lt;b&gt;"}),
    ("list_files", " ", {}),
    ("read_file", "", {}),
    ("read_file", '{"path": "a", "start_line": 2}', {"path": "a", "start_line": 2}),
]


@for_each("tool, body, expected", READ)
def test_a_body_is_decoded_by_the_tool_s_schema(tool: str, body: str, expected: dict[str, Any]) -> None:
    assert read_arguments(body, TAGS[tool]) == expected


MALFORMED = [
    ("read_file", "<path>a</path><start_line>three</start_line>"),
    ("read_file", "<path>a"),
    ("read_file", '{"path": "a'),
    ("read_file", '{"other": "a"}'),
    ("read_file", "<file>a</file>"),
    ("read_file", '["a"]'),
    ("execute_command", "<command>ls</command><requires_approval>maybe</requires_approval>"),
    ("update_todos", "<todos>- a\n- b</todos>"),
    ("update_todos", "<todos></todos>"),
    ("update_todos", '<todos>[{"text": "a"</todos>'),
    ("write_to_file", "all of it"),
]


@pytest.mark.parametrize(("tool", "body"), MALFORMED)
def test_what_does_not_decode_gives_no_arguments(tool: str, body: str) -> None:
    assert read_arguments(body, TAGS[tool]) is None


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), max_size=20).map(str.strip)
CONTENTS = st.text(max_size=40).filter(lambda text: text.rstrip(" \t") == text)


@given(WORDS, CONTENTS)
def test_a_written_file_reads_back_as_it_was(path: str, content: str) -> None:
    arguments = {"path": path, "content": content}
    assert read_arguments(write_arguments(arguments), TAGS["write_to_file"]) == arguments


@given(
    st.lists(st.fixed_dictionaries({"text": st.text(st.characters(codec="utf-8", exclude_characters="<"))}), max_size=3)
)
def test_a_list_reads_back_as_it_was(todos: list[dict[str, str]]) -> None:
    assert read_arguments(write_arguments({"todos": todos}), TAGS["update_todos"]) == {"todos": todos}
