"""Long-running jobs: freeing disk space, and importing conversations from other agents."""

import asyncio
import os
from pathlib import Path
from typing import Any, Literal

from halocline.client.imports import IMPORTABLE_PROGRAMS, ImportResult, ImportService, TranscriptStatus
from halocline.client.storage import PrunePlan, plan_pruning as plan_of, prune_storage as prune_now
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import Value
from halocline.surfaces.web.background_jobs import Progress, Say, Stopped
from halocline.surfaces.web.handlers.handler import Nothing, OfFolder, action, query
from halocline.surfaces.web.open_tasks import OpenTasks

Kind = Literal["prune", "import"]
DAY = 86_400.0


class PruneOptions(Value, frozen=True):
    """Further data to delete: checkpoints of tasks idle for `older` days, all but `keep` per task."""

    older: float | None = None
    keep: int | None = None

    def plan(self) -> PrunePlan:
        """Return what would be deleted. Raises UsageError."""
        if (self.older is not None and self.older <= 0) or (self.keep is not None and self.keep < 1):
            raise UsageError("The number of days or checkpoints is invalid.", "Enter 1 or more.")
        return plan_of(os.environ, None if self.older is None else self.older * DAY, self.keep)


class OfJob(Value, frozen=True):
    kind: Kind


class Transcript(Value, frozen=True):
    """A conversation by its program and its id there."""

    tool: str
    id: str


class ImportRequest(OfFolder, frozen=True):
    """`workspace` is for conversations without a folder."""

    chosen: tuple[Transcript, ...]


@query("prune_plan")
async def preview_pruning(tasks: OpenTasks, options: PruneOptions) -> dict[str, Any]:
    """Preview what can be deleted, as counts and sizes."""
    plan = await asyncio.to_thread(options.plan)
    return {
        "checkpoints": [
            {"workspace": one.workspace, "task": one.task, "count": one.count, "why": one.why}
            for one in plan.checkpoints
        ],
        "damaged": [{"workspace": store.workspace, "size": store.size} for store in plan.damaged],
        "blobs": len(plan.blobs),
        "blob_bytes": plan.blob_bytes,
    }


@action("prune")
async def begin_pruning(tasks: OpenTasks, options: PruneOptions) -> bool:
    """Start deleting what `prune_plan` lists; `work` reports progress."""

    def run(say: Say) -> Any:
        steps = iter(range(1, 1_000_000))
        say("Looking for unused data…", 0, 0)
        return prune_now(os.environ, options.plan(), lambda step: say(step, next(steps), 0))

    tasks.works.begin("prune", run)
    return True


@query("importable")
async def list_importable(tasks: OpenTasks, _: Nothing) -> dict[str, Any]:
    """List importable conversations from other agents, newest first, with their import status."""
    return await asyncio.to_thread(_list_importable)


def _list_importable() -> dict[str, Any]:

    service = ImportService.open()
    found = service.found(IMPORTABLE_PROGRAMS)
    shown = ("tool", "id", "title", "workspace", "changed", "size")
    return {
        "programs": {name: service.title(name) for name in IMPORTABLE_PROGRAMS},
        "found": [{name: getattr(one, name) for name in shown} | {"standing": service.standing(one)} for one in found],
        "remarks": service.remarks,
    }


@action("import_begin")
async def begin_import(tasks: OpenTasks, which: ImportRequest) -> bool:
    """Start importing conversations as tasks; `work` reports progress. The originals are only read."""
    place = which.folder()
    tasks.works.begin("import", lambda say: _import_tasks(which.chosen, place, say))
    return True


def _import_tasks(chosen: tuple[Transcript, ...], place: Path, say: Say) -> list[Any]:

    say("Looking for the conversations…", 0, len(chosen))
    service, wanted, done = ImportService.open(), {(one.tool, one.id) for one in chosen}, list[ImportResult]()
    found = [one for one in service.found(IMPORTABLE_PROGRAMS) if (one.tool, one.id) in wanted]
    for number, one in enumerate(reversed(found), start=1):
        try:
            say(one.title or one.id, number, len(found))
            done.append(service.take(one, place))
        except Stopped:
            raise Stopped(done) from None
        except HaloclineError as error:
            done.append(ImportResult("", TranscriptStatus.FAILED, one.title or one.id, one.workspace, error=error.text))
    return done


@query("work")
async def read_progress(tasks: OpenTasks, which: OfJob) -> Progress | None:
    """Return the progress of a kind's latest job, or null."""
    return tasks.works.progress(which.kind)


@action("work_stop")
async def stop_job(tasks: OpenTasks, which: OfJob) -> bool:
    """Stop a job at its next step."""
    tasks.works.stop(which.kind)
    return True
