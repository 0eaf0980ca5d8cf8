import re

from hypothesis import given, strategies as st

from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Diff, Mode, Todo, TodoStatus, ToolKind
from halocline.protocol.messages import StopReason
from halocline.surfaces.export.markdown import fence_code, inline_code, to_markdown
from halocline.surfaces.rows import kinds as r


@given(st.text(alphabet="`~ab\n ", max_size=60))
def test_a_fence_is_longer_than_any_run_of_backticks_inside(text: str) -> None:
    first, *_, last = fence_code(text, "x").split("\n")
    assert first == f"{last}x"
    assert all(len(run) < len(last) for run in re.findall("`+", text))


@given(st.text(alphabet="`a b", min_size=1, max_size=30))
def test_inline_code_is_closed_only_by_its_own_end(text: str) -> None:
    made = inline_code(text)
    ticks = len(made) - len(made.lstrip("`"))
    inner = made[ticks:-ticks] if ticks else made
    assert "`" * ticks not in re.findall("`+", inner)


def test_a_task_reads_from_its_prompt_to_its_end() -> None:
    rows = [
        r.StartRow("/w", "m/x", Mode.ACT, ApprovalMode.ASK),
        r.PromptRow("Fix the test", 1),
        r.ReplyRow("I'll run it."),
        r.CallRow(
            "c1",
            "execute_command",
            "pytest",
            ToolKind.EXECUTE,
            CallStatus.COMPLETED,
            output="1 passed\nexit code 0",
            approval=r.Approval("r1", "ask", decision=Choice.ALLOW_ONCE, by="user"),
            seconds=0.4,
        ),
        r.TodosRow((Todo("run", TodoStatus.COMPLETED), Todo("rest"))),
        r.TurnEndRow(StopReason.END_TURN, cost=None, steps=2, seconds=3),
    ]
    assert to_markdown(rows, "Fix the test") == (
        "# Fix the test\n\n"
        "Model `m/x`, act mode, approvals ask, in `/w`.\n\n"
        "## Prompt\n\n> Fix the test\n\n"
        "I'll run it.\n\n"
        "### execute_command: `pytest`\n\n*completed · 0.4 s · allowed once by user*\n\n"
        "```\n1 passed\nexit code 0\n```\n\n"
        "- [x] run\n- [ ] rest\n\n"
        "---\n\n*done · 2 steps · tokens unknown · 3.0 s*\n"
    )


def test_an_edit_is_shown_as_its_diff() -> None:
    row = r.CallRow(
        "c", "replace_in_file", "Edit a", ToolKind.EDIT, CallStatus.COMPLETED, diffs=(Diff("a", "-x\n+y\n"),)
    )
    assert "```diff\n-x\n+y\n```" in to_markdown([row])


def test_the_report_that_ends_a_turn_is_prose() -> None:
    row = r.CallRow(
        "c", "attempt_completion", "Finish", status=CallStatus.COMPLETED, output="All **done**.", ends_turn=True
    )
    assert to_markdown([row]) == "# Task\n\nAll **done**.\n"


def test_a_question_stands_with_its_options_and_its_answer() -> None:
    exported = to_markdown([r.QuestionRow("q", "Which?", ("a", "b"), answer="b", by="user")])
    assert "> Which?\n> 1. a\n> 2. b\n\n**Answer:** b" in exported
