"""`/checkpoint` and `/undo`: checkpoints of one task's folder. Nothing is restored before a person agrees."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

from halocline.client.history import CheckpointInfo as Checkpoint, RestorePlan, find_undo_target, list_newest_first
from halocline.client.tasks import Client
from halocline.surfaces.figures import format_age
from halocline.surfaces.restore_plan import describe_loss, describe_plan, explain_no_change
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, ask_yes_no
from halocline.surfaces.slash.diff import show_comparison
from halocline.surfaces.slash.rewind import describe_put_back

USAGE = (
    "/checkpoint            list this task's checkpoints\n"
    "/checkpoint diff N     show changes since checkpoint N\n"
    "/checkpoint restore N  restore the files of checkpoint N, after a preview; also by the hash of one"
)
NONE = "No checkpoints of this task yet. It takes one when it starts and after each change."
YES, NO = "Restore the files", "Keep them as they are"
LISTED = 30
_HASH = re.compile(r"[0-9a-f]{8,40}")


async def answer_checkpoint(context: SlashContext, rest: str) -> SlashAnswer:
    client, task, workspace = context.client, context.task, context.workspace
    store = client.checkpoints(workspace)
    known = await list_newest_first(store, task)
    match rest.split():
        case [] | ["list"]:
            lost = client.tasks.lost_checkpoints(workspace).get(task, 0)
            lines = [*([describe_loss(task, lost)] if lost else ()), *map(_checkpoint_line, known[:LISTED])]
            return "\n".join(lines) or NONE
        case ["diff", number] if _is_of(known, number):
            found = await client.time.compare(workspace, f"{task}/{number}")
            return show_comparison(found, f"since checkpoint {number}")
        case ["restore", number] if _is_of(known, number):
            name = f"{task}/{number}"
            return await _put_back(name, await client.time.plan(workspace, name), context)
        case ["restore", name] if name.startswith(f"{task}@") or _HASH.fullmatch(name):
            return await _put_back(name, await client.time.plan(workspace, name), context)
        case ["diff" | "restore", number]:
            return f"This task has no checkpoint {number}. To list them: /checkpoint"
    return USAGE


async def complete_checkpoint(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            return dict.fromkeys(("list", "diff ", "restore "), "")
        case ["diff" | "restore"]:
            known = await list_newest_first(client.checkpoints(Path(client.state(task).workspace)), task)
            return {str(info.n): f"{format_age(info.at, time.time())}  {info.label}" for info in known}
    return {}


async def answer_undo(context: SlashContext, rest: str) -> SlashAnswer:
    """Restore the previous checkpoint."""
    client, task, workspace = context.client, context.task, context.workspace
    step = await find_undo_target(client.checkpoints(workspace), task, lambda name: client.time.plan(workspace, name))
    if step is None:
        return "Nothing to undo: no file differs from what this task last saved. To go further back: /checkpoint"
    return await _put_back(f"{task}/{step.to.n}", step.plan, context, step.to.label)


async def _put_back(name: str, plan: RestorePlan, context: SlashContext, label: str = "") -> str:
    if not plan.changes:
        reason = explain_no_change(plan).replace("--overwrite", f"halo checkpoints restore {name} --overwrite")
        return "\n".join([*describe_plan(plan), reason])
    title = f"The files would be as at checkpoint {name.rpartition('/')[2]}{f', {label}' if label else ''}:"
    context.view.say("\n".join([title, *describe_plan(plan)]))
    if not await ask_yes_no(context.view, f"{YES}?", YES, NO):
        return "Nothing was changed."
    restored = await context.client.time.restore(context.workspace, name)
    return "\n".join(describe_put_back(restored, name))


def _is_of(known: Sequence[Checkpoint], number: str) -> bool:
    return any(str(info.n) == number for info in known)


def _checkpoint_line(info: Checkpoint) -> str:
    return f"{info.n:>4}  {format_age(info.at, time.time()):<10}  {info.label}"
