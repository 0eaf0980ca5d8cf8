"""Tasks: lists, details, trash, forks, and model changes."""

import asyncio
from typing import Any

from halocline.client.edits import PendingEdit
from halocline.client.history import Fork
from halocline.protocol.events.jobs import JobInfo
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.queries.usage import CacheReport, ContextReport
from halocline.surfaces.slash.status import list_facts
from halocline.surfaces.web.edits_ahead import Ahead, EditsOfReply
from halocline.surfaces.web.handlers.handler import Nothing, OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfJob(OfTask, frozen=True):
    job: str


class OfRequest(OfTask, frozen=True):
    """A pending approval."""

    request: str


class EditDecisions(OfRequest, frozen=True):
    """Decisions by the marks of edits that wait behind this one."""

    decisions: dict[str, Ahead]


class OfPoint(OfTask, frozen=True):
    """A task as it was after event `at`; 0 is now."""

    at: int = 0


class OfModel(OfTask, frozen=True):
    model: str


@query("tasks")
async def list_tasks(tasks: OpenTasks, query: TaskQuery) -> list[TaskInfo]:
    """Search the task history."""
    return await asyncio.to_thread(tasks.client.tasks.search, query)


@query("task")
async def read_task(tasks: OpenTasks, which: OfTask) -> dict[str, Any]:
    """Return a task's details, its writer process, and whether it is open here."""
    name = tasks.known(which.task)
    info = await asyncio.to_thread(tasks.client.tasks.info, name)
    return {"info": info, "writer": tasks.writer(name), "is_open": tasks.client.is_open(name)}


@query("context")
async def read_context(tasks: OpenTasks, which: OfTask) -> ContextReport:
    """Return the parts and cost of a task's next request."""
    return tasks.client.context(tasks.known(which.task))


@query("status")
async def read_status(tasks: OpenTasks, which: OfTask) -> list[tuple[str, str]]:
    """List what is in force in a task, as `/status` does, each with its label."""
    return [*list_facts(tasks.client, await asyncio.to_thread(tasks.state, tasks.known(which.task)))]


@query("cache")
async def read_cache(tasks: OpenTasks, which: OfTask) -> CacheReport:
    """Return a task's cache usage by request."""
    return await asyncio.to_thread(tasks.client.cache, tasks.known(which.task))


@query("jobs")
async def list_jobs(tasks: OpenTasks, which: OfTask) -> tuple[JobInfo, ...]:
    """List an open task's background commands."""
    return tasks.client.jobs(which.task) if tasks.client.is_open(which.task) else ()


@query("job_tail")
async def read_job_output(tasks: OpenTasks, which: OfJob) -> str:
    """Return the end of a background command's output."""
    return tasks.client.job_tail(which.task, which.job)


@query("job_screen")
async def read_job_screen(tasks: OpenTasks, which: OfJob) -> str:
    """Return the end of a background command's output with its colors; empty if the task is not open."""
    return tasks.client.job_screen(which.task, which.job) if tasks.client.is_open(which.task) else ""


@query("trash")
async def list_trash(tasks: OpenTasks, _: Nothing) -> dict[str, Any]:
    """List deleted tasks that can be restored, with their dates, and the days they are kept."""
    found = await asyncio.to_thread(tasks.client.tasks.deleted)
    return {"days": tasks.client.tasks.days, "tasks": [{"info": info, "at": at} for info, at in found]}


@action("delete")
async def delete_task(tasks: OpenTasks, which: OfTask) -> bool:
    """Move a task to the trash; an idle open one is closed first."""
    name = tasks.known(which.task)
    await tasks.let_go(name)
    await asyncio.to_thread(tasks.client.tasks.delete, name)
    return True


@action("undelete")
async def undelete_task(tasks: OpenTasks, which: OfTask) -> str:
    """Restore a task from the trash; returns its id."""
    return await asyncio.to_thread(tasks.client.tasks.undelete, which.task)


@action("forget")
async def forget_task(tasks: OpenTasks, which: OfTask) -> bool:
    """Delete a task permanently."""
    name = tasks.known(which.task)
    await tasks.let_go(name)
    await asyncio.to_thread(tasks.client.tasks.forget, name)
    return True


@action("discard")
async def discard_task(tasks: OpenTasks, which: OfTask) -> bool:
    """Permanently delete a task in the trash."""
    await asyncio.to_thread(tasks.client.tasks.discard, which.task)
    return True


@action("fork")
async def fork_task(tasks: OpenTasks, which: OfPoint) -> str:
    """Fork a task with its history; returns the new id. Files stay unchanged."""
    return await tasks.client.time.fork(Fork("", tasks.known(which.task), which.at))


@action("change_model")
async def change_model(tasks: OpenTasks, which: OfModel) -> bool:
    """Switch a task's model from its next request."""
    was_open = tasks.client.is_open(tasks.known(which.task))
    await tasks.open(which.task, which.model)  # its own may not be reached any more
    if was_open or tasks.client.is_attached(which.task):
        await tasks.client.change_model(which.task, which.model)
    return True


@query("edits_ahead")
async def list_edits_ahead(tasks: OpenTasks, which: OfRequest) -> EditsOfReply:
    """List the edits behind a waiting one in its reply, as each would be asked about."""
    return await tasks.edits_ahead.list(tasks.known(which.task), which.request)


@action("decide_ahead")
async def decide_ahead(tasks: OpenTasks, which: EditDecisions) -> bool:
    """Decide edits that were listed so, once they are asked about; false if one is another by now."""
    return tasks.edits_ahead.decide(tasks.known(which.task), which.request, which.decisions)


@query("meanwhile")
async def read_pending_edit(tasks: OpenTasks, which: OfRequest) -> PendingEdit:
    """Return how files changed since an edit was shown for approval, and the options."""
    return await tasks.client.check_edit_conflict(tasks.known(which.task), which.request)
