"""The text of a rule file, and recent hook runs of a folder."""

import asyncio
from itertools import islice
from pathlib import Path

from halocline.client.instructions import InstructionService
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import HookRan
from halocline.protocol.queries.tasks import TaskQuery
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.handler import OfFolder, query
from halocline.surfaces.web.handlers.instructions import OfPath
from halocline.surfaces.web.open_tasks import OpenTasks

RECENT_TASKS = 5
"""Number of recent tasks searched for hook runs."""


class LastRun(Value, frozen=True, omit_defaults=False):
    """A hook's last run and its task. `at` is in Unix seconds."""

    hook: str
    moment: str
    task: str
    at: float
    status: str
    exit_code: int | None
    seconds: float
    said: str


@query("rule_text")
async def read_rule(tasks: OpenTasks, which: OfPath) -> str:
    """Return a rule file's text as the model reads it."""
    return await asyncio.to_thread(lambda: InstructionService.open(which.folder()).text(which.path))


@query("hook_runs")
async def list_hook_runs(tasks: OpenTasks, which: OfFolder) -> list[LastRun]:
    """List the last run of each hook in a folder's recent tasks."""
    return await asyncio.to_thread(_list_runs, tasks.client, which.folder())


def _list_runs(client: Client, workspace: Path) -> list[LastRun]:
    found: dict[tuple[str, str], LastRun] = {}
    for info in islice(client.tasks.search(TaskQuery(workspace=str(workspace), limit=RECENT_TASKS)), RECENT_TASKS):
        try:
            past = client.past(info.task)
        except HaloclineError:  # an unreadable log must not hide the runs of others
            continue
        for event in past:
            if isinstance(event, HookRan):
                one = _describe_run(event, info.task)
                if (before := found.get((one.hook, one.moment))) is None or before.at <= one.at:
                    found[one.hook, one.moment] = one
    return list(found.values())


def _describe_run(event: HookRan, task: str) -> LastRun:
    status, moment = event.status.value, event.moment.value
    return LastRun(event.hook, moment, task, event.at, status, event.exit_code, event.seconds, event.said)
