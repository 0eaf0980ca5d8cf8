"""Quick checks for optional features: hooks and MCP servers, which run programs, and agents.

Every start runs them; most often there is nothing, and nothing more is loaded.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from halocline.protocol.config_locations import (
    HOOK_FOLDERS,
    HOOK_SETTINGS,
    OWN_AGENTS,
    OWN_HOOK_FOLDERS,
    OWN_HOOK_SETTINGS,
    PROJECT_AGENTS,
    PROJECT_MCP,
)
from halocline.store.paths import PROJECT_PLUGINS, PROJECT_SETTINGS, Home, mcp_files
from halocline.store.settings.settings import Settings


def may_run_code(settings: Settings, workspace: Path) -> bool:
    """True if a folder may have its own hooks, MCP servers or plug-ins, or settings of its own."""
    return may_run_programs(settings, workspace) or os.path.exists(workspace / PROJECT_SETTINGS)


def may_run_programs(settings: Settings, folder: Path) -> bool:
    """True if a folder may have its own hooks, MCP servers or plug-ins."""
    servers = (*(PROJECT_MCP if settings.mcp.enabled else ()), PROJECT_PLUGINS)
    return has_hooks(settings, folder) or any(os.path.exists(folder / name) for name in servers)


def any_hooks(home: Home, settings: Settings, workspace: Path, env: Mapping[str, str]) -> bool:
    """True if any place for hooks exists."""
    if not settings.hooks:
        return False
    places: list[Path] = []
    if user := env.get("HOME"):
        places += [Path(user, name) for name in (*OWN_HOOK_FOLDERS, *OWN_HOOK_SETTINGS)]
    places += [home.hooks, *map(Path, settings.hook_folders)]
    return has_hooks(settings, workspace) or any(os.path.exists(os.path.expanduser(place)) for place in places)


def any_servers(home: Home, settings: Settings, folders: Sequence[Path], env: Mapping[str, str]) -> bool:
    """True if any file of MCP servers exists, also in a task's folders."""
    user = env.get("HOME", "") if settings.mcp.others else ""
    return settings.mcp.enabled and any(map(os.path.exists, mcp_files(home, folders[0], user, folders[1:])))


def any_plugins(home: Home, folders: Sequence[Path]) -> bool:
    """True if any place for plug-ins exists."""
    return any(map(os.path.exists, (home.plugins, *(folder / PROJECT_PLUGINS for folder in folders))))


def has_subagents(settings: Settings, home: Home, workspace: Path, *, described: bool = False) -> bool:
    """True if a task is offered sub-agents: the settings turn them on, or an agent is described somewhere.

    `described`: in a plug-in.
    """
    if settings.subagents != "auto":
        return settings.subagents == "on"
    places = (home.agents, *(Path.home() / name for name in OWN_AGENTS), *(workspace / name for name in PROJECT_AGENTS))
    return described or any(map(os.path.isdir, places))


def has_hooks(settings: Settings, workspace: Path) -> bool:
    """True if a folder may have its own hooks."""
    return settings.hooks and any(os.path.exists(workspace / name) for name in (*HOOK_FOLDERS, *HOOK_SETTINGS))
