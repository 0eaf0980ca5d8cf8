"""Commits of a task's changes, pushes and pull requests."""

from halocline.client.commits import CommitPlan, Committed, PullRequestPlan, PushPlan
from halocline.surfaces.web.background_jobs import Progress
from halocline.surfaces.web.handlers.handler import OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfFiles(OfTask, frozen=True):
    """`paths` are relative to the workspace."""

    paths: tuple[str, ...]


class OfCommit(OfTask, frozen=True):
    """`paths` are relative to the workspace; `runs` are the repository's programs that were shown to the user."""

    paths: tuple[str, ...]
    message: str
    runs: tuple[str, ...] = ()


class OfPush(OfTask, frozen=True):
    """`plan` is what was shown to the user."""

    plan: PushPlan


class OfPullRequest(OfTask, frozen=True):
    """`wanted` is the plan that was shown to the user, with their title, description and base."""

    wanted: PullRequestPlan
    draft: bool = False


@query("commit_plan")
async def plan_commit(tasks: OpenTasks, which: OfTask) -> CommitPlan:
    """List a task's uncommitted files, which of them the task changed, and a proposed message."""
    return await tasks.client.committing.plan(tasks.known(which.task))


@action("commit")
async def commit_files(tasks: OpenTasks, which: OfCommit) -> Committed:
    """Commit these files whole, with the project's git and hooks; other staged files stay staged."""
    return await tasks.client.committing.commit(tasks.known(which.task), which.paths, which.message, which.runs)


@action("commit_message")
async def begin_commit_message(tasks: OpenTasks, which: OfFiles) -> bool:
    """Start to have the task's model write a message for these files; `commit_message_progress` has the text."""
    task = tasks.known(which.task)
    model = tasks.client.state(task).model.name if tasks.client.is_open(task) else ""
    tasks.works.write(_name_job(task), tasks.client.committing.write_message(task, which.paths, model))
    return True


@query("commit_message_progress")
async def read_commit_message(tasks: OpenTasks, which: OfTask) -> Progress | None:
    """Return the progress of a task's latest commit message: its text as `step`, and once over as `value`; or null."""
    return tasks.works.progress(_name_job(tasks.known(which.task)))


@action("commit_message_stop")
async def stop_commit_message(tasks: OpenTasks, which: OfTask) -> bool:
    """Stop writing a task's commit message."""
    tasks.works.stop(_name_job(tasks.known(which.task)))
    return True


@query("push_plan")
async def plan_push(tasks: OpenTasks, which: OfTask) -> PushPlan:
    """Return what a push of the checked-out branch would send where, as far as is known here."""
    return await tasks.client.committing.plan_push(tasks.known(which.task))


@action("push")
async def push_branch(tasks: OpenTasks, which: OfPush) -> str:
    """Push the branch that was shown to its remote, never by force; return git's output."""
    return await tasks.client.committing.push(tasks.known(which.task), which.plan)


@query("pull_request_plan")
async def plan_pull_request(tasks: OpenTasks, which: OfTask) -> PullRequestPlan:
    """Propose a pull request for the checked-out branch."""
    return await tasks.client.committing.plan_pull_request(tasks.known(which.task))


@action("pull_request")
async def open_pull_request(tasks: OpenTasks, which: OfPullRequest) -> str:
    """Open a pull request with GitHub's gh; return its address."""
    task = tasks.known(which.task)
    return await tasks.client.committing.open_pull_request(task, which.wanted, draft=which.draft)


def _name_job(task: str) -> str:
    return f"commit message of {task}"
