"""The tasks of a folder that was renamed."""

import shutil
from pathlib import Path
from typing import TypeVar

import pytest
from tests.journeys.conftest import YOLO, Journey

from halocline.client.tasks import Client
from halocline.files.folder_mark import read_mark
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import Text
from halocline.protocol.queries.tasks import TaskQuery
from halocline.providers.scripted.script import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.runtime.history.forks import Fork
from halocline.services.tasks import TaskService
from halocline.store.tasks.renamed import FoldersHere

DONE = Turn(text="done")
ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True, asks_again=True)
E = TypeVar("E")
WRITE = Turn(calls=(Call("write_to_file", {"path": "made.txt", "content": "x\n"}),))


@pytest.fixture
async def journey(tmp_path: Path) -> Journey:
    journey = Journey(tmp_path)
    if not read_mark(journey.workspace):
        pytest.skip("this file system cannot tell folders apart")
    return await journey.run(WRITE, DONE)


def rename(journey: Journey, name: str = "new") -> Path:
    """Rename the folder; the journey goes on in the new place."""
    journey.workspace = journey.workspace.rename(journey.workspace.with_name(name))
    return journey.workspace


def list_tasks(journey: Journey, folder: Path) -> list[str]:
    service = TaskService(journey.home, 30)
    found = [info.task for info in service.search(TaskQuery(workspace=str(folder)))]
    newest = service.newest(folder)
    assert (newest.task if newest else "") == (found[0] if found else "")
    return found


async def resume(journey: Journey, *turns: Turn) -> Journey:
    past = [event for event in journey.logged if isinstance(event, ev.AssistantMessageCompleted)]
    client = journey.client([*[DONE] * len(past), *turns])
    client.work_in(journey.workspace)
    return await journey.run(client=client, resume=journey.task)


async def test_a_renamed_folder_has_its_tasks_and_they_know_where_it_was(journey: Journey) -> None:
    old, new = journey.workspace, rename(journey)
    assert list_tasks(journey, new) == [journey.task]
    info = TaskService(journey.home, 30).newest(new)
    assert (info.workspace, info.former) == (str(new), str(old))


async def test_lists_of_all_tasks_show_the_new_place_to_who_works_there(journey: Journey) -> None:
    new = rename(journey)
    service = TaskService(journey.home, 30, FoldersHere([new]))
    assert [info.workspace for info in service.search()] == [str(new)]
    assert service.folders(journey.task).workspace == str(new)


async def test_a_copy_of_a_folder_has_no_tasks(journey: Journey) -> None:
    copy = shutil.copytree(journey.workspace, journey.workspace.with_name("copy"))
    assert list_tasks(journey, copy) == []
    assert list_tasks(journey, journey.workspace) == [journey.task]


async def test_a_folder_with_the_number_of_a_deleted_one_has_no_tasks(journey: Journey) -> None:
    number, other = journey.workspace.stat().st_ino, journey.workspace.with_name("other")
    shutil.rmtree(journey.workspace)
    for _ in range(1000):
        other.mkdir()
        if other.stat().st_ino == number:
            break
        other.rmdir()
    else:
        pytest.skip("this file system gives no number twice")
    assert list_tasks(journey, other) == []


async def test_a_task_continues_in_the_renamed_folder_and_tells_the_model(journey: Journey) -> None:
    old, new = journey.workspace, rename(journey)
    await resume(journey, Turn(calls=(Call("write_to_file", {"path": "later.txt", "content": "y\n"}),)), DONE)
    (moved,) = journey.of(ev.WorkspaceMoved)
    assert (moved.former, moved.workspace, journey.state.workspace) == (str(old), str(new), str(new))
    assert f"{old} is now {new}" in moved.content[0].text
    assert (new / "later.txt").read_text() == "y\n"
    assert not old.exists()


async def test_a_task_that_continued_after_a_rename_is_found_there_and_nowhere_else(journey: Journey) -> None:
    old, new = journey.workspace, rename(journey)
    await resume(journey, DONE)
    old.mkdir()
    assert (list_tasks(journey, new), list_tasks(journey, old)) == ([journey.task], [])
    assert TaskService(journey.home, 30).folders(journey.task).workspace == str(new)


async def test_the_tasks_of_a_new_folder_at_the_old_place_are_its_own(journey: Journey) -> None:
    old, new = journey.workspace, rename(journey)
    first = journey.task
    old.mkdir()
    journey.workspace = old
    await journey.run(DONE)
    assert list_tasks(journey, new) == [first]
    assert journey.task in list_tasks(journey, old)


async def test_a_folder_that_is_made_anew_at_its_place_keeps_its_tasks(journey: Journey) -> None:
    shutil.rmtree(journey.workspace)
    journey.workspace.mkdir()
    assert list_tasks(journey, journey.workspace) == [journey.task]


async def test_a_folder_can_be_renamed_again_and_back(journey: Journey) -> None:
    old = journey.workspace
    rename(journey)
    await resume(journey, DONE)
    third = rename(journey, "third")
    assert list_tasks(journey, third) == [journey.task]
    await resume(journey, DONE)
    rename(journey, old.name)
    assert list_tasks(journey, old) == [journey.task]
    await resume(journey, DONE)
    assert [type(event).__name__ for event in journey.logged].count("WorkspaceMoved") == 3


async def test_an_edit_from_before_a_rename_is_taken_back_in_the_new_folder(journey: Journey) -> None:
    new = rename(journey)
    assert (new / "made.txt").exists()
    client = journey.client([])
    client.work_in(new)
    await client.time.go_back(cmd.GoBack(task=journey.task, to=1, conversation=False))
    await client.close()
    assert not (new / "made.txt").exists()


async def test_a_question_that_waited_is_asked_again_after_a_rename(journey: Journey) -> None:
    touch = Call("execute_command", {"command": "pwd > where", "requires_approval": True})
    turns = [WRITE, DONE, Turn(calls=(touch,)), DONE]
    client = journey.client(turns)
    await journey.open(client, ASK, journey.task)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    await follow_to(client, journey.task, ev.ApprovalRequested)
    await client.close(leave_questions=True)
    new = rename(journey)
    client = journey.client(turns)
    client.work_in(new)
    await client.resume(journey.task, ASK)
    asked = await follow_to(client, journey.task, ev.ApprovalRequested)
    client.send(cmd.ResolveApproval(task=journey.task, request=asked.request, decision=Choice.ALLOW_ONCE))
    await follow_to(client, journey.task, ev.TurnEnded)
    messages = client.state(journey.task).messages
    await client.close()
    assert (new / "where").read_text() == f"{new}\n"
    kinds = [type(message).__name__ for message in messages[-5:]]
    assert kinds == ["AssistantMessage", "ToolResult", "UserMessage", "UserMessage", "AssistantMessage"]


async def follow_to(client: Client, task: str, kind: type[E]) -> E:
    async for event in client.events(task, client.state(task).seq):
        if isinstance(event, kind):
            return event
    raise AssertionError


async def test_a_copy_that_a_fork_makes_stays_where_it_is(journey: Journey, tmp_path: Path) -> None:
    rename(journey)
    await resume(journey, DONE)
    client = journey.client([])
    fork = await client.time.fork(Fork("", journey.task), tmp_path / "forked")
    await client.resume(fork, YOLO)
    assert client.state(fork).workspace == str(tmp_path / "forked")
    await client.close()


async def test_a_task_that_was_renamed_can_be_replayed(journey: Journey) -> None:
    rename(journey)
    await resume(journey, WRITE, DONE)
    assert (await journey.replay()).differences == ()
