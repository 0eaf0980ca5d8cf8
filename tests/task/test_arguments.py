from typing import Any

import msgspec
import pytest

from halocline.protocol.kinds import Todo, TodoStatus
from halocline.task.calls.arguments import explain_malformed, input_of
from halocline.tools import (
    ask_followup_question,
    attempt_completion,
    list_files,
    read_file,
    search_files,
    update_todos,
    write_to_file,
)

ITEM = {"text": "a"}
UNDERSTOOD = [
    (read_file, {"path": "a", "start_line": "3"}, {"path": "a", "start_line": 3}),
    (read_file, {"path": "a", "start_line": None}, {"path": "a"}),
    (list_files, {"path": None, "recursive": "true"}, {"recursive": True}),
    (update_todos, {"todos": [ITEM]}, {"todos": [Todo("a")]}),
    (update_todos, {"todos": '[{"text": "a"}]'}, {"todos": [Todo("a")]}),
    (update_todos, {"todos": ITEM}, {"todos": [Todo("a")]}),
    (update_todos, {"todos": "- [x] a\n- [ ] b"}, {"todos": [Todo("a", TodoStatus.COMPLETED), Todo("b")]}),
    (update_todos, {"task_progress": "- [ ] a"}, {"todos": [Todo("a")]}),
    (update_todos, {"todos": '{"text": "a"}'}, {"todos": [Todo("a")]}),
    (ask_followup_question, {"question": "?", "options": '["a", "b"]'}, {"question": "?", "options": ["a", "b"]}),
    (ask_followup_question, {"question": '["a"]'}, {"question": '["a"]'}),
]


@pytest.mark.parametrize(("module", "sent", "meant"), UNDERSTOOD)
def test_arguments_are_taken_as_what_alone_they_can_mean(
    module: Any, sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert input_of(sent, module.TOOL) == module.Input(**meant)


RENAMED = [
    (attempt_completion, {"response": "Done."}, {"result": "Done."}),
    (attempt_completion, {"summary": "Done."}, {"result": "Done."}),
    (read_file, {"file_path": "a", "start_line": 3}, {"path": "a", "start_line": 3}),
    (write_to_file, {"filePath": "a", "contents": "x"}, {"path": "a", "content": "x"}),
    (search_files, {"pattern": "x", "glob": "*.py"}, {"regex": "x", "file_pattern": "*.py"}),
    (list_files, {"directory": "src"}, {"path": "src"}),
    (update_todos, {"todo_list": '[{"text": "a"}]'}, {"todos": [Todo("a")]}),
    (read_file, {"path": "a", "file_path": "b"}, {"path": "a"}),
]


@pytest.mark.parametrize(("module", "sent", "meant"), RENAMED)
def test_other_agents_names_of_a_parameter_are_understood(
    module: Any, sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert input_of(sent, module.TOOL) == module.Input(**meant)


REFUSED = [
    (attempt_completion, {"response": "a", "summary": "b"}, "result"),
    (read_file, {"directory_name": "a"}, "path"),
    (read_file, {}, "path"),
    (read_file, {"path": None}, "path"),
    (read_file, {"path": "a", "start_line": "three"}, "start_line"),
    (update_todos, {"todos": '[{"text": "a"'}, "todos"),
    (update_todos, {"todos": "a, b"}, "todos"),
    (update_todos, {"todos": {"status": "pending"}}, "text"),
]


@pytest.mark.parametrize(("module", "sent", "named"), REFUSED)
def test_what_does_not_fit_is_refused_by_the_name_of_its_field(module: Any, sent: dict[str, Any], named: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=named):
        input_of(sent, module.TOOL)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"path": "a" "start": 1}', "at character 14"),
        ('{"path": "a', "at character 10"),
        ("{" * 100_000, ""),
        ('{"a": 1}', ""),
    ],
)
def test_where_arguments_are_malformed_is_named(text: str, place: str) -> None:
    assert place in explain_malformed(text)
    assert len(explain_malformed(text)) < 200
