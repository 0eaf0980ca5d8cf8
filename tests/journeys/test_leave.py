"""Leave that was given for good is taken back: at once, in every task, and for good."""

from tests.journeys.test_jobs import shell

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, Scope
from halocline.providers.scripted.model import Turn
from halocline.runtime.controller import TaskOptions
from halocline.services.policy.grants import list_grants
from halocline.services.policy.rules import PolicyService

DONE = Turn(text="done")
ASKING = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)


def touch(id):
    return Turn(calls=(shell("touch made", id),))


def always(journey, scope=Scope.TASK):
    def answer(event):
        if not isinstance(event, ev.ApprovalRequested):
            return None
        return cmd.ResolveApproval(
            task=journey.task, request=event.request, decision=Choice.ALLOW_ALWAYS, scope=scope, note="it is fine"
        )

    return answer


async def test_leave_for_the_task_is_taken_back_and_the_next_call_is_asked_about(journey):
    client = journey.client([touch("c1"), DONE, touch("c2"), DONE, touch("c3"), DONE])
    await journey.open(client, ASKING)
    await journey.prompt(client, answer=always(journey))
    await journey.prompt(client, answer=always(journey))
    assert journey.of(ev.ApprovalRequested) == []
    (given,) = list_grants(journey.logged)
    assert (given.scope, given.client, given.title, given.note) == (Scope.TASK, "test", "touch made", "it is fine")
    assert client.send(cmd.TakeBack(task=journey.task, grant=given.grant))
    assert not client.send(cmd.TakeBack(task=journey.task, grant=given.grant))
    assert list_grants(journey.logged) == ()
    await journey.prompt(client, answer=always(journey), after=0)
    await client.close()
    assert [kind for kind in journey.kinds if kind not in ("ToolsOffered", "CheckpointTaken", "RulesChanged")] == [
        "TaskStarted",
        *_turn("ApprovalRequested", "ApprovalResolved"),
        *_turn(),
        "GrantTakenBack",
        *_turn("ApprovalRequested", "ApprovalResolved"),
    ]
    assert journey.of(ev.GrantTakenBack)[0].client == "test"


def _turn(*asked):
    step = ["StepStarted", "UsageReported", "AssistantMessageCompleted"]
    return ["TurnStarted", *step, *asked, "ToolCallStarted", "ToolCallEnded", *step, "TurnEnded"]


async def test_leave_for_the_project_that_is_taken_out_of_its_file_ends_in_the_task_that_gave_it(journey, tmp_path):
    client = journey.client([touch("c1"), DONE, touch("c2"), DONE, touch("c3"), DONE])
    desk = PolicyService(client._controller.assemblies.own)
    await journey.open(client, ASKING)
    await journey.prompt(client, answer=always(journey, Scope.PROJECT))
    await journey.prompt(client, answer=always(journey))
    assert journey.of(ev.ApprovalRequested) == []
    (rule,) = desk.kept(journey.workspace)
    assert f"in task {journey.task}, through test" in rule.reason
    assert desk.kept(tmp_path) == []
    assert desk.take_out(rule)
    assert not desk.take_out(rule)
    await journey.prompt(client, answer=always(journey))
    await client.close()
    kinds = [kind for kind in journey.kinds if kind in ("GrantTakenBack", "ApprovalRequested")]
    assert kinds == ["GrantTakenBack", "ApprovalRequested"]
    assert journey.of(ev.GrantTakenBack)[0].client == ""


async def test_leave_for_everywhere_that_is_taken_out_is_gone_for_a_task_that_is_resumed(journey):
    await journey.run(touch("c1"), DONE, options=ASKING, answer=always(journey, Scope.EVERYWHERE))
    client = journey.client([touch("c1"), DONE, touch("c2"), DONE])
    desk = PolicyService(client._controller.assemblies.own)
    (rule,) = desk.kept(journey.workspace)
    assert desk.take_out(rule)
    await journey.run(client=client, resume=journey.task, options=ASKING, answer=always(journey))
    assert len(journey.of(ev.ApprovalRequested)) == 2
    assert len(journey.of(ev.GrantTakenBack)) == 1
