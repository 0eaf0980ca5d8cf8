import asyncio

import pytest
from tests.checkpoints.bench import git

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import TaskBusy, UsageError
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Text, UserMessage
from halocline.protocol.state.reducer import fold_events
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.history.forks import ELSEWHERE, Fork
from halocline.surfaces.export.task import Form, export_task


def turn(text, *calls):
    return Turn(text=text, calls=calls)


def write(path, content):
    return Call("write_to_file", {"path": path, "content": content})


def shell(command):
    return Call("execute_command", {"command": command, "requires_approval": False})


FIRST = (turn("writing", write("a.txt", "one\n"), write("b.txt", "one\n")), turn("done"))
SECOND = (turn("again", write("a.txt", "two\n")), turn("done again"))


def words(messages):
    return [part.text for message in messages for part in message.content if isinstance(part, Text)]


def typed(messages):
    return words([message for message in messages if isinstance(message, UserMessage)])


async def until(client, journey, kind, after=0):
    async with asyncio.timeout(journey.longest):
        async for event in client.events(journey.task, after):
            if isinstance(event, kind):
                return event
    raise AssertionError("the task was closed before")


async def two_turns(journey, *more):
    client = journey.client([*FIRST, *SECOND, *more])
    await journey.open(client)
    await journey.prompt(client, "first")
    await journey.prompt(client, "second")
    return client


def prompts(journey):
    return [event.seq for event in journey.logged if isinstance(event, ev.TurnStarted)]


async def test_the_conversation_goes_back_and_the_files_stay(journey):
    client = await two_turns(journey)
    to = prompts(journey)[1] - 1
    await client.time.go_back(cmd.GoBack(task=journey.task, to=to, files=False))
    state = client.state(journey.task)
    assert state.messages == fold_events(journey.logged[:to]).messages
    assert state.budget.steps == 4
    assert (journey.workspace / "a.txt").read_text() == "two\n"
    await journey.prompt(client, "another second")
    assert typed(client.state(journey.task).messages) == ["first", "another second"]
    assert words(client.state(journey.task).messages)[-1] == "done again"
    await client.close()


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_going_back_to_act_mode_keeps_the_plan_mode_of_now(journey, is_open):
    client = await two_turns(journey, turn("a plan"))
    to = prompts(journey)[1] - 1
    client.send(cmd.SetMode(task=journey.task, mode=Mode.PLAN))
    await journey.prompt(client, "planned")
    if not is_open:
        await client.close()
    await client.time.go_back(cmd.GoBack(task=journey.task, to=to, files=False))
    assert fold_events(journey.logged).plan.mode is Mode.PLAN
    if is_open:
        client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
        assert client.state(journey.task).plan.mode is Mode.ACT
        await client.close()


async def test_files_and_conversation_go_back_together_and_a_person_can_take_it_back(journey):
    client = await two_turns(journey)
    to = prompts(journey)[1] - 1
    restored = await client.time.go_back(cmd.GoBack(task=journey.task, to=to))
    assert (journey.workspace / "a.txt").read_text() == "one\n"
    assert words(client.state(journey.task).messages)[-1] == "done"
    await client.time.restore(journey.workspace, restored.undo, conversation=True)
    assert (journey.workspace / "a.txt").read_text() == "two\n"
    assert words(client.state(journey.task).messages)[-1] == "done again"
    await client.close()


async def test_a_model_that_is_not_taken_back_is_told_which_files_were(journey):
    client = await two_turns(journey)
    await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[1] - 1, conversation=False))
    last = client.state(journey.task).messages[-1]
    assert isinstance(last, UserMessage)
    assert "The user took changes back" in last.content[0].text
    assert "a.txt" in last.content[0].text
    await client.close()


@pytest.mark.parametrize("files", [False, True])
async def test_an_earlier_message_is_said_anew_and_the_task_goes_on_from_there(journey, files):
    client = await two_turns(journey)
    seq = prompts(journey)[1]
    client.send(cmd.EditMessage(task=journey.task, seq=seq, content=(Text("other words"),), files=files))
    await until(client, journey, ev.TurnEnded, after=journey.state.seq)
    assert typed(client.state(journey.task).messages) == ["first", "other words"]
    assert words(client.state(journey.task).messages)[-1] == "done again"
    restored = [event.changed for event in journey.logged if isinstance(event, ev.CheckpointRestored)]
    assert restored == ([("a.txt",)] if files else [])
    await client.close()


async def test_a_turn_that_runs_is_interrupted_before_the_task_goes_back(journey):
    client = journey.client([*FIRST, turn("slow", shell("sleep 60"))])
    await journey.open(client)
    await journey.prompt(client, "first")
    to = journey.state.seq
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("second"),)))
    await until(client, journey, ev.ToolCallStarted, after=to)
    client.send(cmd.GoBack(task=journey.task, to=to, files=False))
    await until(client, journey, ev.ConversationRestored)
    assert client.state(journey.task).messages == fold_events(journey.logged[:to]).messages
    await client.close()


async def test_what_cannot_be_gone_back_to_is_said_and_the_task_goes_on(journey):
    client = await two_turns(journey, turn("third"))
    hearing = asyncio.create_task(until(client, journey, ev.Noticed))
    await asyncio.sleep(0)  # what is only shown is heard by those who listen
    client.send(cmd.EditMessage(task=journey.task, seq=1, content=(Text("x"),)))
    said = await hearing
    assert "Event 1 is not a prompt" in said.text
    with pytest.raises(UsageError, match="no event 999"):
        client.time.at(journey.task, 999)
    await journey.prompt(client, "third")
    assert words(client.state(journey.task).messages)[-1] == "third"
    await client.close()


async def test_a_task_that_nobody_has_open_goes_back_too(journey):
    client = await two_turns(journey)
    await client.close()
    client = journey.client([*FIRST, *SECOND])
    to = prompts(journey)[1] - 1
    await client.time.go_back(cmd.GoBack(task=journey.task, to=to))
    assert (journey.workspace / "a.txt").read_text() == "one\n"
    await journey.run(client=client, resume=journey.task, prompt="another")
    assert typed(journey.state.messages) == ["first", "another"]
    assert (journey.workspace / "a.txt").read_text() == "two\n"


async def test_a_task_that_another_process_has_open_is_left_alone(journey):
    client, other = await two_turns(journey), journey.client([])
    before = journey.logged
    with pytest.raises(TaskBusy):
        await other.time.go_back(cmd.GoBack(task=journey.task, to=before[-1].seq))
    assert journey.logged == before
    await client.close()


async def test_a_moment_shows_what_was_known_then(journey):
    client = await two_turns(journey)
    to = prompts(journey)[1] - 1
    then = client.time.at(journey.task, to)
    assert (then.state.budget.steps, then.files) == (2, ("a.txt", "b.txt"))
    assert [event.seq for event in then.events] == list(range(1, to + 1))
    difference = await client.time.compare(journey.workspace, f"{journey.task}@{to}")
    assert [(file.path, file.added, file.removed) for file in difference.files] == [("a.txt", 1, 1)]
    assert client.time.since(journey.task, completion=True) == f"{journey.task}@{to}"
    whole = await client.time.compare(journey.workspace, client.time.since(journey.task, completion=False))
    assert [(file.path, file.kind) for file in whole.files] == [("a.txt", "added"), ("b.txt", "added")]
    await client.close()


async def test_a_moment_after_an_edit_has_its_file_even_when_the_checkpoint_was_ready_later(journey):
    client = await two_turns(journey)
    wrote = [event.seq for event in journey.logged if isinstance(event, ev.ToolCallEnded)]
    await client.time.fork(Fork("", journey.task, wrote[0]), journey.workspace.parent / "one")
    await client.time.fork(Fork("", journey.task, wrote[1]), journey.workspace.parent / "two")
    await client.close()
    assert sorted(path.name for path in (journey.workspace.parent / "one").iterdir()) == ["a.txt"]
    assert sorted(path.name for path in (journey.workspace.parent / "two").iterdir()) == ["a.txt", "b.txt"]


async def test_a_fork_in_a_worktree_has_the_files_and_the_projects_branches(journey):
    git(journey.workspace, "init", "-q")
    git(journey.workspace, "commit", "-q", "--allow-empty", "-m", "first")
    client = await two_turns(journey)
    place = journey.workspace.parent / "tree"
    await client.time.fork(Fork("", journey.task), place, worktree=True)
    await client.close()
    assert (place / "a.txt").read_text() == "two\n"
    assert git(place, "log", "--format=%s").strip() == "first"
    assert git(place, "status", "--short").split() == ["??", "a.txt", "??", "b.txt"]


async def test_a_fork_goes_on_from_its_moment_and_the_other_task_as_it_was(journey):
    client = await two_turns(journey)
    source, to = journey.task, prompts(journey)[1] - 1
    await client.close()
    name = await journey.client([]).time.fork(Fork("", source, to))
    await journey.run(*FIRST, turn("forked"), resume=name, prompt="elsewhere")
    assert typed(journey.state.messages) == ["first", "elsewhere"]
    assert words(journey.state.messages)[-1] == "forked"
    first = journey.logged[0]
    assert (first.forked_from, first.forked_at, first.task) == (source, to, name)
    journey.task = source
    assert isinstance(journey.logged[-1], ev.TaskForked)
    assert journey.logged[-1].to == name


async def test_a_fork_at_any_event_can_be_resumed_and_replayed(journey):
    await journey.run(turn("go", write("a.txt", "one\n"), shell("sleep 30 > /dev/null & echo x")), turn("done"))
    source, events = journey.task, journey.logged
    for seq in range(1, len(events) + 1):
        client = journey.client([turn("forked")] * 4)
        name = await client.time.fork(Fork("", source, seq))
        await journey.run(client=client, resume=name, prompt="on")
        assert words(journey.state.messages)[-1] == "forked"
        assert (await journey.replay()).differences == (), seq
    stopped = [event.stopped for event in journey.logged if isinstance(event, ev.JobEnded)]
    assert stopped.count(ELSEWHERE) <= 1
    journey.task = source


async def test_a_fork_can_have_files_of_its_own_and_another_model(journey, tmp_path):
    client = await two_turns(journey)
    source, to = journey.task, prompts(journey)[1] - 1
    place = tmp_path / "elsewhere"
    name = await client.time.fork(Fork("", source, to, model="scripted/other"), place)
    await client.close()
    assert {path.name: path.read_text() for path in place.iterdir()} == {"a.txt": "one\n", "b.txt": "one\n"}
    journey.task = name
    state = fold_events(journey.logged)
    assert (state.workspace, state.model.name) == (str(place), "scripted/other")
    assert str(journey.workspace) not in state.prompt.system
    assert str(place) in state.messages[-1].content[0].text


async def test_a_fork_in_the_same_folder_puts_files_back_to_before_it(journey):
    client = await two_turns(journey)
    source, to = journey.task, prompts(journey)[1] - 1
    await client.close()
    client = journey.client([*FIRST, *SECOND, turn("three", write("b.txt", "three\n")), turn("done")])
    name = await client.time.fork(Fork("", source))
    await journey.run(client=client, resume=name, prompt="on")
    client = journey.client([])
    await client.time.go_back(cmd.GoBack(task=name, to=to))
    texts = {path.name: path.read_text() for path in journey.workspace.iterdir()}
    assert texts == {"a.txt": "one\n", "b.txt": "one\n"}


async def test_a_fork_whose_name_is_taken_or_leads_elsewhere_is_refused(journey):
    client = await two_turns(journey)
    before = client.past(journey.task)
    for name in (journey.task, "../../x", "..", "-x", "a/b", "x\0"):
        with pytest.raises(UsageError):
            await client.time.fork(Fork(name, journey.task))
    assert client.past(journey.task) == before
    await client.close()


@pytest.mark.parametrize("saved", [True, False])
async def test_the_summary_of_an_export_says_what_stands_after_a_rewind_and_after_its_undo(journey, saved):
    client = journey.client([*FIRST, *SECOND], checkpoints=saved)
    await journey.open(client)
    await journey.prompt(client, "first")
    await journey.prompt(client, "second")

    def export():
        page = export_task(journey.logged, Form.HTML, str)
        return page[page.index("<nav") : page.index("</nav>")]

    assert ("Changed" in export(), "Undone" in export(), "Proved" in export()) == (True, False, True)
    await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[0] - 1, conversation=False))
    assert ("Changed" in export(), "Undone" in export(), "Proved" in export()) == (False, True, False)
    [back] = [event.undo for event in journey.logged if isinstance(event, ev.CheckpointRestored)]
    await client.time.restore(journey.workspace, back)
    assert ("Changed" in export(), "Undone" in export()) == (True, False)
    await client.close()
