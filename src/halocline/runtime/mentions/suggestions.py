"""Suggestions for a composer: what can be mentioned here, and how to write a path as a mention."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from halocline.policy.paths import is_hidden
from halocline.ports.host import Search
from halocline.ports.revisions import Revisions
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import RuleBook
from halocline.protocol.values import Value
from halocline.store.paths import Home
from halocline.store.tasks import history
from halocline.task.task import Task

MOST_FILES = 50_000
MOST_COMMITS = 100
MOST_TASKS = 30

WORD_MEANINGS = {
    "problems": "errors from language servers",
    "terminal": "output of the latest command, and the jobs",
    "git-changes": "uncommitted changes",
}
"""Description of each fixed word, shown in the composer."""


class Mentionable(Value, frozen=True):
    """Paths of files, of which the task used the first `recent` ones lately; commits and tasks by name and title."""

    files: tuple[str, ...] = ()
    recent: int = 0
    commits: tuple[tuple[str, str], ...] = ()
    tasks: tuple[tuple[str, str], ...] = ()
    workspace: str = "."
    ignored: tuple[str, ...] = ()


class Folder(Value, frozen=True):
    """A folder to search, its search and git, and the lines of its ignore files.

    `roots` are the task's other folders, each with such lines.
    """

    workspace: Path
    search: Search
    revisions: Revisions
    ignored: tuple[str, ...]
    roots: tuple[tuple[Path, tuple[str, ...]], ...] = ()


async def list_mentionable(task: Task, home: Home) -> Mentionable:
    """List what can be mentioned in a task, without ignored files."""
    state, host = task.state, task.host
    folder = folder_of(
        Path(state.workspace), state.roots, host.permissions.book(), host.tools.search, host.tools.revisions
    )
    return await mentionable_in(folder, home, state.task, list_used_files(task))


def folder_of(workspace: Path, roots: Sequence[str], book: RuleBook, search: Search, revisions: Revisions) -> Folder:
    """Return a task's folders, each with its ignore lines."""
    lines = {root.path: root.ignored for root in book.roots}
    others = tuple((Path(root), lines.get(root, ())) for root in roots)
    return Folder(workspace, search, revisions, book.ignored, others)


async def mentionable_in(folder: Folder, home: Home, task: str = "", latest: tuple[str, ...] = ()) -> Mentionable:
    """List what can be mentioned in a folder by a new task, or by `task`, which used the `latest` files."""
    workspace, lines = folder.workspace, folder.ignored
    files, elsewhere, commits, tasks = await asyncio.gather(
        _list_files(folder.search, workspace),
        _files_elsewhere(folder),
        folder.revisions.commits(MOST_COMMITS),
        asyncio.to_thread(lambda: list(history.newest_of(home.tasks, str(workspace)))),
    )
    others = [info for info in tasks if info.task != task]
    ordered, recent = await asyncio.to_thread(_order_files, files, latest, lines)
    ordered += elsewhere
    named = tuple((info.task, info.title) for info in others[:MOST_TASKS])
    return Mentionable(ordered, recent, commits, named, str(workspace), lines)


def list_paths_beside(begun: str, found: Mentionable, most: int) -> list[str]:
    """Complete paths that the list of files lacks: hidden ones, and those outside, as they are typed."""
    if not begun.startswith((".", "/", "~/")) and "/." not in begun:
        return []
    folder, slash, name = begun.rpartition("/")
    place = os.path.join(found.workspace, os.path.expanduser(folder + slash))
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []
    wanted = [entry for entry in entries if entry.name.startswith(name) and (name or not entry.name.startswith("."))]
    paths = [f"{folder}{slash}{entry.name}{'/' * entry.is_dir()}" for entry in wanted if not _is_hidden(entry, found)]
    return [path for path in paths if path != begun][:most]


def _is_hidden(entry: "os.DirEntry[str]", found: Mentionable) -> bool:
    path = os.path.relpath(entry.path, found.workspace)
    return bool(found.ignored) and not path.startswith("..") and is_hidden(found.ignored, path)


async def _files_elsewhere(folder: Folder) -> tuple[str, ...]:
    """Return the files of the other folders as absolute paths, without ignored ones."""
    found: list[str] = []
    for root, ignored in folder.roots:
        names = await _list_files(folder.search, root)
        found += [f"{root}/{name}" for name in names if not ignored or not is_hidden(ignored, name)]
    return tuple(found)


async def _list_files(search: Search, workspace: Path) -> list[str]:
    try:
        return (await search.files(workspace, MOST_FILES))[0]
    except (ToolFailure, OSError):
        return []


def list_used_files(task: Task) -> tuple[str, ...]:
    """Return the files that the task changed or read, latest first."""
    paths: dict[str, None] = {}
    for message in reversed(task.state.messages):
        for call in getattr(message, "tool_calls", ()):
            if isinstance(path := call.arguments.get("path"), str):
                paths.setdefault(path.removeprefix("./"))
    return (*paths, *sorted(task.state.files.changed - paths.keys()))


def _order_files(files: list[str], first: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Return the files that are not ignored, used ones first, and the number of used ones."""
    shown = [path for path in files if not ignored or not is_hidden(ignored, path)]
    known = set(shown)
    recent = [path for path in first if path in known]
    return tuple(dict.fromkeys([*recent, *shown])), len(recent)
