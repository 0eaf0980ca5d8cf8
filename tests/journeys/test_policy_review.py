from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.services.policy.audit import review_task
from halocline.tools.toolset import ALL, Tools

ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
CALLS = (
    Call("read_file", {"path": "a.txt"}, id="read"),
    Call("write_to_file", {"path": "b.txt", "content": "x"}, id="write"),
    Call("write_to_file", {"path": "../home/settings.toml", "content": "x"}, id="own"),
    Call("nonsense", {}, id="unknown"),
)


def yes(event):
    if isinstance(event, ev.ApprovalRequested):
        return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
    return None


async def test_every_judged_call_of_a_task_is_judged_again_with_other_rules(journey):
    journey.write("a.txt", "one")
    await journey.run(Turn(calls=CALLS), Turn(text="done"), options=ASK, answer=yes)
    book = RuleBook((Rule(Verdict.DENY, "no-b", paths=("b.txt",)), Rule(Verdict.ASK, "look", kinds=(ToolKind.READ,))))
    found = {row.call: row for row in review_task(journey.logged, Tools(ALL), journey.home.root, lambda then: book)}
    assert {name: (row.then, row.rule, row.by, row.now, row.now_rule) for name, row in found.items()} == {
        "read": (Verdict.ALLOW, "reads", "", Verdict.ASK, "look"),
        "write": (Verdict.ASK, "mode-ask", "allow_once by user", Verdict.DENY, "no-b"),
        "own": (Verdict.DENY, "own-state", "", Verdict.DENY, "own-state"),
    }


async def test_with_the_rules_of_then_the_answers_are_those_of_then(journey):
    journey.write("a.txt", "one")
    await journey.run(Turn(calls=CALLS), Turn(text="done"), options=ASK, answer=yes)
    for row in review_task(journey.logged, Tools(ALL), journey.home.root):
        assert row.now is row.then
