import pytest
from hypothesis import given, strategies as st

from halocline.protocol.kinds import Todo, TodoStatus
from halocline.protocol.state.todo_markdown import at_work, from_markdown, to_markdown

DONE, NOW, OPEN = TodoStatus.COMPLETED, TodoStatus.IN_PROGRESS, TodoStatus.PENDING


@pytest.mark.parametrize(
    ("line", "todo"),
    [
        ("- [ ] a b", Todo("a b")),
        ("- [x] a", Todo("a", DONE)),
        ("* [X] a", Todo("a", DONE)),
        ("  + [ ] nested", Todo("nested")),
        ("2. [x] numbered", Todo("numbered", DONE)),
        ("- [ ] **now:** a", Todo("a", NOW)),
        ("- [ ] now: a", Todo("a", NOW)),
        ("- [/] a", Todo("a", NOW)),
        ("- [-] a", Todo("a", NOW)),
        ("- [x] **now:** a", Todo("a", DONE)),
        ("- [ ] now:", Todo("now:", NOW)),
    ],
)
def test_an_item_is_read_as_people_write_it(line: str, todo: Todo):
    assert from_markdown(f"# Plan\n\n{line}\r\nwords\n") == (todo,)


@pytest.mark.parametrize("text", ["", "- a", "[ ] a", "- [ ]", "- [ ]   ", "- [ok] a", "<!-- [ ] a -->", "-[ ] a"])
def test_other_lines_are_no_items(text: str):
    assert from_markdown(text) == ()


WORDS = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.lists(st.builds(Todo, WORDS, st.sampled_from(TodoStatus)), max_size=8))
def test_what_was_written_is_read_and_written_the_same_again(todos: list[Todo]):
    once = from_markdown(to_markdown(todos))
    assert from_markdown(to_markdown(once)) == once
    assert len(once) <= len(todos)


def test_the_current_step_is_what_is_in_progress_else_what_is_next():
    assert at_work((Todo("a", DONE), Todo("b"), Todo("c", NOW))) == Todo("c", NOW)
    assert at_work((Todo("a", DONE), Todo("b"), Todo("c"))) == Todo("b")
    assert at_work((Todo("a", DONE),)) is None
