"""Tasks as a whole: lists, facts, the trash, forks, and another model for one."""

import asyncio
from typing import Any

from halocline.protocol.jobs import JobInfo
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.queries.usage import CacheReport, ContextReport
from halocline.runtime.history.forks import Fork
from halocline.runtime.history.pending_edit import PendingEdit
from halocline.surfaces.web.handlers.route import Nothing, OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks


class OfJob(OfTask, frozen=True):
    job: str


class OfRequest(OfTask, frozen=True):
    """An approval that waits."""

    request: str


class OfMoment(OfTask, frozen=True):
    """A task as it was after event `at`; 0 is now."""

    at: int = 0


class OfModel(OfTask, frozen=True):
    model: str


async def list_tasks(desk: OpenTasks, query: TaskQuery) -> list[TaskInfo]:
    """The tasks of the history that are asked for."""
    return await asyncio.to_thread(desk.client.history, query)


async def read_task(desk: OpenTasks, which: OfTask) -> dict[str, Any]:
    """What its log says of one task, the process that writes it, and whether it is open here."""
    name = desk.known(which.task)
    info = await asyncio.to_thread(desk.client.info, name)
    return {"info": info, "writer": desk.writer(name), "is_open": desk.client.is_open(name)}


async def read_context(desk: OpenTasks, which: OfTask) -> ContextReport:
    """What a task's next request would hold, and what it costs."""
    return desk.client.context(desk.known(which.task))


async def read_cache(desk: OpenTasks, which: OfTask) -> CacheReport:
    """How a task's requests used the provider's cache."""
    return await asyncio.to_thread(desk.client.cache, desk.known(which.task))


async def list_jobs(desk: OpenTasks, which: OfTask) -> tuple[JobInfo, ...]:
    """The commands that an open task let go on."""
    return desk.client.jobs(which.task) if desk.client.is_open(which.task) else ()


async def job_tail(desk: OpenTasks, which: OfJob) -> str:
    """The end of what such a command printed."""
    return desk.client.job_tail(which.task, which.job)


async def list_trash(desk: OpenTasks, _: Nothing) -> dict[str, Any]:
    """The tasks that were deleted and can be taken back, when each was, and for how many days they are kept."""
    found = await asyncio.to_thread(desk.client.deleted)
    return {"days": desk.client.kept_days, "tasks": [{"info": info, "at": at} for info, at in found]}


async def delete_task(desk: OpenTasks, which: OfTask) -> bool:
    """Put a task into the trash; one that rests here is closed first."""
    name = desk.known(which.task)
    await desk.let_go(name)
    await asyncio.to_thread(desk.client.delete, name)
    return True


async def undelete_task(desk: OpenTasks, which: OfTask) -> str:
    """Take a task out of the trash; gives its id."""
    return await asyncio.to_thread(desk.client.undelete, which.task)


async def forget_task(desk: OpenTasks, which: OfTask) -> bool:
    """Remove a task for good."""
    name = desk.known(which.task)
    await desk.let_go(name)
    await asyncio.to_thread(desk.client.forget, name)
    return True


async def discard_task(desk: OpenTasks, which: OfTask) -> bool:
    """Remove a task that is in the trash for good."""
    await asyncio.to_thread(desk.client.discard, which.task)
    return True


async def fork_task(desk: OpenTasks, which: OfMoment) -> str:
    """Begin a task that has another one's past; gives its id. The files stay as they are."""
    return await desk.client.time.fork(Fork("", desk.known(which.task), which.at))


async def change_model(desk: OpenTasks, which: OfModel) -> bool:
    """Ask another model from a task's next request on."""
    await desk.open(desk.known(which.task))
    await desk.client.change_model(which.task, which.model)
    return True


async def read_pending_edit(desk: OpenTasks, which: OfRequest) -> PendingEdit:
    """What became of the files of an edit since it was shown for approval, and what could be done about it."""
    return await desk.client.meanwhile(desk.known(which.task), which.request)


QUERIES: Rows = {
    "meanwhile": Row(OfRequest, read_pending_edit),
    "tasks": Row(TaskQuery, list_tasks),
    "task": Row(OfTask, read_task),
    "context": Row(OfTask, read_context),
    "cache": Row(OfTask, read_cache),
    "jobs": Row(OfTask, list_jobs),
    "job_tail": Row(OfJob, job_tail),
    "trash": Row(Nothing, list_trash),
}
ACTIONS: Rows = {
    "delete": Row(OfTask, delete_task),
    "undelete": Row(OfTask, undelete_task),
    "forget": Row(OfTask, forget_task),
    "discard": Row(OfTask, discard_task),
    "fork": Row(OfMoment, fork_task),
    "change_model": Row(OfModel, change_model),
}
