"""The tools that not every task is offered, through whole tasks."""

import pytest

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, Grant, Mode, ToolKind
from halocline.protocol.messages import Note
from halocline.protocol.plan_approval import APPROVED, CHOICES
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="done")
ATTENDED = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
PLAN = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True, mode=Mode.PLAN)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))


def choosing(text):
    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer=text)
        return None

    return answer


def offered(journey) -> list[tuple[str, ...]]:
    return [event.tools for event in journey.logged if isinstance(event, ev.ToolsOffered)]


async def test_a_plan_with_options_goes_on_with_the_answer_and_one_without_waits(journey):
    asking = Call("plan_mode_respond", {"response": "Two ways.", "options": ["left", "right"]}, id="c1")
    plan = Call("plan_mode_respond", {"response": "Then right."}, id="c2")
    turns = (Turn(calls=(asking,)), Turn(calls=(plan,), expect="right"))
    await journey.run(*turns, options=PLAN, answer=choosing("right"))
    assert journey.results == ["right", "Then right."]
    assert journey.state.plan.mode is Mode.PLAN
    assert journey.state.turn is None


@pytest.mark.parametrize(("answer", "approvals"), CHOICES.items())
async def test_an_answer_that_approves_a_plan_switches_to_act_mode_and_the_approval_mode(journey, answer, approvals):
    asking = Call("plan_mode_respond", {"response": "Two ways.", "options": ["left", "right"]}, id="c1")
    await journey.run(Turn(calls=(asking,)), Turn(text="done", expect=APPROVED), options=PLAN, answer=choosing(answer))
    assert (journey.state.plan.mode, journey.state.permissions.approval_mode) == (Mode.ACT, approvals)


async def test_an_answer_to_another_question_approves_no_plan(journey):
    asking = Call("ask_followup_question", {"question": "Which?", "options": ["a", *CHOICES]}, id="c1")
    await journey.run(Turn(calls=(asking,)), DONE, options=PLAN, answer=choosing([*CHOICES][-1]))
    assert (journey.state.plan.mode, journey.state.permissions.approval_mode) == (Mode.PLAN, ApprovalMode.ASK)


async def test_nothing_but_the_person_ends_plan_mode_in_yolo(journey):
    asking = Call("plan_mode_respond", {"response": "Two ways.", "options": ["left", "right"]}, id="c1")
    touch = Call("execute_command", {"command": "touch made", "requires_approval": False}, id="c2")
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, mode=Mode.PLAN)
    await journey.run(Turn(calls=(asking, touch)), DONE, options=options)
    assert not (journey.workspace / "made").exists()
    assert journey.of(ev.QuestionAsked) == []
    assert journey.of(ev.ModeChanged) == []


async def test_an_accepted_hand_over_names_a_task_that_can_then_be_begun(journey):
    call = Call("new_task", {"context": "All that is known."}, id="c1")
    client = journey.client(
        [Turn(calls=(call,)), Turn(text="Going on.", expect="The user stays")], extra_tools=("new_task",)
    )
    await journey.open(client, ATTENDED)
    await journey.prompt(client, answer=choosing("Start the new task"))
    (handed,) = journey.of(ev.HandedOver)
    old = journey.task  # a script begins anew with each task
    assert await client.start(journey.workspace, ATTENDED, handed.to) == handed.to
    await client.let_go(old)
    journey.task = handed.to
    await journey.prompt(client, prompt=handed.context, answer=choosing("Stay in this one"))
    await client.close()
    assert journey.state.last_message.text == "Going on."
    assert journey.state.title == "All that is known."
    assert sorted(info.task for info in client.tasks.search()) == sorted([old, handed.to])


async def test_a_tool_that_a_person_asks_for_is_offered_for_the_rest_of_the_task(journey):
    client = journey.client([DONE, DONE, DONE])
    await journey.open(client, ATTENDED)
    await journey.prompt(client)
    assert offered(journey) == []
    await journey.prompt(client, "/newrule be kind")
    await client.close()
    assert offered(journey) == [("new_rule",)]
    (told,) = [
        part.text
        for event in journey.logged
        if isinstance(event, ev.TurnStarted)
        for part in event.content
        if isinstance(part, Note) and part.source == "request"
    ]
    assert told.startswith("The user asks for new_rule.")


@pytest.mark.parametrize(("attended", "tools"), [(True, ("new_rule", "new_task")), (False, ("new_rule",))])
async def test_the_settings_offer_tools_always_but_a_new_task_to_somebody_only(journey, attended, tools):
    client = journey.client([DONE], extra_tools=("new_task", "new_rule"))
    await journey.open(client, TaskOptions(attended=attended))
    await journey.prompt(client)
    await client.close()
    assert offered(journey) == [tools]


async def test_a_rule_is_asked_about_where_other_edits_are_not(journey):
    call = Call("new_rule", {"path": "kind.md", "content": "Be kind."}, id="c1")
    options = TaskOptions(approval_mode=ApprovalMode.AUTO, attended=True)

    def allow(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    await journey.run(Turn(calls=(call,)), DONE, options=options, answer=allow, extra_tools=("new_rule",))
    (asked,) = journey.of(ev.ApprovalRequested)
    assert "+Be kind." in asked.diffs[0].text
    assert (journey.workspace / ".clinerules/kind.md").read_text() == "Be kind.\n"


async def test_skills_are_in_the_prompt_by_name_and_read_when_used(journey):
    journey.write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Works with PDF.\n---\nUse forms.\n")
    journey.write(".claude/skills/bad/SKILL.md", "")
    client = journey.client(
        [Turn(calls=(Call("use_skill", {"skill_name": "pdf"}, id="c1"),)), Turn(text="ok", expect="Use forms.")]
    )
    await journey.open(client)
    (told,) = client.remarks(journey.task)
    assert "skills/bad is ignored" in told
    await journey.prompt(client)
    await client.close()
    prompt = journey.state.prompt.system
    assert "- pdf: Works with PDF." in prompt
    assert "Use forms." not in prompt
    assert offered(journey) == [("use_skill",)]


async def test_a_report_lands_in_the_folder_of_its_task_without_the_key_that_was_used(journey, monkeypatch):
    said = {"title": "t", "what_happened": "key sk-ant-0123456789abcdefghij", "steps_to_reproduce": "1."}
    call = Call("report_bug", said, id="c1")
    await journey.run(
        Turn(calls=(call,)), options=ATTENDED, answer=choosing("Write the report"), extra_tools=("report_bug",)
    )
    (report,) = journey.home.task(journey.task).glob("bug-report-*.md")
    assert "0123456789abcdefghij" not in report.read_text()
    assert str(report) in journey.results[0]


async def test_the_engine_of_the_settings_is_judged_by_its_host(journey):
    call = Call("web_search", {"query": "tides"}, id="c1")
    search = {"engine": "searxng", "url": "http://127.0.0.1:9"}
    from halocline.store.settings.sections import WebSearchSettings

    options = TaskOptions(approval_mode=ApprovalMode.AUTO)
    await journey.run(Turn(calls=(call,)), DONE, options=options, web_search=WebSearchSettings(**search))
    (asked,) = journey.of(ev.ApprovalRequested)
    assert asked.grant == Grant(ToolKind.FETCH, "127.0.0.1:9")
    assert offered(journey) == [("web_search",)]


async def test_an_engine_without_a_key_is_told_of_and_not_offered(journey):
    from halocline.store.settings.sections import WebSearchSettings

    client = journey.client([DONE], web_search=WebSearchSettings(engine="brave"))
    await journey.open(client)
    (told,) = client.remarks(journey.task)
    assert "BRAVE_API_KEY" in told
    await journey.prompt(client)
    await client.close()
    assert offered(journey) == []


async def test_how_to_make_a_server_is_read_only_by_the_task_that_was_asked_for_one(journey):
    turns = [Turn(calls=(Call("load_mcp_documentation", {}, id="c1"),)), Turn(text="ok", expect="halo mcp add NAME")]
    await journey.run(*turns, prompt="/newmcp that finds notes")
    assert offered(journey) == [("load_mcp_documentation",)]
    assert "halo mcp add" not in journey.state.prompt.system
