"""The judge of approvals: a second model that gives some of them, by a rule that the person wrote."""

import pytest
from msgspec.structs import replace
from tests.journeys.conftest import ScriptedAssembly
from tests.journeys.test_sandboxed import _has_a_sandbox as _has_a_sandbox
from tests.journeys.test_wire import KEYS, MODELS
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.policy.presets import AutoApprove
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, Mode, ToolKind
from halocline.protocol.messages import ToolCall, Usage
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.project import RIGHTS, ProjectRight
from halocline.store.settings.provider_settings import Provider
from halocline.store.settings.sections import JudgeSettings
from halocline.task.calls.judge import BEFORE_CHANGES, HIDDEN, _describe_call

DONE = Turn(text="done")
ALONE = TaskOptions(approval_mode=ApprovalMode.ASK, attended=False)
WATCHED = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
RULE = "Edits of documents are fine, and so is touching files."
YES = '{"allow": true, "reason": "It edits a document."}'
NO = '{"allow": false, "reason": "It is no document."}'


def judge_saying(journey, text, **more):
    """Settings with a judge that always answers with this text."""
    script = journey.home.root.parent / "judge.toml"
    script.write_text(f"summary = {text!r}\n[[turn]]\ntext = ''\n")
    return JudgeSettings(model=f"scripted/{script}", rule=RULE, **more)


def write(path="made.txt", content="x\n"):
    return Turn(calls=(Call("write_to_file", {"path": path, "content": content}, id="c1"),))


def run(command, **more):
    return Turn(calls=(Call("execute_command", {"command": command, **more}, id="c1"),))


def allow(event):
    if isinstance(event, ev.ApprovalRequested):
        return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
    return None


def decided(journey):
    return [(event.decision, event.by) for event in journey.of(ev.ApprovalResolved)]


def verdicts(journey):
    return [(event.allows, event.reason) for event in journey.of(ev.ApprovalJudged)]


async def test_an_edit_that_the_rule_covers_runs_without_a_person_and_the_log_says_by_whom(journey):
    await journey.run(write(), DONE, options=ALONE, judge=judge_saying(journey, YES))
    assert (journey.workspace / "made.txt").read_text() == "x\n"
    assert verdicts(journey) == [(True, "It edits a document.")]
    assert decided(journey) == [(Choice.ALLOW_ONCE, "judge")]
    kinds = [kind for kind in journey.kinds if kind.startswith("Approval")]
    assert kinds == ["ApprovalRequested", "ApprovalJudged", "ApprovalResolved"]
    assert (journey.state.permissions.judged, journey.state.permissions.judge_allowed) == (1, 1)


@pytest.mark.parametrize(
    "said", [NO, "Allowed!", '{"allow": "true"}', "[]", ""], ids=["no", "prose", "text", "list", "-"]
)
async def test_what_it_does_not_clearly_allow_is_refused_where_nobody_else_can_answer(journey, said):
    await journey.run(write(), DONE, options=ALONE, judge=judge_saying(journey, said))
    assert not (journey.workspace / "made.txt").exists()
    assert [allows for allows, _ in verdicts(journey)] == [False]
    assert decided(journey) == [(Choice.REJECT_ONCE, "nobody")]


async def test_what_it_does_not_allow_is_the_persons_to_decide(journey):
    def answer(event):
        if isinstance(event, ev.ApprovalJudged):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    await journey.run(write(), DONE, options=WATCHED, answer=answer, judge=judge_saying(journey, NO))
    assert decided(journey) == [(Choice.ALLOW_ONCE, "user")]


async def test_a_model_that_cannot_be_opened_leaves_the_decision_to_the_person(journey):
    judge = JudgeSettings(model="nowhere/nothing", rule=RULE)
    await journey.run(write(), DONE, options=ALONE, judge=judge)
    ((allows, reason),) = verdicts(journey)
    assert (allows, "nowhere" in reason) == (False, True)
    assert decided(journey) == [(Choice.REJECT_ONCE, "nobody")]


@pytest.mark.parametrize(
    "turn",
    [
        write("../outside.txt"),
        write(".env"),
        write(".git/hooks/pre-commit"),
        write(content="x" * 20_001),
        run("touch made"),
        run("rm -rf /tmp/whatever"),
        Turn(calls=(Call("web_fetch", {"url": "https://example.com/"}, id="c1"),)),
    ],
    ids=["outside", "secret", "hook", "long", "no sandbox", "gone", "fetch"],
)
async def test_it_never_sees_what_is_grave_outside_the_sandbox_or_too_long(journey, turn):
    await journey.run(turn, DONE, options=ALONE, judge=judge_saying(journey, YES))
    assert len(journey.of(ev.ApprovalRequested)) == 1
    assert verdicts(journey) == []


async def test_a_question_that_a_rule_of_the_person_asks_is_for_the_person(journey):
    settings = {"judge": judge_saying(journey, YES), "auto_approve": AutoApprove(edit=False)}
    await journey.run(write(), DONE, options=ALONE, **settings)
    assert verdicts(journey) == []
    assert decided(journey) == [(Choice.REJECT_ONCE, "nobody")]


async def test_it_looks_at_no_more_of_a_task_than_the_settings_say(journey):
    turns = (write("a.txt"), write("b.txt"), DONE)
    await journey.run(*turns, options=ALONE, judge=judge_saying(journey, YES, most=1))
    assert [one.name for one in journey.workspace.iterdir()] == ["a.txt"]
    assert decided(journey) == [(Choice.ALLOW_ONCE, "judge"), (Choice.REJECT_ONCE, "nobody")]


async def test_turned_off_in_a_task_it_stays_off_after_a_resume_until_it_is_turned_on(journey):
    judge = judge_saying(journey, YES)
    client = journey.client([write("a.txt"), DONE], judge=judge)
    await journey.open(client, WATCHED)
    client.send(cmd.SetJudge(task=journey.task, on=False))
    await journey.prompt(client, answer=allow)
    await client.close()
    assert (verdicts(journey), decided(journey)) == ([], [(Choice.ALLOW_ONCE, "user")])
    turns = [write("a.txt"), DONE, write("b.txt"), DONE, write("c.txt"), DONE]
    client = journey.client(turns, judge=judge)
    await journey.open(client, WATCHED, journey.task)
    await journey.prompt(client, answer=allow)
    assert verdicts(journey) == []
    client.send(cmd.SetJudge(task=journey.task, on=True))
    await journey.prompt(client)
    await client.close()
    assert decided(journey) == [(Choice.ALLOW_ONCE, "judge")]


async def test_a_command_in_a_full_sandbox_may_be_given_and_one_that_leaves_it_not(journey):
    turns = (run("touch made; sh -c 'exit 3'"), run("touch other", unsandboxed=True), DONE)
    await journey.run(*turns, options=ALONE, judge=judge_saying(journey, YES), sandbox="auto")
    assert decided(journey) == [(Choice.ALLOW_ONCE, "judge"), (Choice.REJECT_ONCE, "nobody")]
    assert [one.name for one in journey.workspace.iterdir()] == ["made"]


async def test_what_it_took_counts_in_the_task(journey):
    async with ModelServer([Turn(text=YES, usage=Usage(input=900, output=30))]) as server:
        journey.env = dict(KEYS)
        judge = JudgeSettings(model=MODELS["anthropic"], rule=RULE)
        provider = {"anthropic": Provider(base_url=server.url("anthropic"))}
        turns = (write(), DONE)
        await journey.run(*turns, options=ALONE, judge=judge, providers=provider)
        asked = str(server.requests[0].body)
    assert decided(journey) == [(Choice.ALLOW_ONCE, "judge")]
    assert (RULE in asked, "made.txt" in asked) == (True, True)
    assert journey.state.budget.usage.output >= 30
    assert [event.usage.output for event in journey.of(ev.SideQuestionAnswered)] == [30]


async def test_a_folder_names_no_judge(journey):
    judge_saying(journey, YES)
    path = journey.home.root.parent / "judge.toml"
    journey.write(".halocline/settings.toml", f'[judge]\nmodel = "scripted/{path}"\nrule = "All is fine."\n')
    await journey.run(write(), DONE, options=TaskOptions(approval_mode=ApprovalMode.ASK, attended=False, trusted=True))
    assert verdicts(journey) == []
    assert RIGHTS["judge.model"] is RIGHTS["judge.rule"] is ProjectRight.NEVER


class Slow:
    """A judge that thinks until a peer has come and gone."""

    def __init__(self):
        self.inbox = None

    def may_answer(self, asked, call, state):
        return True

    async def judge(self, asked, call, emit):
        self.inbox.welcome()
        self.inbox.dismiss()
        return ev.ApprovalJudged(asked.request, asked.call, "slow", True, "It is fine.")


class Judged(ScriptedAssembly):
    """Builds tasks with the judge `own`."""

    own: Slow

    def parts(self, *given, **more):
        parts = super().parts(*given, **more)
        self.own.inbox = parts.inbox
        return replace(parts, host=replace(parts.host, judge=self.own))


def with_judge(journey, judge):
    assembly = Judged(journey.home, journey.settings, [write(), DONE])
    assembly.own = judge
    return Client(Controller(assembly), "test")


async def test_a_peer_that_comes_and_goes_takes_no_decision_from_the_judge(journey):
    client = with_judge(journey, Slow())
    await journey.run(options=ALONE, client=client)
    assert decided(journey) == [(Choice.ALLOW_ONCE, "judge")]


async def test_a_call_of_which_it_would_not_see_the_whole_is_the_persons(journey):
    key = "-----BEGIN PRIVATE KEY-----\nMIIE\nos.remove('a')\n-----END PRIVATE KEY-----"
    await journey.run(write(content=key), DONE, options=ALONE, judge=judge_saying(journey, YES))
    assert verdicts(journey) == [(False, HIDDEN)]


async def test_every_file_of_a_patch_is_among_what_it_sees():
    patch = "*** Begin Patch\n*** Delete File: a\n*** Update File: b\n*** Move to: c\n*** End Patch"
    asked = ev.ApprovalRequested("r1", "c1", "apply_patch", "Patch", ToolKind.EDIT, BEFORE_CHANGES, ())
    told = _describe_call(asked, ToolCall("c1", "apply_patch", {"patch": patch}))
    assert all(name in told for name in ("Delete File: a", "Update File: b", "Move to: c"))


async def test_a_rule_of_the_person_about_one_file_of_several_keeps_it_from_all(journey):
    journey.write("f.txt", "f\n")
    rules = '[[rule]]\ndecision = "ask"\nkinds = ["edit"]\npaths = ["z*"]\nreason = "I look at z myself."\n'
    journey.home.policy.parent.mkdir(parents=True, exist_ok=True)
    journey.home.policy.write_text(rules)
    patch = "*** Begin Patch\n*** Update File: f.txt\n@@\n-f\n+g\n*** Add File: z1\n+z\n*** End Patch"
    turn = Turn(calls=(Call("apply_patch", {"input": patch}, id="c1"),))
    await journey.run(turn, DONE, options=ALONE, judge=judge_saying(journey, YES))
    assert "I look at z myself." in journey.of(ev.ApprovalRequested)[0].reason
    assert verdicts(journey) == []


@pytest.mark.parametrize("change", [{"on": False}, {"mode": Mode.PLAN}], ids=["off", "plan"])
async def test_a_verdict_in_flight_does_not_outlive_the_persons_no(journey, change):
    def answer(event):
        if isinstance(event, ev.ApprovalJudged):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.REJECT_ONCE)
        if isinstance(event, ev.ApprovalRequested):
            return (cmd.SetMode if "mode" in change else cmd.SetJudge)(task=event.task, **change)
        return None

    await journey.run(write(), DONE, options=WATCHED, answer=answer, judge=judge_saying(journey, YES))
    late = (False, "the mode or the permissions changed meanwhile")
    assert verdicts(journey) in ([late], [])  # none if the change ended the question before the verdict came
    assert not (journey.workspace / "made.txt").exists()
