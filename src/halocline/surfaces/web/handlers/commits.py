"""Commits of what a task changed, as a person wants them."""

from halocline.services.commits import CommitPlan, Committed
from halocline.surfaces.web.handlers.route import OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks


class OfCommit(OfTask, frozen=True):
    """`paths` are from the task's workspace; `runs` are the programs of the repository that the person was shown."""

    paths: tuple[str, ...]
    message: str
    runs: tuple[str, ...] = ()


async def commit_plan(desk: OpenTasks, which: OfTask) -> CommitPlan:
    """What is not committed in a task's folder, what of it the task changed, and a proposed message."""
    return await desk.client.committing.plan(desk.known(which.task))


async def commit_files(desk: OpenTasks, which: OfCommit) -> Committed:
    """Commit these files whole, by the project's git with its hooks; what else is staged stays staged."""
    return await desk.client.committing.commit(desk.known(which.task), which.paths, which.message, which.runs)


QUERIES: Rows = {"commit_plan": Row(OfTask, commit_plan)}
ACTIONS: Rows = {"commit": Row(OfCommit, commit_files)}
