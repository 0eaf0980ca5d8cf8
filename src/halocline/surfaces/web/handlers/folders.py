"""Folders: workspaces, the folder picker, git state, trust, and disk usage."""

import asyncio
import os
from typing import Any

from halocline.client.folders import (
    FolderListing,
    GitStatus,
    Workspace,
    inspect_git as git_of,
    list_folder,
    list_workspaces as workspaces_of,
)
from halocline.client.policy import FolderHooks
from halocline.client.storage import Storage, measure_storage as storage_of
from halocline.protocol.events.hooks import HookSource
from halocline.protocol.queries.tasks import TaskQuery
from halocline.protocol.values import Value
from halocline.surfaces.folder_lists import describe_effects
from halocline.surfaces.web.handlers.handler import Nothing, OfFolder, action, query
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder


class FolderQuery(Value, frozen=True):
    """Without a path: the home folder. A relative one is from the folder `base`."""

    path: str = ""
    base: str = ""
    hidden: bool = False


class TrustDecision(OfFolder, frozen=True):
    yes: bool


PROJECT_SETTINGS = ".halocline/settings.toml"


@query("workspaces")
async def list_all_workspaces(tasks: OpenTasks, _: Nothing) -> list[Workspace]:
    """List known workspaces: named at startup, or used before."""
    return workspaces_of(await asyncio.to_thread(tasks.client.tasks.search, TaskQuery()), tasks.workspaces)


@query("folders")
async def list_folders(tasks: OpenTasks, which: FolderQuery) -> FolderListing:
    """List the folders in a folder."""
    return await asyncio.to_thread(lambda: list_folder(find_folder(which.path or "~", which.base), hidden=which.hidden))


@query("git")
async def read_git_status(tasks: OpenTasks, which: OfFolder) -> GitStatus:
    """Return a folder's branch and number of uncommitted files."""
    return await git_of(which.folder())


@query("storage")
async def read_storage(tasks: OpenTasks, _: Nothing) -> Storage:
    """Return disk usage, by kind and by task."""
    return await asyncio.to_thread(storage_of, os.environ)


@query("trust")
async def read_trust(tasks: OpenTasks, which: OfFolder) -> dict[str, Any]:
    """Return whether a folder needs a trust decision, and its programs."""
    hooks = tasks.client.hooks_of(which.folder())
    standing = await asyncio.to_thread(lambda: hooks.standing)
    return {
        "needs": standing in ("unknown", "changed"),
        "trusted": standing == "trusted",
        "standing": standing,
        "what": await asyncio.to_thread(_list_programs, hooks),
    }


@action("trust")
async def set_trust(tasks: OpenTasks, which: TrustDecision) -> bool:
    """Trust a folder in its current state, or not."""
    hooks = tasks.client.hooks_of(which.folder())
    await asyncio.to_thread(lambda: hooks.say(trusted=which.yes))
    return which.yes


def _list_programs(hooks: FolderHooks) -> list[dict[str, str]]:
    own = [hook for hook in hooks.list() if hook.source is HookSource.PROJECT]
    found = [{"kind": "hook", "name": hook.event, "runs": hook.name, "file": hook.file} for hook in own]
    servers = hooks.servers
    return [
        *found,
        *({"kind": "mcp", "name": one.name, "runs": one.runs, "file": str(one.file)} for one in servers),
        *(
            {"kind": "setting", "name": name, "runs": str(value), "file": PROJECT_SETTINGS}
            for name, value in hooks.settings.items()
        ),
        *(
            {
                "kind": "plugin",
                "name": one.name,
                "runs": describe_effects(one.manifest.may if one.manifest else ()),
                "file": one.folder,
            }
            for one in hooks.plugins
        ),
    ]
