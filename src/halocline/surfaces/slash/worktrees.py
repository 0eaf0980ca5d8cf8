"""`/worktrees`: the worktrees of the task's repository, what they change, and merging that."""

from collections.abc import Sequence
from pathlib import Path

from halocline.client.tasks import Client
from halocline.surfaces.slash.context import SlashAnswer, SlashContext
from halocline.surfaces.slash.diff import show_comparison
from halocline.surfaces.worktree_text import NONE, describe_merge, describe_undone, describe_work, explain_rest

USAGE = (
    "/worktrees             list worktrees, with what is not merged\n"
    "/worktrees diff NAME   show what a worktree changed\n"
    "/worktrees merge NAME  merge its files into the main folder's, without a commit\n"
    "/worktrees undo NAME   undo the last merge\n"
    "Further options, and removing one: halo worktrees --help"
)


async def answer_worktrees(context: SlashContext, rest: str) -> SlashAnswer:
    service = context.client.worktrees_in(context.workspace)
    match rest.split():
        case [] | ["list"]:
            found = await service.list()
            return "\n".join(line for work in found for line in describe_work(work, service.find_tasks(work))) or NONE
        case ["diff", name]:
            return show_comparison(await service.diff(name), f"in the worktree {name}")
        case ["merge", name]:
            done = await service.merge(name)
            return "\n".join([*describe_merge(name, done), *filter(None, explain_rest(name, done))])
        case ["undo", name]:
            restored = await service.undo(name)
            again = [f"To undo that: halo checkpoints restore {restored.undo[:10]}"] if restored.changed else []
            return "\n".join([*describe_undone(restored), *again])
    return USAGE


async def complete_worktrees(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            return dict.fromkeys(("list", "diff ", "merge ", "undo "), "")
        case ["diff" | "merge" | "undo"]:
            service = client.worktrees_in(Path(client.state(task).workspace))
            return {work.worktree.name: str(work.worktree.folder) for work in await service.list()}
    return {}
