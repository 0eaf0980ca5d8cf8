from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.tools.contexts import change_context

from halocline.ports.tool import ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import HandedOver
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.plan_approval import APPROVED, CHOICES
from halocline.tools import new_rule, new_task, plan_mode_respond, report_bug


@pytest.fixture
def planning(context: ToolContext) -> ToolContext:
    return change_context(context, mode=Mode.PLAN)


def person(answer: str | None, asked: list[tuple[str, tuple[str, ...]]] | None = None):
    async def ask(question: str, options: Sequence[str], call: str) -> str | None:
        if asked is not None:
            asked.append((question, tuple(options)))
        return answer

    return ask


def said(output) -> str:
    return "".join(part.text for part in output.content)


async def plan(ctx: ToolContext, **given):
    return await plan_mode_respond.run(plan_mode_respond.Input("The plan.", **given), ctx)


async def test_a_plan_ends_the_turn(planning):
    output = await plan(planning)
    assert (said(output), output.ends_turn) == ("The plan.", True)


async def test_a_plan_that_needs_more_reading_goes_on(planning):
    output = await plan(planning, needs_more_exploration=True, options=["a"])
    assert (said(output), output.ends_turn) == (plan_mode_respond.GO_ON, False)


async def test_the_options_of_a_plan_are_asked_and_the_answer_is_read(planning):
    asked: list = []
    output = await plan(change_context(planning, ask=person("b", asked)), options=["a", "b"])
    assert (said(output), output.ends_turn, asked) == ("b", False, [("The plan.", ("a", "b", *CHOICES))])


async def test_an_approved_plan_is_to_be_carried_out(planning):
    for answer in CHOICES:
        output = await plan(change_context(planning, ask=person(answer)), options=["a"])
        assert (said(output), output.ends_turn) == (APPROVED, False)


async def test_yolo_asks_nobody_and_switches_nothing(planning):
    asked: list = []
    yolo = change_context(planning, approval_mode=ApprovalMode.YOLO, ask=person("a", asked))
    output = await plan(yolo, options=["a"])
    assert (said(output), asked) == (plan_mode_respond.NOT_ASKED, [])


async def test_in_act_mode_nothing_waits_for_a_plan(context):
    output = await plan(context)
    assert (said(output), output.ends_turn) == (plan_mode_respond.IN_ACT_MODE, False)


async def hand_over(context: ToolContext, answer: str | None):
    ctx = change_context(context, ask=person(answer), new_task_id=lambda: "260101-000000-abcd")
    return await new_task.run(new_task.Input("All of it."), ctx)


async def test_an_accepted_hand_over_is_one_fact_that_names_the_new_task(context):
    output = await hand_over(context, new_task.YES)
    assert output.events == (HandedOver(to="260101-000000-abcd", context="All of it."),)
    assert output.ends_turn
    assert "260101-000000-abcd" in said(output)


@pytest.mark.parametrize(
    ("answer", "told"), [(None, new_task.NOBODY), (new_task.NO, new_task.STAYS), ("Also tell it why.", "tell it why.")]
)
async def test_without_a_yes_the_task_goes_on_and_the_model_hears_why(context, answer, told):
    output = await hand_over(context, answer)
    assert (output.events, output.ends_turn) == ((), False)
    assert said(output).endswith(told)


@pytest.mark.parametrize("path", ["tests.md", ".clinerules/tests.md", "tests", "tests.md "])
async def test_a_rule_becomes_a_file_in_the_folder_of_rules(context, path):
    given = new_rule.Input(path, "Test first.\n\n")
    assert new_rule.summary(given).paths == (".clinerules/tests.md",)
    output = await new_rule.TOOL.run(given, context)
    assert (context.workspace / ".clinerules/tests.md").read_text() == "Test first.\n"
    assert said(output) == "Created the rule .clinerules/tests.md (1 line)."
    assert [event.path for event in output.events] == [".clinerules/tests.md"]


@pytest.mark.parametrize(
    "path", ["", ".", "../x.md", "/etc/x.md", "a/../../x.md", "~/x.md", "x.sh", "skills/x.md", ".clinerules/hooks/x.md"]
)
def test_a_rule_has_its_place(path):
    with pytest.raises(ToolFailure, match="not a valid path for a rule"):
        new_rule.summary(new_rule.Input(path, "x"))


async def test_a_rule_replaces_nothing(context):
    rules = context.workspace / ".clinerules"
    rules.write_text("all of them")
    with pytest.raises(ToolFailure, match="is a single file in this project"):
        await new_rule.TOOL.run(new_rule.Input("x", "y"), context)
    rules.unlink()
    rules.mkdir()
    (rules / "x.md").write_text("old")
    with pytest.raises(ToolFailure, match="already exists"):
        await new_rule.TOOL.preview(new_rule.Input("x", "y"), context)
    assert (rules / "x.md").read_text() == "old"


BUG = report_bug.Input(
    "It stops", "It stopped.", "1. Start it.", api_request_output="Authorization: Bearer abcdefgh123"
)


@pytest.fixture
def reporting(context: ToolContext, tmp_path: Path) -> ToolContext:
    folder = tmp_path / "task"
    folder.mkdir()
    return change_context(
        context, folder=folder, model="scripted/x", redact_thoroughly=lambda text: text.replace("abcdefgh123", "[x]")
    )


@pytest.mark.process
async def test_a_report_is_shown_then_written_and_sent_to_nobody(reporting):
    asked: list = []
    output = await report_bug.run(BUG, change_context(reporting, ask=person(report_bug.YES, asked)))
    (written,) = [path.read_text() for path in reporting.task.folder.iterdir()]
    assert written.strip() in asked[0][0]
    for part in ("# It stops", "It stopped.", "1. Start it.", "Model: scripted/x", "Halocline 0"):
        assert part in written
    assert "Nothing was sent" in said(output)
    assert "://" not in said(output)
    assert output.ends_turn
    assert "abcdefgh123" not in written + said(output) + asked[0][0]


async def test_a_report_that_the_person_does_not_want_is_not_written(reporting):
    assert said(await report_bug.run(BUG, change_context(reporting, ask=person(report_bug.NO)))) == report_bug.DECLINED
    assert list(reporting.task.folder.iterdir()) == []
