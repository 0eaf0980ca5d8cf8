"""Sub-agents: whole tasks with children, each with a script of its own."""

import asyncio

import pytest
from tests.journeys.conftest import NO_SERVERS, Journey, _no_wait
from tests.journeys.deaths import dead_after

from halocline.client.tasks import Client
from halocline.policy.presets import AutoApprove
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice
from halocline.protocol.messages import Note, Text, Usage
from halocline.protocol.queries.tasks import TaskQuery
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.providers.wrappers.retry import Retrying
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.runtime.history.forks import Fork
from halocline.services.replay.replay import run_replay
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import Recording
from halocline.task.log import read_log

DONE = Turn(text="All is known.")


class Scripts(Assembly):
    """The first model that is opened plays the parent's script, each further one the next child's."""

    def __init__(self, home, settings, *scripts):
        super().__init__(home, settings, {})
        self._scripts = iter(scripts)

    async def model(self, named):
        return Retrying(Scripted(next(self._scripts), named or "scripted/parent"), sleep=_no_wait)


def client_of(journey: Journey, *scripts, **settings) -> Client:
    journey.settings = Settings(**{"language_servers": NO_SERVERS, "subagents": "on", **settings})
    return Client(Controller(Scripts(journey.home, journey.settings, *scripts)), "test")


def asks(*prompts: str, **more) -> Turn:
    return Turn(calls=(Call("use_subagents", {"agents": [{"prompt": prompt, **more} for prompt in prompts]}),))


def reports(text: str, **more) -> Turn:
    return Turn(calls=(Call("attempt_completion", {"result": text}),), **more)


def log_of(journey: Journey, task: str) -> list[ev.DurableEvent]:
    return list(read_log(journey.home.log(task)))


async def test_each_child_is_a_task_of_its_own_whose_report_the_parent_reads(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")
    first = (Turn(calls=(Call("read_file", {"path": "a.py"}),)), reports("ALPHA is 1 (a.py:1)"))
    client = client_of(journey, (asks("what is ALPHA?", "what is BETA?"), DONE), first, (reports("BETA is nowhere"),))
    await journey.run(client=client)
    (result,) = journey.results
    assert "## 1. what is ALPHA?" in result
    assert "ALPHA is 1 (a.py:1)" in result
    assert result.index("ALPHA is 1") < result.index("## 2. what is BETA?") < result.index("BETA is nowhere")
    began, ended = journey.of(SubagentStarted), journey.of(SubagentEnded)
    assert [one.end for one in ended] == [LaneEnd.DONE, LaneEnd.DONE]
    child = log_of(journey, began[0].child)
    assert isinstance(child[0], ev.TaskStarted)
    assert child[0].subtask.parent == journey.task
    assert [type(event).__name__ for event in child][-1] == "TurnEnded"
    assert not (journey.state.subagents.running)
    assert not ([one for one in journey.logged if one.task != journey.task])


async def test_a_child_reads_and_does_nothing_else_whatever_its_parent_may_do(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")
    tries = Turn(
        calls=(
            Call("write_to_file", {"path": "b.py", "content": "x"}),
            Call("execute_command", {"command": "touch c.py"}),
            Call("use_subagents", {"agents": [{"prompt": "go on"}]}),
            Call("execute_command", {"command": "cat a.py"}),
        )
    )
    await journey.run(client=client_of(journey, (asks("look"), DONE), (tries, reports("tried"))))
    (began,) = journey.of(SubagentStarted)
    ends = [event for event in log_of(journey, began.child) if isinstance(event, ev.ToolCallEnded)]
    assert [end.status.value for end in ends[:4]] == ["failed", "rejected", "failed", "completed"]
    assert "a sub-agent is read-only" in ends[1].result.text
    assert "ALPHA" in ends[3].result.text
    assert sorted(path.name for path in journey.workspace.iterdir()) == ["a.py"]


async def test_a_child_that_fails_is_a_report_and_the_others_are_not_lost(journey: Journey):
    client = client_of(journey, (asks("one", "two"), DONE), (), (reports("found"),))
    await journey.run(client=client)
    assert [one.end for one in sorted(journey.of(SubagentEnded), key=lambda one: one.name)] == ["failed", "done"]
    (result,) = journey.results
    assert "Failed: " in result
    assert "found" in result
    assert journey.ends[0][1] == "completed"


async def test_when_every_child_fails_so_does_the_call(journey: Journey):
    await journey.run(client=client_of(journey, (asks("one", "two"), DONE), (), ()))
    assert journey.ends[0][1] == "failed"


async def test_a_model_that_cannot_be_opened_fails_its_lane_only(journey: Journey):
    describe(journey, "lost", "model: nowhere/none")
    client = client_of(journey, (asks("one", agent="lost"), DONE))

    await journey.run(client=client)
    assert "[Failed: " in journey.results[0]


def describe(journey: Journey, name: str, *lines: str, place: str = ".halocline/agents") -> None:
    head = "\n".join([f"name: {name}", f"description: knows {name}", *lines])
    journey.write(f"{place}/{name}.md", f"---\n{head}\n---\nYou know all about {name}.\n")


async def test_what_children_took_counts_as_the_parents(journey: Journey):
    dear = {"usage": Usage(input=100, output=10), "cost": 0.25}
    client = client_of(
        journey,
        (asks("one", "two"), Turn(text="done", usage=Usage(input=1), cost=0.5)),
        (reports("a", **dear),),
        (reports("b", **dear),),
    )
    await journey.run(client=client)
    assert journey.state.budget.cost == pytest.approx(1.0)
    (info,) = client_of(journey).tasks.search()
    assert info.cost == pytest.approx(1.0)


async def test_the_parents_limit_holds_for_its_children_together(journey: Journey):
    spends = Turn(calls=(Call("list_files", {"path": "."}),), usage=Usage(input=1), cost=0.3)
    client = client_of(
        journey,
        (asks("one", "two"), DONE),
        (spends, spends, reports("never")),
        (reports("b", usage=Usage(input=1), cost=0.01),),
        max_cost=0.5,
    )
    await journey.run(client=client)
    one, two = sorted(journey.of(SubagentEnded), key=lambda ended: ended.name)
    assert (one.end, one.cost, two.end) == (LaneEnd.LIMIT, pytest.approx(0.3), LaneEnd.DONE)
    child = log_of(journey, one.child)[0]
    assert isinstance(child, ev.TaskStarted)
    assert (child.subtask.cost, child.limits.cost) == (None, 0.5)


async def test_children_are_listed_below_their_parent_only_and_go_with_it(journey: Journey):
    client = client_of(journey, (asks("one"), DONE), (reports("a"),))
    await journey.run(client=client)
    (began,) = journey.of(SubagentStarted)
    client = client_of(journey)
    assert [info.task for info in client.tasks.search()] == [journey.task]
    assert [info.task for info in client.tasks.search(TaskQuery(parent=journey.task))] == [began.child]
    newest = client.tasks.newest(journey.workspace)
    assert newest
    assert newest.task == journey.task
    client.tasks.delete(journey.task)
    assert not journey.home.task(began.child).exists()
    assert [info.task for info, _ in client.tasks.deleted()] == [journey.task]
    client.tasks.undelete(journey.task)
    assert journey.home.task(began.child).exists()


async def test_a_child_can_be_replayed_like_any_task(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")
    looks = Turn(calls=(Call("read_file", {"path": "a.py"}), Call("execute_command", {"command": "cat a.py"})))
    await journey.run(client=client_of(journey, (asks("one"), DONE), (looks, reports("a"))))
    recording = Recording(tuple(log_of(journey, journey.of(SubagentStarted)[0].child)))
    again = await run_replay(recording, Assembly(journey.home, Settings(), {}), strict=True)
    assert again.differences == ()
    assert again.same


async def test_an_interrupt_of_the_parent_ends_every_child(journey: Journey):
    slow = Turn(text="never said", delay=60)
    client = client_of(journey, (asks("one", "two"), DONE), (slow,), (slow,))

    def stop(event: ev.Event) -> cmd.AnyCommand | None:
        working = isinstance(event, SubagentProgressed)
        return cmd.Interrupt(task=journey.task) if working else None

    await journey.run(client=client, answer=stop)
    assert [one.end for one in journey.of(SubagentEnded)] == [LaneEnd.STOPPED] * 2
    assert journey.ends[0][1] == "cancelled"
    for began in journey.of(SubagentStarted):
        last = log_of(journey, began.child)[-1]
        assert isinstance(last, ev.TurnEnded)
        assert last.reason == "cancelled"


async def test_one_lane_is_stopped_and_the_others_go_on(journey: Journey):
    client = client_of(journey, (asks("one", "two"), DONE), (Turn(delay=60),), (reports("found", delay=0.2),))

    def stop(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, SubagentProgressed) and event.child == began(journey, "one").child:
            return cmd.Interrupt(task=event.child)
        return None

    await journey.run(client=client, answer=stop)
    ends = {one.name: one.end for one in journey.of(SubagentEnded)}
    assert ends == {"one": LaneEnd.STOPPED, "two": LaneEnd.DONE}
    assert "Stopped before it was done" in journey.results[0]
    assert "found" in journey.results[0]


def began(journey: Journey, name: str) -> SubagentStarted:
    return next(one for one in journey.of(SubagentStarted) if one.name == name)


async def test_a_child_is_steered_while_it_runs(journey: Journey):
    looks = Turn(calls=(Call("list_files", {"path": "."}),), delay=0.2)
    client = client_of(journey, (asks("one"), DONE), (looks, reports("both", expect="and BETA")))

    def steer(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, SubagentStarted):
            return cmd.Steer(task=event.child, content=(Text("and BETA"),))
        return None

    await journey.run(client=client, answer=steer)
    assert "both" in journey.results[0]


async def test_a_child_near_its_limit_is_told_to_report(journey: Journey):
    looks = Turn(calls=(Call("list_files", {"path": "."}),))
    last = reports("so far", expect="almost out of time")
    await journey.run(client=client_of(journey, (asks("one"), DONE), (looks, looks, last), subagent_steps=4))
    assert journey.of(SubagentEnded)[0].end is LaneEnd.DONE


async def test_a_child_whose_time_is_up_says_what_it_said_last(journey: Journey):
    looks = Turn(text="ALPHA is 1, I think.", calls=(Call("list_files", {"path": "."}),))
    client = client_of(journey, (asks("one"), DONE), (looks, Turn(delay=60)), subagent_seconds=0.5)
    await journey.run(client=client)
    (ended,) = journey.of(SubagentEnded)
    assert ended.end is LaneEnd.LIMIT
    assert "ALPHA is 1, I think." in journey.results[0]
    assert "time limit" in journey.results[0]


async def test_what_asks_before_it_reads_asks_before_sub_agents(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")
    looks = Turn(calls=(Call("read_file", {"path": "a.py"}),))
    asked: list[ev.ApprovalRequested] = []

    def allow(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, ev.ApprovalRequested):
            asked.append(event)
            return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    client = client_of(
        journey,
        (asks("one", "two"), DONE),
        (looks, reports("a")),
        (reports("b"),),
        auto_approve=AutoApprove(read=False),
    )
    options = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
    await journey.run(client=client, answer=allow, options=options)
    ends = [one for one in log_of(journey, began(journey, "one").child) if isinstance(one, ev.ToolCallEnded)]
    assert "ALPHA" in ends[0].result.text
    assert [(one.title, "one: one" in one.detail) for one in asked] == [("Ask 2 sub-agents: one, two", True)]
    assert journey.ends[0][1] == "completed"


async def test_an_agent_has_the_tools_and_the_words_of_its_file(journey: Journey):
    describe(journey, "lister", "tools: LS, Edit", place=".claude/agents")
    client = client_of(journey, (asks("one", agent="lister"), DONE), (reports("a"),))
    await journey.run(client=client)
    started, offered = log_of(journey, journey.of(SubagentStarted)[0].child)[:2]
    assert isinstance(started, ev.TaskStarted)
    assert isinstance(offered, ev.ToolsOffered)
    assert started.system_prompt.startswith("You know all about lister.")
    assert "attempt_completion" in started.system_prompt
    assert str(journey.workspace) in started.system_prompt
    assert offered.tools == ("attempt_completion", "list_files")
    assert "not available to sub-agents: Edit" in journey.results[0]
    parents = next(event for event in journey.logged if isinstance(event, ev.ToolsOffered))
    assert [agent.name for agent in parents.agents] == ["lister"]


async def test_a_projects_agent_does_not_choose_another_provider(journey: Journey):
    describe(journey, "far", "model: elsewhere/big")
    client = client_of(journey, (asks("one", agent="far"), DONE), (reports("a"),))
    await journey.run(client=client)
    (started,) = journey.of(SubagentStarted)
    assert started.model == "scripted/parent"
    assert "may not switch to elsewhere" in started.remarks[0]


async def test_an_agent_that_nobody_described_is_named(journey: Journey):
    describe(journey, "near")
    await journey.run(client=client_of(journey, (asks("one", agent="far"), DONE)))
    assert journey.ends[0][1] == "failed"
    assert "'far'" in journey.results[0]
    assert "near" in journey.results[0]
    assert not journey.of(SubagentStarted)


@pytest.mark.parametrize(
    ("setting", "described", "offered"), [("auto", False, False), ("auto", True, True), ("off", True, False)]
)
async def test_sub_agents_are_offered_where_they_are_wanted(journey: Journey, setting, described, offered):
    if described:
        describe(journey, "near")
    await journey.run(client=client_of(journey, (DONE,), subagents=setting))
    assert ("use_subagents" in journey.state.prompt.tools) is offered


async def test_what_the_person_refused_in_the_parent_is_refused_to_its_children(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")

    def answer(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, ev.ApprovalRequested):
            never = event.name == "read_file"
            choice = Choice.REJECT_ALWAYS if never else Choice.ALLOW_ONCE
            return cmd.ResolveApproval(task=journey.task, request=event.request, decision=choice)
        return None

    outside = str(journey.workspace.parent / "other.txt")
    reads = Turn(calls=(Call("read_file", {"path": outside}),))
    client = client_of(journey, (reads, asks("one"), DONE), (reads, reports("a")))
    await journey.run(client=client, answer=answer, options=TaskOptions(attended=True))
    ends = [one for one in log_of(journey, began(journey, "one").child) if isinstance(one, ev.ToolCallEnded)]
    assert "denied for the rest of the task" in ends[0].result.text
    (end,) = journey.of(SubagentEnded)
    assert end.refused == (f"{outside}: blocked: denied for the rest of the task",)


async def test_children_of_a_process_that_died_are_closed_with_their_parent(journey: Journey, tmp_path):
    dear = {"usage": Usage(input=100, output=10), "cost": 0.25}
    looks = Turn(text="I look.", calls=(Call("list_files", {"path": "."}),), **dear)
    await journey.run(client=client_of(journey, (asks("one"), DONE), (looks, reports("a"))))
    child = journey.of(SubagentStarted)[0].child
    dead_after(journey, SubagentStarted, tmp_path / "dead")
    log = journey.home.log(child)
    lines = log.read_bytes().splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if b'"tool_call_started"' in line)
    log.write_bytes(b"".join(lines[: cut + 1]))
    await journey.run(client=client_of(journey, (asks("one"), DONE)), resume=journey.task, prompt="and now?")
    (ended,) = [event for event in journey.logged if isinstance(event, SubagentEnded)]
    assert (ended.end, ended.problem, ended.cost) == (LaneEnd.STOPPED, "The process ended.", pytest.approx(0.25))
    assert [type(event) for event in log_of(journey, child)][-2:] == [ev.ToolCallEnded, ev.TurnEnded]
    cut_short = next(event for event in journey.logged if isinstance(event, ev.ToolCallEnded))
    assert cut_short.status is CallStatus.CANCELLED
    told = [part.text for part in cut_short.result.content if isinstance(part, Note)]
    assert told == ["Sub-agents only read. Their results so far:\n- one: I look."]
    assert journey.state.budget.cost == pytest.approx(0.25)


async def test_a_hook_that_blocks_a_call_blocks_it_in_a_child(journey: Journey):
    hook = journey.write(
        ".halocline/hooks/PreToolUse", '#!/bin/sh\necho \'{"cancel": true, "errorMessage": "not here"}\'\n'
    )
    hook.chmod(0o755)
    looks = Turn(calls=(Call("list_files", {"path": "."}),))
    client = client_of(journey, (asks("one"), DONE), (looks, reports("a")))
    await journey.run(client=client, options=TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True))
    assert "not here" in journey.results[0]


async def test_a_rule_of_the_person_is_about_one_agent(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")
    describe(journey, "near")
    rule = '[[rule]]\ndecision = "deny"\nkinds = ["read"]\npaths = ["a.py"]\nagent = "near"\n'
    (journey.home.root / "policy.toml").write_text(rule)
    looks = Turn(calls=(Call("read_file", {"path": "a.py"}),))
    client = client_of(
        journey,
        (
            Turn(calls=(Call("use_subagents", {"agents": [{"prompt": "one", "agent": "near"}, {"prompt": "two"}]}),)),
            DONE,
        ),
        (looks, reports("a")),
        (looks, reports("b")),
    )
    await journey.run(client=client)
    ends = [
        next(event for event in log_of(journey, began(journey, name).child) if isinstance(event, ev.ToolCallEnded))
        for name in ("near", "two")
    ]
    assert [end.status.value for end in ends] == ["rejected", "completed"]


async def test_a_person_who_comes_in_the_middle_sees_what_each_lane_does(journey: Journey):
    client = client_of(journey, (asks("one"), DONE), (Turn(delay=60),))
    seen: list[SubagentProgressed] = []

    async def look() -> None:
        async for event in client.events(journey.task, client.state(journey.task).seq):
            if isinstance(event, SubagentProgressed):
                seen.append(event)
                client.send(cmd.Interrupt(task=event.child))
                return

    looking: list[asyncio.Task[None]] = []

    def come(event: ev.Event) -> None:
        if isinstance(event, SubagentProgressed) and not looking:
            looking.append(asyncio.create_task(look()))

    await journey.run(client=client, answer=come)
    await asyncio.gather(*looking)
    assert [(event.doing, event.steps) for event in seen] == [("thinking", 1)]


async def test_a_fork_of_a_child_only_reads_as_well_and_is_in_the_lists(journey: Journey):
    await journey.run(client=client_of(journey, (asks("one"), DONE), (reports("a"),)))
    child = journey.of(SubagentStarted)[0].child
    tries = Turn(calls=(Call("execute_command", {"command": "touch b"}),))
    client = client_of(journey, (Turn(), tries, DONE))
    try:
        fork = await client.time.fork(Fork("261122-120000-fork", child))
        assert fork in [info.task for info in client.tasks.search()]
    finally:
        await client.close()
    journey.task = fork
    await journey.run(client=client_of(journey, (Turn(), tries, DONE)), resume=fork, prompt="and b?")
    assert journey.ends[-1][1] == "rejected"


async def test_an_agent_begins_with_the_skills_of_its_file(journey: Journey):
    journey.write(
        ".halocline/skills/style/SKILL.md", "---\nname: style\ndescription: how we write\n---\nShort lines.\n"
    )
    describe(journey, "near", "skills: style, lost")
    await journey.run(client=client_of(journey, (asks("one", agent="near"), DONE), (reports("a"),)))
    (lane,) = journey.of(SubagentStarted)
    started, offered = log_of(journey, lane.child)[:2]
    assert isinstance(started, ev.TaskStarted)
    assert isinstance(offered, ev.ToolsOffered)
    assert "Short lines." in started.system_prompt
    assert "use_skill" not in offered.tools
    assert lane.remarks == ("it ran without these skills, which are missing here: lost",)


async def test_closing_everything_in_the_middle_ends_parent_and_children(journey: Journey):
    client = client_of(journey, (asks("one", "two"), DONE), (Turn(delay=60),), (Turn(delay=60),))
    await journey.open(client)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    async with asyncio.timeout(10):
        async for event in client.events(journey.task):
            if isinstance(event, SubagentProgressed):
                break
        await client.close()
    children = [info.task for info in client_of(journey).tasks.search(TaskQuery(parent=journey.task))]
    for task in (journey.task, *children):
        (end,) = [event for event in log_of(journey, task) if isinstance(event, ev.TurnEnded)]
        assert end.reason == "cancelled"
    assert len([event for event in journey.logged if isinstance(event, SubagentEnded)]) == len(children) == 2


async def test_a_person_asks_for_sub_agents_by_a_word(journey: Journey):
    journey.settings = Settings(language_servers=NO_SERVERS)
    client = Client(Controller(Scripts(journey.home, journey.settings, (asks("one"), DONE), (reports("a"),))), "test")
    await journey.run(client=client, prompt="/subagents where is ALPHA?")
    assert "## 1. one" in journey.results[0]


async def test_a_rule_that_asks_about_some_files_is_not_lifted_by_leave_to_read_the_rest(journey: Journey):
    for name in ("a.py", "private/b.py"):
        journey.write(name, "ALPHA = 1\n")
    rule = '[[rule]]\ndecision = "ask"\nkinds = ["read"]\npaths = ["private/**"]\n'
    (journey.home.root / "policy.toml").write_text(rule)

    def allow(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    looks = Turn(calls=tuple(Call("read_file", {"path": path}) for path in ("a.py", "private/b.py")))
    client = client_of(journey, (asks("one"), DONE), (looks, reports("a")), auto_approve=AutoApprove(read=False))
    await journey.run(client=client, answer=allow, options=TaskOptions(attended=True))
    child = log_of(journey, began(journey, "one").child)
    ends = {event.call: event.status.value for event in child if isinstance(event, ev.ToolCallEnded)}
    assert (ends["call_1_1"], ends["call_1_2"]) == ("completed", "rejected")
