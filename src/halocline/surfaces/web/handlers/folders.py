"""Folders: those that tasks began in, those of the disk to pick one from, what one would switch on; the room taken."""

import asyncio
import os
from typing import Any

from halocline.protocol.hook_kinds import HookSource
from halocline.protocol.queries.tasks import TaskQuery
from halocline.protocol.values import Value
from halocline.runtime.rules.hooks import FolderHooks
from halocline.services.folders import Looked, Standing, Workspace, git as git_of, look, workspaces as workspaces_of
from halocline.services.storage import Storage, storage as storage_of
from halocline.surfaces.web.handlers.route import Nothing, OfFolder, Row, Rows
from halocline.surfaces.web.open_tasks import Desk, folder


class Look(Value, frozen=True):
    """Without a path, the person's home folder."""

    path: str = ""
    hidden: bool = False


class Trusted(OfFolder, frozen=True):
    yes: bool


async def workspaces(desk: Desk, _: Nothing) -> list[Workspace]:
    """The folders that tasks may begin in without being looked for: named at the start, or used before."""
    return workspaces_of(await asyncio.to_thread(desk.client.history, TaskQuery()), desk.workspaces)


async def folders(desk: Desk, which: Look) -> Looked:
    """The folders in a folder, to pick one."""
    return await asyncio.to_thread(lambda: look(folder(which.path or "~"), hidden=which.hidden))


async def git(desk: Desk, which: OfFolder) -> Standing:
    """A folder's branch, and how many of its files are not committed."""
    return await git_of(folder(which.workspace))


async def storage(desk: Desk, _: Nothing) -> Storage:
    """What is kept on the disk, and whose it is."""
    return await asyncio.to_thread(storage_of, os.environ)


async def trust(desk: Desk, which: OfFolder) -> dict[str, Any]:
    """Whether a person has to be asked about a folder's own programs, and what these are."""
    hooks = desk.client.hooks_of(folder(which.workspace))
    standing = await asyncio.to_thread(lambda: hooks.standing)
    return {
        "needs": standing in ("unknown", "changed"),
        "trusted": standing == "trusted",
        "standing": standing,
        "what": await asyncio.to_thread(_programs, hooks),
    }


async def say_trust(desk: Desk, which: Trusted) -> bool:
    """Trust a folder as it is now, or do not."""
    hooks = desk.client.hooks_of(folder(which.workspace))
    await asyncio.to_thread(lambda: hooks.say(trusted=which.yes))
    return which.yes


def _programs(hooks: FolderHooks) -> list[dict[str, str]]:
    own = [hook for hook in hooks.list() if hook.source is HookSource.PROJECT]
    found = [{"kind": "hook", "name": hook.event, "runs": hook.name, "file": hook.file} for hook in own]
    servers = hooks.servers
    return [
        *found,
        *({"kind": "mcp", "name": one.name, "runs": one.runs, "file": str(one.file)} for one in servers),
    ]


QUERIES: Rows = {
    "workspaces": Row(Nothing, workspaces),
    "folders": Row(Look, folders),
    "git": Row(OfFolder, git),
    "storage": Row(Nothing, storage),
    "trust": Row(OfFolder, trust),
}
ACTIONS: Rows = {"trust": Row(Trusted, say_trust)}
