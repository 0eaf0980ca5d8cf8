"""What a surface's composer asks: what can be mentioned here, and how a path is written as a mention."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from halocline.context.user_files.mentions import as_mention as as_mention, quiet_mentions as quiet_mentions
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
    "problems": "errors that language servers know of",
    "terminal": "the latest command's output, and the jobs",
    "git-changes": "what is not committed",
}
"""What each fixed word gives; the composer shows it."""


class Mentionable(Value, frozen=True):
    """Paths of files; the first so many, `recent`, the task used lately. Commits and tasks by name and title."""

    files: tuple[str, ...] = ()
    recent: int = 0
    commits: tuple[tuple[str, str], ...] = ()
    tasks: tuple[tuple[str, str], ...] = ()
    workspace: str = "."
    ignored: tuple[str, ...] = ()


class Folder(Value, frozen=True):
    """Where is looked: a folder, what looks there, and the lines of the files that hide files.

    `roots` are the task's other folders, each with such lines.
    """

    workspace: Path
    search: Search
    revisions: Revisions
    ignored: tuple[str, ...]
    roots: tuple[tuple[Path, tuple[str, ...]], ...] = ()


async def list_mentionable(task: Task, home: Home) -> Mentionable:
    """What can be mentioned in a task. Files that ignore files hide are not among it."""
    state, host = task.state, task.host
    folder = folder_of(
        Path(state.workspace), state.roots, host.permissions.book(), host.tools.search, host.tools.revisions
    )
    return await mentionable_in(folder, home, state.task, list_used_files(task))


def folder_of(workspace: Path, roots: Sequence[str], book: RuleBook, search: Search, revisions: Revisions) -> Folder:
    """A task's folders, with what its rules say is hidden in each."""
    lines = {root.path: root.ignored for root in book.roots}
    others = tuple((Path(root), lines.get(root, ())) for root in roots)
    return Folder(workspace, search, revisions, book.ignored, others)


async def mentionable_in(folder: Folder, home: Home, task: str = "", latest: tuple[str, ...] = ()) -> Mentionable:
    """The same of a folder, for a task that is yet to begin, or for `task`, which used these files lately."""
    workspace, lines = folder.workspace, folder.ignored
    files, elsewhere, commits, tasks = await asyncio.gather(
        _list_files(folder.search, workspace),
        _files_elsewhere(folder),
        folder.revisions.commits(MOST_COMMITS),
        asyncio.to_thread(lambda: list(history.newest_first(home.tasks))),
    )
    others = [info for info in tasks if info.workspace == str(workspace) and info.task != task and not info.parent]
    ordered, recent = await asyncio.to_thread(_order_files, files, latest, lines)
    ordered += elsewhere
    named = tuple((info.task, info.title) for info in others[:MOST_TASKS])
    return Mentionable(ordered, recent, commits, named, str(workspace), lines)


def paths_beside(begun: str, found: Mentionable, most: int) -> list[str]:
    """Paths that the list of files has not: those with a dot before them, and those outside, as they are typed."""
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
    """The files of the other folders, whole paths, without those that ignore files hide."""
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
    """Files that the task changed or read, the latest first."""
    paths: dict[str, None] = {}
    for message in reversed(task.state.messages):
        for call in getattr(message, "tool_calls", ()):
            if isinstance(path := call.arguments.get("path"), str):
                paths.setdefault(path.removeprefix("./"))
    return (*paths, *sorted(task.state.files_changed - paths.keys()))


def _order_files(files: list[str], first: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """The files that are not hidden, and how many of them, at the front, were used."""
    shown = [path for path in files if not ignored or not is_hidden(ignored, path)]
    known = set(shown)
    recent = [path for path in first if path in known]
    return tuple(dict.fromkeys([*recent, *shown])), len(recent)
