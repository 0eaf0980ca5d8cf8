"""Without checkpoints, the edits of a task are taken back by what its log says of each."""

from contextlib import asynccontextmanager

import pytest
from tests.journeys.test_time_travel import FIRST, SECOND, prompts, shell, turn, until, write

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, UsageError


@asynccontextmanager
async def two_turns(journey, *turns):
    client = journey.client([*FIRST, *(turns or SECOND)], checkpoints=False)
    await journey.open(client)
    await journey.prompt(client, "first")
    await journey.prompt(client, "second")
    yield client
    await client.close()


async def test_files_go_back_exactly_though_nothing_was_saved(journey):
    async with two_turns(journey) as client:
        to = prompts(journey)[1] - 1
        client.send(cmd.GoBack(task=journey.task, to=to))
        await until(client, journey, ev.ConversationRestored)
        assert (journey.workspace / "a.txt").read_text() == "one\n"
        assert (journey.workspace / "b.txt").read_text() == "one\n"
        [restored] = [event for event in journey.logged if isinstance(event, ev.CheckpointRestored)]
        assert (restored.checkpoint, restored.changed) == (f"{journey.task}@{to}", ("a.txt",))


async def test_files_that_the_task_made_go_again_and_come_back_when_that_is_taken_back(journey):
    async with two_turns(journey) as client:
        await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[0] - 1, conversation=False))
        assert not (journey.workspace / "a.txt").exists()
        undone = next(event.seq for event in journey.logged if isinstance(event, ev.FileChanged) and not event.after)
        await client.time.go_back(cmd.GoBack(task=journey.task, to=undone - 1, conversation=False))
        assert (journey.workspace / "a.txt").read_text() == "two\n"
        assert (journey.workspace / "b.txt").read_text() == "one\n"


async def test_what_somebody_else_wrote_since_is_never_lost(journey):
    async with two_turns(journey) as client:
        (journey.workspace / "a.txt").write_text("mine\n")
        with pytest.raises(UsageError, match="also changed outside this task's edits"):
            await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[0] - 1))
        assert (journey.workspace / "a.txt").read_text() == "mine\n"
        assert (journey.workspace / "b.txt").read_text() == "one\n"


async def test_what_a_command_changed_between_two_edits_is_not_guessed(journey):
    change = turn("more", shell("echo more >> a.txt"))
    async with two_turns(journey, change, turn("over", write("a.txt", "two\n")), turn("done again")) as client:
        with pytest.raises(UsageError, match=r"a\.txt also changed"):
            await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[0] - 1))
        assert (journey.workspace / "a.txt").read_text() == "two\n"


async def test_a_moment_after_which_nothing_was_edited_says_so(journey):
    async with two_turns(journey) as client:
        last = journey.logged[-1].seq
        with pytest.raises(UsageError, match="no edit after it to revert"):
            await client.time.go_back(cmd.GoBack(task=journey.task, to=last))


async def test_what_would_be_taken_back_is_told_first_and_the_way_back_leads_back(journey):
    async with two_turns(journey) as client:
        first = f"{journey.task}@{prompts(journey)[0] - 1}"
        plan = await client.time.plan(journey.workspace, first)
        assert (plan.deletes, plan.creates, plan.overwrites) == (("a.txt", "b.txt"), (), ())
        restored = await client.time.restore(journey.workspace, first)
        assert not (journey.workspace / "a.txt").exists()
        assert (await client.time.plan(journey.workspace, restored.undo)).creates == ("a.txt", "b.txt")
        await client.time.restore(journey.workspace, restored.undo)
        assert (journey.workspace / "a.txt").read_text() == "two\n"
        assert (journey.workspace / "b.txt").read_text() == "one\n"


async def test_a_folder_that_became_a_link_leads_no_file_outside(journey, tmp_path):
    async with two_turns(journey, turn("again", write("sub/a.txt", "two\n")), turn("done again")) as client:
        (journey.workspace / "sub").rename(tmp_path / "outside")
        (journey.workspace / "sub").symlink_to(tmp_path / "outside")
        with pytest.raises(HaloclineError, match="it now leads elsewhere than when it was checked"):
            await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[0] - 1))
        assert (tmp_path / "outside/a.txt").read_text() == "two\n"
        assert (journey.workspace / "b.txt").read_text() == "one\n"
