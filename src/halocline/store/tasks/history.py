"""Tasks on disk: finds and deletes them, and reads the two ends of a log. The logs are the truth.

Nothing is cached here. Lists and searches use `index`, so that running a prompt does not pay for it.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.protocol import codec
from halocline.protocol.errors import TaskNotFound, UsageError
from halocline.protocol.events import MessageQueued, TaskStarted, TurnEnded, TurnStarted
from halocline.protocol.messages import Text
from halocline.protocol.patterns import compile_later
from halocline.protocol.queries.tasks import TaskInfo
from halocline.store.paths import Home
from halocline.store.tasks.renamed import NOWHERE, FoldersHere

HEAD = 64 * 1024
TAIL = 16 * 1024
"""Bytes read from either end of a log for its row in a list."""
_SURE = 86_400.0
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_CHOSEN_ID = compile_later(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def new_task_id(letters: int = 4) -> str:
    """Return a new id, sortable by time and short enough to type; with more letters where many begin in a second."""
    return time.strftime("%y%m%d-%H%M%S-") + "".join(ALPHABET[byte % len(ALPHABET)] for byte in os.urandom(letters))


def check_new_id(home: Home, task: str) -> None:
    """Check an id that a person chose for a new task. Raises UsageError if it is taken, or cannot be one."""
    if not _CHOSEN_ID.fullmatch(task):
        raise UsageError(f"{task!r} cannot be the ID of a task.", "Use a UUID, or letters, digits, dots, - and _.")
    if (home.tasks / task).exists() or (home.trash / task).exists():
        raise UsageError(f"Task {task} exists.", f"Resume it: halo -r {task}, or choose another ID.")


def newest_first(folder: Path) -> Iterator[TaskInfo]:
    """Yield all tasks, the latest change first; each is read on demand. Unreadable ones are skipped."""
    logs = []
    for entry in _list_folders(folder):
        with suppress(FileNotFoundError):
            logs.append((os.stat(entry / codec.LOG_NAME).st_mtime_ns, entry))
    for _, entry in sorted(logs, reverse=True):
        if info := _read_info(entry):
            yield info


def newest_of(folder: Path, workspace: str) -> Iterator[TaskInfo]:
    """Yield the tasks of a workspace, the latest change first, without those of sub-agents."""
    here = FoldersHere([workspace])
    for info in newest_first(folder):
        if info.parent or not (info.workspace == workspace or here.has(info.folder_mark)):
            continue
        placed = here.locate_logged(info, folder / info.task / codec.LOG_NAME)
        if placed.workspace == workspace:
            yield placed


def task_info(folder: Path, task: str, here: FoldersHere = NOWHERE) -> TaskInfo | None:
    """Return one task by its full id; None if it cannot be read."""
    info = _read_info(folder / task)
    return here.locate_logged(info, folder / task / codec.LOG_NAME) if info else None


def find_task(folder: Path, name: str, where: str = "See them with: halo tasks list") -> str:
    """Return the full id for an id, or for an unambiguous beginning or end of one.

    Raises:
        TaskNotFound: no task matches.
        UsageError: several tasks match.
    """
    ids = [entry.name for entry in _list_folders(folder)] if folder.exists() else []
    if name in ids:
        return name
    fitting = [task for task in ids if name and (task.startswith(name) or task.endswith(name))]
    if not fitting:
        raise TaskNotFound(f"There is no task {name!r}.", where)
    if len(fitting) > 1:
        shown = ", ".join(sorted(fitting)[:5])
        raise UsageError(f"{name!r} matches {len(fitting)} tasks: {shown}.", "Type more of the id.")
    return fitting[0]


def forget_task(folder: Path, task: str) -> None:
    """Delete a task permanently. Its blobs stay, because they may be shared."""
    import shutil  # few processes delete tasks

    with suppress(FileNotFoundError):  # another process was faster
        shutil.rmtree(folder / task)
    _old_mark(folder, task).unlink(missing_ok=True)


def put_away(folder: Path, task: str, trash: Path) -> None:
    """Move a task to the trash, if it is still there; the time of its folder says when."""
    trash.mkdir(exist_ok=True, mode=0o700)
    with suppress(FileNotFoundError):
        (folder / task).rename(trash / task)
        os.utime(trash / task)


def take_back(trash: Path, task: str, folder: Path) -> None:
    """Restore a task from the trash. Raises TaskNotFound if another process did, or deleted it for good."""
    try:
        (trash / task).rename(folder / task)
    except FileNotFoundError:
        raise TaskNotFound(f"Task {task} is no longer in the trash.", "See the tasks: halo tasks list") from None
    _old_mark(trash, task).unlink(missing_ok=True)


def _old_mark(trash: Path, task: str) -> Path:
    """Return the file that marks a task as long in the trash."""
    return trash / f"{task}.old"


def put_away_at(trash: Path) -> list[tuple[TaskInfo, float]]:
    """Return the tasks in the trash, each with its deletion time, the latest first."""
    if not trash.exists():
        return []
    found = []
    for entry in _list_folders(trash):
        with suppress(FileNotFoundError):
            if info := _read_info(entry):
                found.append((info, entry.stat().st_mtime))
    return sorted(found, key=lambda pair: pair[1], reverse=True)


def list_outdated(trash: Path, seconds: float, now: float) -> list[str]:
    """Return the tasks that have been in the trash for `seconds` and can be deleted permanently.

    An old task is first only marked, and is outdated a day later: a clock that is wrong for an hour deletes no task.
    """
    found = []
    for entry in _list_folders(trash) if trash.exists() else ():
        with suppress(FileNotFoundError):
            if _is_outdated(entry, _old_mark(trash, entry.name), seconds, now):
                found.append(entry.name)
    return found


def _is_outdated(entry: Path, mark: Path, seconds: float, now: float) -> bool:
    if now - entry.stat().st_mtime < seconds:
        mark.unlink(missing_ok=True)
    elif not mark.exists():
        mark.touch(mode=0o600)
        os.utime(mark, (now, now))
    elif now - mark.stat().st_mtime >= _SURE:
        return True
    return False


def _list_folders(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and os.path.exists(os.path.join(entry.path, codec.LOG_NAME)):
                yield Path(entry.path)


def _read_info(folder: Path) -> TaskInfo | None:
    path = folder / codec.LOG_NAME
    try:
        stat = path.stat()
        with open(path, "rb") as file:
            head = file.read(HEAD)
            file.seek(max(0, stat.st_size - TAIL))
            tail = file.read()
        started = codec.decode(head.split(b"\n", 1)[0])
    except (OSError, msgspec.DecodeError):
        return None
    if not isinstance(started, TaskStarted):
        return None
    return TaskInfo(
        task=folder.name,
        title=_read_title(head),
        workspace=started.workspace,
        model=started.model,
        started_at=started.at,
        changed_at=stat.st_mtime,
        status=_read_status(tail),
        size=stat.st_size,
        parent=started.subtask.parent if started.subtask else "",
        folder_mark=started.folder_mark,
    )


def _read_title(head: bytes) -> str:
    for line in head.split(b"\n")[1:]:
        if b'"type":"turn_started"' in line or b'"type":"message_queued"' in line:
            try:
                event = codec.decode(line)
            except msgspec.DecodeError:
                return ""
            if isinstance(event, TurnStarted | MessageQueued):
                words = "".join(part.text for part in event.content if isinstance(part, Text)).strip()
                return words.split("\n", 1)[0][:120]
    return ""


def _read_status(tail: bytes) -> str:
    for line in reversed(tail.split(b"\n")):
        if b'"type":"turn_ended"' in line:
            try:
                event = codec.decode(line)
            except msgspec.DecodeError:
                continue
            return event.reason.value if isinstance(event, TurnEnded) else ""
        if b'"type":"turn_started"' in line or b'"type":"step_started"' in line:
            return "unfinished"
    return "unfinished"
