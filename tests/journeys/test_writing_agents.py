"""Agents that write: real git, a worktree each, a review and a merge; the background, messages, approvals."""

import asyncio
import shutil
import subprocess

import pytest
from tests.journeys.conftest import Journey
from tests.journeys.deaths import dead_after
from tests.journeys.test_subagents import client_of, log_of, reports

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events.subagents import AgentMessaged, AgentsReported, LaneEnd, SubagentEnded, SubagentStarted
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Mode
from halocline.protocol.messages import Note, Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.surfaces.slash.modes import AGENTS_STAY, describe_mode

pytestmark = pytest.mark.process
LINES = "".join(f"line {number}\n" for number in range(1, 10))
DONE = Turn(text="All is done.")


def git(journey: Journey, *words: str) -> str:
    ran = subprocess.run(("git", *words), cwd=journey.workspace, capture_output=True, text=True, check=True)
    return ran.stdout


def make_repository(journey: Journey) -> None:
    journey.write("a.txt", LINES)
    journey.write("b.txt", LINES)
    git(journey, "init", "-q", "-b", "main")
    git(journey, "config", "user.email", "a@example.com")
    git(journey, "config", "user.name", "A")
    git(journey, "add", ".")
    git(journey, "commit", "-qm", "first")


@pytest.fixture
def repository(journey: Journey) -> Journey:
    make_repository(journey)
    return journey


def spawns(name: str, prompt: str = "do it", **more) -> Call:
    return Call("spawn_agent", {"name": name, "prompt": prompt, **more})


def edits(path: str, old: str, new: str) -> Turn:
    return Turn(calls=(Call("replace_in_file", {"path": path, "old_text": old, "new_text": new}),))


def takes(agent: str, *paths: str, **more) -> Call:
    return Call("merge_agent_changes", {"agent": agent, "paths": list(paths), **more})


async def test_an_agent_writes_in_its_worktree_and_its_changes_are_reviewed_and_taken(repository: Journey):
    journey = repository
    journey.write("b.txt", LINES.replace("line 9", "mine"))
    begins = Turn(calls=(spawns("alpha", writes=True),))
    merges = Turn(calls=(takes("alpha", "a.txt", "new.py"),), expect=("+line one", "new.py", "no command ran"))
    child = (
        edits("a.txt", "line 1\n", "line one\n"),
        Turn(calls=(Call("write_to_file", {"path": "new.py", "content": "new = 1\n"}),)),
        reports("I did it"),
    )
    await journey.run(client=client_of(journey, (begins, merges, DONE), child))
    result = journey.results[0]
    assert "I did it" in result
    assert "paths [a.txt, new.py]" in result
    assert (journey.workspace / "a.txt").read_text() == LINES.replace("line 1\n", "line one\n")
    assert (journey.workspace / "new.py").read_text() == "new = 1\n"
    assert "mine" in (journey.workspace / "b.txt").read_text()
    (ended,) = journey.of(SubagentEnded)
    assert "It changed 2 files" in ended.review
    assert {change.path for change in journey.of(ev.FileChanged)} == {"a.txt", "new.py"}
    assert "worktree-alpha-" in git(journey, "branch", "--list", "worktree-*")
    worktrees = client_of(journey, ()).worktrees_in(journey.workspace)
    (work,) = await worktrees.list()
    assert worktrees.find_tasks(work) == {ended.child: False}


async def test_several_agents_on_the_same_lines_lose_neither_each_others_nor_the_persons_work(repository: Journey):
    journey = repository
    journey.write("a.txt", LINES.replace("line 9\n", "the person's\n"))
    begins = Turn(calls=tuple(spawns(name, writes=True) for name in ("one", "two", "three")))
    merges = Turn(calls=tuple(takes(name, "a.txt") for name in ("one", "two", "three")))
    children = [
        (edits("a.txt", f"line {line}\n", f"by {name}\n"), reports(name))
        for name, line in (("one", 1), ("two", 5), ("three", 1))
    ]
    await journey.run(client=client_of(journey, (begins, merges, DONE), *children))
    text = (journey.workspace / "a.txt").read_text()
    assert ("by one" in text) != ("by three" in text)
    assert "by two" in text
    assert "the person's" in text
    conflict = "".join(journey.results[-3:])
    assert "CONFLICT: a.txt" in conflict
    assert "by one" in conflict
    assert "by three" in conflict
    assert git(journey, "fsck", "--strict") == ""
    assert git(journey, "stash", "list") == ""


async def test_a_worktree_is_not_discarded_under_the_agent_that_works_in_it(repository: Journey):
    journey = repository
    begins = Turn(calls=(spawns("alpha", writes=True),))
    waits = Turn(calls=(Call("execute_command", {"command": "touch began; sleep 60", "requires_approval": False}),))
    client = client_of(journey, (begins, DONE), (waits,))
    await journey.open(client)
    worktrees = client.worktrees_in(journey.workspace)
    try:
        client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
        async with asyncio.timeout(journey.longest):
            while not [*journey.workspace.parent.glob("*-worktrees/alpha-*/began")]:
                await asyncio.sleep(0.05)
        (work,) = await worktrees.list()
        with pytest.raises(HaloclineError, match="is open in the worktree"):
            await worktrees.discard(work.worktree.name, force=True)
        assert work.worktree.folder.exists()
    finally:
        await client.close()


async def test_an_overlap_in_a_file_with_crlf_is_a_conflict_with_its_lines(repository: Journey):
    journey = repository
    journey.write("dos.txt", "a\r\nb\r\nz\r\n")
    git(journey, "add", ".")
    git(journey, "commit", "-qm", "second")
    journey.write("dos.txt", "a\r\nmine\r\nz\r\n")
    begins = Turn(calls=(spawns("alpha", writes=True),))
    child = (edits("dos.txt", "b\n", "by the agent\n"), reports("I did it"))
    await journey.run(client=client_of(journey, (begins, Turn(calls=(takes("alpha", "dos.txt"),)), DONE), child))
    assert "1. line 2:\n<<< now\nmine\r\n>>>\n<<< agent\nby the agent\r\n>>>" in journey.results[1]
    assert (journey.workspace / "dos.txt").read_bytes() == b"a\r\nmine\r\nz\r\n"


async def test_binary_files_and_those_in_utf_16_are_taken_and_merged(repository: Journey):
    journey = repository
    wide = LINES.encode("utf-16")
    for name, data in (("logo.bin", b"\0old"), ("gone.bin", b"\0gone"), ("both.bin", b"\0old"), ("wide.txt", wide)):
        (journey.workspace / name).write_bytes(data)
    git(journey, "add", ".")
    git(journey, "commit", "-qm", "second")
    (journey.workspace / "both.bin").write_bytes(b"\0mine")
    (journey.workspace / "wide.txt").write_bytes(LINES.replace("line 9", "mine").encode("utf-16"))
    files = ("logo.bin", "new.bin", "both.bin", "wide.txt")
    makes = "printf '\\0new' | tee logo.bin new.bin > both.bin; rm gone.bin"
    child = (
        Turn(calls=(Call("execute_command", {"command": makes}),)),
        edits("wide.txt", "line 1\n", "one\n"),
        reports("I did it"),
    )
    merges = Turn(calls=(takes("alpha", *files, deleted=["gone.bin"]),), expect="Binary file logo.bin")
    await journey.run(client=client_of(journey, (Turn(calls=(spawns("alpha", writes=True),)), merges, DONE), child))
    found = {name: (journey.workspace / name).read_bytes() for name in files}
    merged = LINES.replace("line 1\n", "one\n").replace("line 9", "mine").encode("utf-16")
    assert found == {"logo.bin": b"\0new", "new.bin": b"\0new", "both.bin": b"\0mine", "wide.txt": merged}
    assert not (journey.workspace / "gone.bin").exists()
    assert "CONFLICT: both.bin" in journey.results[1]


async def test_what_was_taken_of_an_agent_is_where_its_next_merge_starts_and_counts_as_merged(repository: Journey):
    journey = repository
    first_run = (edits("a.txt", "line 1\n", "one\n"), reports("first done"))
    second_run = (edits("a.txt", "one\n", "two\n"), reports("second done", expect="first"))
    begins, again = (Turn(calls=(spawns("alpha", text, writes=True),)) for text in ("first", "second"))
    takes_it = Turn(calls=(takes("alpha", "a.txt"),))
    journey.write("a.txt", LINES.replace("line 9", "mine"))
    client = client_of(journey, (begins, takes_it, again, takes_it, DONE), first_run, (*first_run, *second_run))
    await journey.run(client=client)
    assert (journey.workspace / "a.txt").read_text() == LINES.replace("line 1", "two").replace("line 9", "mine")
    worktrees = client.worktrees_in(journey.workspace)
    (work,) = await worktrees.list()
    assert work.is_merged
    with pytest.raises(HaloclineError, match="A task took the changes"):
        await worktrees.undo(work.worktree.name)


async def test_a_worktree_stays_in_which_only_hidden_files_were_changed(repository: Journey):
    journey = repository
    journey.write(".haloclineignore", "*.hidden\n")
    begins = Turn(calls=(spawns("alpha", writes=True),))
    makes = Turn(calls=(Call("execute_command", {"command": "echo work > x.hidden", "requires_approval": False}),))
    await journey.run(client=client_of(journey, (begins, DONE), (makes, reports("I did it"))))
    (ended,) = journey.of(SubagentEnded)
    assert "only files that are hidden here" in ended.review
    assert "x.hidden" not in ended.review
    (left,) = journey.workspace.with_name(f"{journey.workspace.name}-worktrees").glob("alpha-*/x.hidden")
    assert left.read_text() == "work\n"


async def test_an_agent_of_the_same_name_goes_on_in_the_same_log_and_worktree(repository: Journey):
    journey = repository
    begins, again = (Turn(calls=(spawns("alpha", text, writes=True),)) for text in ("first", "second"))
    first_run = (edits("a.txt", "line 1\n", "one\n"), reports("first done"))
    second_run = (edits("b.txt", "line 1\n", "one\n"), reports("second done"))
    client = client_of(journey, (begins, again, DONE), first_run, (*first_run, *second_run))
    await journey.run(client=client)
    first, second = journey.of(SubagentStarted)
    assert (first.child, first.worktree) == (second.child, second.worktree)
    assert len([event for event in log_of(journey, first.child) if isinstance(event, ev.TurnStarted)]) == 2
    one, two = journey.of(SubagentEnded)
    assert "It changed 2 files" in two.review
    assert (one.steps, two.steps) == (2, 2)
    assert journey.state.budget.usage == one.usage + two.usage + sum_of_own(journey)


def sum_of_own(journey: Journey):
    total = None
    for event in journey.of(ev.UsageReported):
        total = event.usage if total is None else total + event.usage
    return total


async def test_what_an_agent_asks_is_asked_in_its_parent_with_its_name(repository: Journey):
    journey = repository
    asked: list[ev.ApprovalRequested] = []
    waiting: list[list[str]] = []

    def answer(event: ev.Event) -> cmd.AnyCommand | None:
        if not isinstance(event, ev.ApprovalRequested):
            return None
        asked.append(event)
        waiting.append(client.tasks.list_waiting())
        no = event.name == "write_to_file"
        choice = Choice.REJECT_ONCE if no else Choice.ALLOW_ONCE
        return cmd.ResolveApproval(task=journey.task, request=event.request, decision=choice)

    child = (
        edits("a.txt", "line 1\n", "one\n"),
        Turn(calls=(Call("write_to_file", {"path": "new.py", "content": "new = 1\n"}),)),
        reports("I did it"),
    )
    client = client_of(journey, (Turn(calls=(spawns("alpha", writes=True),)), DONE), child)
    await journey.run(client=client, answer=answer, options=TaskOptions(approval_mode=ApprovalMode.ASK, attended=True))
    assert [(one.agent, one.name) for one in asked] == [
        ("", "spawn_agent"),
        ("alpha", "replace_in_file"),
        ("alpha", "write_to_file"),
    ]
    assert waiting == [[journey.task]] * 3
    assert "a git worktree of its own" in asked[0].detail
    assert "+one" in asked[1].diffs[0].text
    (began,) = journey.of(SubagentStarted)
    ends = [event for event in log_of(journey, began.child) if isinstance(event, ev.ToolCallEnded)]
    assert [end.status for end in ends] == [CallStatus.COMPLETED, CallStatus.REJECTED, CallStatus.COMPLETED]
    assert not journey.state.pending.approvals
    assert journey.ends[0][1] == "completed"


async def test_the_switch_to_plan_mode_refuses_what_an_agent_waits_for_and_says_that_more_may_be_asked(
    repository: Journey,
):
    journey, said = repository, set()

    def answer(event: ev.Event) -> cmd.AnyCommand | None:
        said.add(describe_mode(client.state(journey.task)))
        if not isinstance(event, ev.ApprovalRequested):
            return None
        if event.agent:
            return cmd.SetMode(task=journey.task, mode=Mode.PLAN)
        return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)

    child = (edits("a.txt", "line 1\n", "one\n"), reports("I may not"))
    client = client_of(journey, (Turn(calls=(spawns("alpha", writes=True),)), DONE), child)
    await journey.run(client=client, answer=answer, options=TaskOptions(approval_mode=ApprovalMode.ASK, attended=True))
    (began,) = journey.of(SubagentStarted)
    ends = [event for event in log_of(journey, began.child) if isinstance(event, ev.ToolCallEnded)]
    assert [end.status for end in ends] == [CallStatus.REJECTED, CallStatus.COMPLETED]
    assert said == {"The mode is act.", "The mode is plan.", f"The mode is plan.{AGENTS_STAY}"}


async def test_a_turn_waits_for_agents_in_the_background_and_reads_of_their_end(repository: Journey):
    journey = repository
    begins = Turn(calls=(spawns("alpha", background=True),))
    last = Turn(text="Now I know.", expect=("An agent in the background ended", "found it"))
    client = client_of(journey, (begins, DONE, last), (reports("found it", delay=0.2),))
    await journey.run(client=client)
    assert "works in the background" in journey.results[0]
    assert len(journey.of(AgentsReported)) == 1
    assert journey.state.last_message.text == "Now I know."
    assert not journey.state.subagents.unreported


async def test_agents_of_a_tree_send_messages(repository: Journey):
    journey = repository
    begins = Turn(calls=(spawns("alpha", background=True), spawns("beta", background=True)))
    told = Turn(text="I know.", expect=("Message from the agent alpha", "hello above"))
    sends = Turn(
        calls=tuple(
            Call("send_message", {"to": to, "text": f"hello {where}"})
            for to, where in (("parent", "above"), ("beta", "beside"), ("gamma", "nobody"))
        ),
        delay=0.2,
    )
    looks = Turn(calls=(Call("list_files", {"path": "."}),), delay=0.6)
    client = client_of(
        journey,
        (begins, DONE, told, DONE, DONE),
        (sends, reports("sent", expect="No agent 'gamma' runs now")),
        (looks, reports("read", expect="hello beside")),
    )
    await journey.run(client=client)
    (message,) = [event for event in journey.logged if isinstance(event, AgentMessaged)]
    assert (message.sender, message.text) == ("alpha", "hello above")
    assert [one.end for one in journey.of(SubagentEnded)] == [LaneEnd.DONE] * 2


async def test_an_interrupt_ends_agents_in_the_background_and_keeps_their_work(repository: Journey):
    journey = repository
    begins = Turn(calls=(spawns("alpha", writes=True, background=True),))
    child = (edits("a.txt", "line 1\n", "one\n"), Turn(text="never said", delay=60))
    seen = []

    def stop(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, ev.SubagentProgressed) and event.steps == 2 and not seen:
            seen.append(event)
            return cmd.Interrupt(task=journey.task)
        return None

    client = client_of(journey, (begins, DONE), child)
    await journey.run(client=client, answer=stop)
    (ended,) = [event for event in journey.logged if isinstance(event, SubagentEnded)]
    assert ended.end is LaneEnd.STOPPED
    (began,) = journey.of(SubagentStarted)
    place = journey.workspace.parent / "project-worktrees" / began.worktree / "a.txt"
    assert place.read_text().startswith("one\n")


async def test_one_agent_is_stopped_and_its_parent_goes_on(repository: Journey):
    journey = repository

    def stop(event: ev.Event) -> cmd.AnyCommand | None:
        return cmd.Interrupt(task=event.child) if isinstance(event, ev.SubagentProgressed) else None

    client = client_of(journey, (Turn(calls=(spawns("alpha"),)), DONE), (Turn(delay=60),))
    await journey.run(client=client, answer=stop)
    assert "Stopped before it was done" in journey.results[0]
    assert journey.state.last_message.text == "All is done."


async def test_an_agent_gets_no_more_than_it_may(journey: Journey):
    tries = Turn(
        calls=(
            spawns("alpha", writes=True),
            spawns("beta", tools=["write_to_file"]),
            spawns("gamma", folder=".."),
            spawns("delta", tools=["read_file"]),
        )
    )
    client = client_of(journey, (tries, DONE), (reports("read"),))
    await journey.run(client=client)
    ends = dict(journey.ends)
    assert [ends[f"call_1_{number}"] for number in range(1, 5)] == ["failed", "failed", "failed", "completed"]
    assert "needs a git repository" in journey.results[0]
    assert "It cannot have write_to_file" in journey.results[1]
    (began,) = journey.of(SubagentStarted)
    offered = next(event for event in log_of(journey, began.child) if isinstance(event, ev.ToolsOffered))
    assert offered.tools == ("attempt_completion", "read_file", "send_message")


async def test_agents_start_agents_down_to_a_depth_and_up_to_a_number(journey: Journey):
    child = (Turn(calls=(spawns("below"),)), reports("asked below"))
    below = (Turn(calls=(spawns("deeper"),)), reports("that was all", expect="There is no tool 'spawn_agent'"))
    client = client_of(journey, (Turn(calls=(spawns("above"),)), DONE), child, below)
    await journey.run(client=client)
    assert "asked below" in journey.results[0]
    many = Turn(calls=tuple(spawns(f"agent {number}", background=True) for number in range(3)))
    client = client_of(journey, (many, DONE, DONE, DONE), *[(reports("x", delay=0.3),)] * 3, subagents_at_once=2)
    await journey.run(client=client)
    assert [status for _, status in journey.ends].count("failed") == 1


async def test_a_forked_agent_knows_the_conversation(journey: Journey):
    begins = Turn(text="The word is ALPHA.", calls=(spawns("fork", forked=True),))
    client = client_of(journey, (begins, DONE), (reports("ALPHA", expect=("The word is ALPHA.", "User: go")),))
    await journey.run(client=client)
    (began,) = journey.of(SubagentStarted)
    started = next(event for event in log_of(journey, began.child) if isinstance(event, ev.TurnStarted))
    assert isinstance(started.content[0], Text)
    assert any(isinstance(part, Note) and part.source == "agents" for part in started.content)


async def test_a_worktree_that_a_killed_git_left_half_made_is_made_again(repository: Journey, tmp_path):
    journey = repository
    begins = Turn(calls=(spawns("alpha", writes=True),))
    await journey.run(client=client_of(journey, (begins, DONE), (edits("a.txt", "line 1", "one"), reports("x"))))
    (began,) = journey.of(SubagentStarted)
    dead_after(journey, SubagentStarted, tmp_path / "dead")
    shutil.rmtree(journey.home.task(began.child))
    folder = journey.workspace.parent / "project-worktrees" / began.worktree
    git(journey, "worktree", "lock", "--reason", "initializing", str(folder))
    (folder / "a.txt").unlink()

    again = (Turn(), begins, DONE)
    child = (edits("b.txt", "line 1\n", "one\n"), reports("I did it"))
    await journey.run(client=client_of(journey, again, child), resume=journey.task, prompt="Go on.")
    assert (folder / "a.txt").read_text() == LINES
    assert "paths [b.txt]" in journey.results[-1]
    assert len({one.child for one in journey.logged if isinstance(one, SubagentStarted)}) == 1


async def test_a_new_worktree_of_an_agent_is_set_up_once(repository: Journey):
    journey = repository
    journey.write(".gitignore", "deps\n")
    git(journey, "add", ".")
    git(journey, "commit", "-qm", "second")
    begins, again = (Turn(calls=(spawns("alpha", text, writes=True),)) for text in ("first", "second"))
    first_run = (edits("a.txt", "line 1\n", "one\n"), reports("first done"))
    second_run = (edits("b.txt", "line 1\n", "one\n"), reports("second done"))
    setup = "echo made >> deps; echo not shown"
    scripts = ((begins, again, DONE), first_run, (*first_run, *second_run))
    await journey.run(client=client_of(journey, *scripts, worktree_setup=setup))
    (deps,) = journey.workspace.with_name(f"{journey.workspace.name}-worktrees").glob("alpha-*/deps")
    assert deps.read_text() == "made\n"
    assert not (journey.workspace / "deps").exists()


@pytest.mark.parametrize(
    ("setup", "mode", "told"),
    [
        ("echo why >&2; exit 3", ApprovalMode.YOLO, "ended with exit code 3. The end of its output:\nwhy"),
        ("touch /tmp/never", ApprovalMode.ACCEPT_EDITS, "did not run, because"),
    ],
)
async def test_a_setup_that_failed_or_may_not_run_is_told_to_the_agent(repository: Journey, setup, mode, told):
    begins = Turn(calls=(spawns("alpha", writes=True),))
    child = (Turn(calls=(Call("read_file", {"path": "a.txt"}),), expect=(told, setup)), reports("I know"))
    client = client_of(repository, (begins, DONE), child, worktree_setup=setup)

    def allow(event: ev.Event) -> cmd.AnyCommand | None:
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=repository.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    await repository.run(client=client, answer=allow, options=TaskOptions(approval_mode=mode, attended=True))
    assert "I know" in repository.results[0]


async def test_a_parent_in_plan_mode_starts_no_agent_that_writes(repository: Journey):
    journey = repository
    client = client_of(journey, (Turn(calls=(spawns("alpha", writes=True), spawns("beta"))), DONE), (reports("read"),))
    await journey.run(client=client, options=TaskOptions(mode=Mode.PLAN, approval_mode=ApprovalMode.YOLO))
    assert dict(journey.ends) == {"call_1_1": "rejected", "call_1_2": "completed"}


async def test_an_agent_follows_its_parent_into_a_stricter_mode_only(repository: Journey):
    journey = repository
    modes = iter((ApprovalMode.AUTO, ApprovalMode.YOLO))

    def change(event: ev.Event) -> cmd.AnyCommand | None:
        told = isinstance(event, ev.SubagentProgressed | ev.PolicyChanged)
        mode = next(modes, None) if told else None
        return cmd.SetPolicy(task=journey.task, approval_mode=mode) if mode else None

    client = client_of(journey, (Turn(calls=(spawns("alpha"),)), DONE), (reports("read", delay=0.3),))
    await journey.run(client=client, answer=change)
    (began,) = journey.of(SubagentStarted)
    changed = [event for event in log_of(journey, began.child) if isinstance(event, ev.PolicyChanged)]
    assert [event.approval_mode for event in changed] == [ApprovalMode.AUTO]


async def test_a_message_instead_of_an_answer_refuses_what_the_agent_asks(repository: Journey):
    journey = repository

    def answer(event: ev.Event) -> cmd.AnyCommand | None:
        if not isinstance(event, ev.ApprovalRequested):
            return None
        if event.agent:
            return cmd.Steer(task=journey.task, content=(Text("Wait!"),))
        return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)

    child = (edits("a.txt", "line 1\n", "one\n"), reports("refused", expect="sent a message to the task"))
    client = client_of(journey, (Turn(calls=(spawns("alpha", writes=True),)), DONE, DONE), child)
    await journey.run(client=client, answer=answer, options=TaskOptions(approval_mode=ApprovalMode.ASK, attended=True))
    assert "refused" in journey.results[0]
    assert [one.by for one in journey.of(ev.ApprovalResolved)] == ["user", "message"]
    assert not journey.state.pending.declined


async def test_a_deleted_file_and_one_that_was_deleted_here_are_told_apart(repository: Journey):
    journey = repository
    child = (
        Turn(calls=(Call("execute_command", {"command": "rm a.txt; echo more >> b.txt"}),)),
        reports("I did it"),
    )
    begins = Turn(calls=(spawns("alpha", writes=True),), text="")
    merges = Turn(calls=(takes("alpha", "a.txt"), takes("alpha", deleted=["a.txt"]), takes("alpha", "b.txt")))

    def delete(event: ev.Event) -> None:
        if isinstance(event, SubagentEnded):
            (journey.workspace / "b.txt").unlink()

    await journey.run(client=client_of(journey, (begins, merges, DONE), child), answer=delete)
    assert "List it in `deleted`" in journey.results[1]
    assert not (journey.workspace / "a.txt").exists()
    assert not (journey.workspace / "b.txt").exists()
    assert "deleted in the main folder" in journey.results[3]


async def test_a_worktree_in_which_nothing_changed_does_not_stay(repository: Journey):
    journey = repository
    client = client_of(journey, (Turn(calls=(spawns("alpha", writes=True),)), DONE), (reports("nothing to do"),))
    await journey.run(client=client)
    assert "[It changed no files.]" in journey.results[0]
    assert not list((journey.workspace.parent / "project-worktrees").iterdir())
    assert not git(journey, "branch", "--list", "worktree-*")


async def test_no_link_of_an_agent_brings_what_is_outside_and_no_mode_is_lost_unsaid(repository: Journey, tmp_path):
    journey = repository
    (tmp_path / "outside.txt").write_text("a secret\n")
    links = f"ln -s {tmp_path}/outside.txt link.txt; ln -s {tmp_path} folder"
    made = f"{links}; chmod +x a.txt; echo x > run.sh; chmod +x run.sh"
    child = (Turn(calls=(Call("execute_command", {"command": made}),)), reports("I did it"))
    merges = Turn(calls=(takes("alpha", "link.txt"), takes("alpha", "run.sh")))
    client = client_of(journey, (Turn(calls=(spawns("alpha", writes=True),)), merges, DONE), child)
    await journey.run(client=client)
    assert "a secret" not in "".join(journey.results)
    assert "Not taken over by that: [a.txt (its mode), folder, link.txt, run.sh (its mode)]" in journey.results[0]
    assert journey.ends[1][1] == "failed"
    assert (journey.workspace / "run.sh").read_text() == "x\n"
    assert not (journey.workspace / "link.txt").exists()
