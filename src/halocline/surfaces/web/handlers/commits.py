"""Commits of a task's changes."""

from halocline.client import CommitPlan, Committed
from halocline.surfaces.web.handlers.handler import OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfCommit(OfTask, frozen=True):
    """`paths` are relative to the workspace; `runs` are the repository's programs that were shown to the user."""

    paths: tuple[str, ...]
    message: str
    runs: tuple[str, ...] = ()


@query("commit_plan")
async def plan_commit(tasks: OpenTasks, which: OfTask) -> CommitPlan:
    """List a task's uncommitted files, which of them the task changed, and a proposed message."""
    return await tasks.client.committing.plan(tasks.known(which.task))


@action("commit")
async def commit_files(tasks: OpenTasks, which: OfCommit) -> Committed:
    """Commit these files whole, with the project's git and hooks; other staged files stay staged."""
    return await tasks.client.committing.commit(tasks.known(which.task), which.paths, which.message, which.runs)
