"""Find and remove what killed processes left behind: half-written files, in the home and beside edited files.

What must stay true: nothing that a running process may still use is removed. An open task (its lock is held) keeps its
files, and files without a task must be old.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from halocline.hosts.files.local import has_journals, temporaries_beside
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import HaloclineError
from halocline.runtime.resume import edits_cut_short
from halocline.store.paths import Home
from halocline.store.tasks import history
from halocline.task import lock
from halocline.task.log_reading import read_log
from halocline.task.task import Task

OLD = 3600.0
"""Seconds after which a temporary file is certainly no longer being written."""
MONTH = 30 * 24 * 3600.0
"""Seconds that the first sweep goes back."""
UNFINISHED = "unfinished"
STAMP = "swept"
"""File in the home whose time marks the last sweep: logs changed before it need no search for interrupted edits."""
IN_HOME = (
    "*.tmp",
    ".*.tmp",
    "*.new",
    "hooks/.*.tmp",
    "rules/.*.tmp",
    "mcp/*.tmp",
    "cache/**/*.tmp",
    "cache/**/.*.tmp",
    "memory/.*.tmp",
    "blobs/??/*.tmp",
    "checkpoints/*.new",
    "checkpoints/*/*.new",
    "checkpoints/*/.*.tmp",
    "checkpoints/*/info/*.new",
    "checkpoints/*/objects/info/*.new",
    "checkpoints/*/merge-*",
    "checkpoints/*/objects/??/tmp_obj_*",
    "checkpoints/*/objects/pack/tmp_*",
)
"""Names of temporary files."""
OF_A_TASK = ("tasks/*/*.new", "tasks/*/*.tmp", "importing/*")
"""Temporary files of a task, or of a running import: unused if its lock is free."""


def find_litter(home: Home, now: float, changed_since: float = 0.0) -> Iterator[Path]:
    """Yield unused files; beside edited files, only those of tasks whose logs changed since then (Unix seconds)."""
    yield from (path for pattern in IN_HOME for path in home.root.glob(pattern) if _is_old(path, now))
    for pattern in OF_A_TASK:
        for path in home.root.glob(pattern):
            folder = path if path.parent == home.importing else path.parent
            if _is_old(path, now) and lock.read_owner(folder) is None:
                yield path
    if has_journals(home.edits):
        return  # the next task repairs an interrupted patch first, and needs what is beside its files
    for folder in _closed_tasks(home, changed_since):
        yield from _beside_edits(folder, now)


async def sweep_quietly(task: Task) -> None:
    """Sweep the home of a task in a thread, unless it is a sub-agent. Nothing fails."""
    if task.state.subagents.subtask is None:
        with suppress(OSError):
            await asyncio.to_thread(sweep_home, Home(task.home), time.time())


def sweep_home(home: Home, now: float) -> list[Path]:
    """Remove what was left since the last sweep, and return it. What cannot be removed stays."""
    stamp = home.root / STAMP
    since = stamp.stat().st_mtime if stamp.exists() else now - MONTH
    open_since = [log.stat().st_mtime for log in _list_logs(home) if lock.read_owner(log.parent) is not None]
    removed = remove_litter(list(find_litter(home, now, since)))
    stamp.touch(mode=0o600)
    os.utime(stamp, (now, min([now, *open_since])))
    return removed


def remove_litter(litter: list[Path]) -> list[Path]:
    """Remove files and folders; return those that are gone."""
    if not litter:
        return []
    from shutil import rmtree  # seldom anything is left

    for path in litter:
        if path.is_dir() and not path.is_symlink():
            rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
    return [path for path in litter if not os.path.lexists(path)]


def _is_old(path: Path, now: float) -> bool:
    try:
        return path.lstat().st_mtime < now - OLD
    except OSError:
        return False


def _list_logs(home: Home) -> Iterator[Path]:
    for folder in os.scandir(home.tasks):
        log = home.log(folder.name)
        if log.exists():
            yield log


def _closed_tasks(home: Home, changed_since: float) -> Iterator[Path]:
    """Yield the folders of closed tasks whose logs changed since then."""
    for log in _list_logs(home):
        with suppress(OSError):
            if log.stat().st_mtime >= changed_since and lock.read_owner(log.parent) is None:
                yield log.parent


def _beside_edits(folder: Path, now: float) -> list[Path]:
    """Return what interrupted edits left beside their files."""
    info = history.task_info(folder.parent, folder.name)
    if info is None or info.status != UNFINISHED:
        return []
    try:
        past = list(read_log(folder / LOG_NAME))
    except (HaloclineError, OSError):
        return []
    return temporaries_beside(edits_cut_short(past, Path(info.workspace)), int(now * 1e9))
