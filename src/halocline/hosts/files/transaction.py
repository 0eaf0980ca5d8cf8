"""Changes several files, all or none, even if the process is killed between two of them.

A journal is written first. Then each new file is written beside its place and each old file gets a second name; then
the files are switched by renaming. Renaming the journal commits the change. A journal that is still there belongs to a
process that died, and its change is undone: the task's log does not contain it either, so both agree. If a file was
changed since then, no file is touched.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from errno import EINVAL
from hashlib import sha256
from pathlib import Path

import msgspec

from halocline.files.target import MayWrite, Target, admit_path, hold_target, write_whole
from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.protocol.file_locks import PATIENCE, lock_file
from halocline.protocol.private_files import make_private_folder
from halocline.protocol.values import Value

_OPEN, _DONE, _STAGED = ".journal", ".done", b"staged\n"
UNREADABLE = ".unreadable"
"""Suffix of a journal that cannot be read. It is kept and blocks nothing."""
_CHANGES = "is changing several files"
PUT_ASIDE = (
    "The journal of a change to several files cannot be read; it is now {kept}. If that change was interrupted, files "
    "named .halo-*.old beside the changed ones have their old content."
)
_NOTHING = ""


class Entry(Value, frozen=True):
    """One file of a change: its resolved path, the names beside it, and hashes of before and after (empty: no file)."""

    path: str
    new: str
    old: str
    before: str
    after: str


class Plan(Value, frozen=True):
    """All files of a change, and the folders it has to create, outermost first."""

    entries: tuple[Entry, ...] = ()
    folders: tuple[str, ...] = ()


def change_files(
    folder: Path | None,
    writes: Sequence[FileWrite],
    may_write: MayWrite | None = None,
    given_up: Callable[[], bool] = lambda: False,
    patience: float = PATIENCE,
) -> None:
    """Write all files or none. Without a folder for the journal, a killed process may leave half of the change.

    Nothing starts once `given_up` returns True.

    Raises:
        OSError: `may_write` refuses a resolved path, or another process keeps the lock longer than `patience` seconds.
        FileChangedOutside: a file does not have the expected content.
    """
    entries = tuple(_make_entry(write, may_write) for write in writes)
    if twice := [entry.path for entry in entries if sum(other.path == entry.path for other in entries) > 1]:
        raise OSError(EINVAL, "named twice in one change", twice[0])
    plan = Plan(entries, tuple(_missing_folders(entries)))
    if folder is None:
        _carry_out(plan, writes, None)
        return
    make_private_folder(folder)
    # With the lock held, any journal there belongs to a dead process.
    with lock_file(folder / "lock", _CHANGES, patience, given_up):
        _mend_folder(folder)
        _carry_out(plan, writes, folder)


def mend_files(folder: Path | None, patience: float = PATIENCE) -> list[str]:
    """Undo the unfinished changes of dead processes; returns a sentence for each, and for what prevented it."""
    if folder is None or not _leftover_journals(folder):
        return []
    try:
        with lock_file(folder / "lock", _CHANGES, patience):
            return _mend_folder(folder)
    except OSError as error:
        return [f"Could not check for interrupted changes to several files: {error.strerror}."]


def _make_entry(write: FileWrite, may_write: MayWrite | None) -> Entry:
    tag = os.urandom(6).hex()
    path = os.path.realpath(write.path)
    if write.data is None and os.path.islink(write.path):
        path = os.path.join(os.path.realpath(write.path.parent), write.path.name)  # which `look` refuses
    new, old = (f".halo-{tag}.{kind}" for kind in ("tmp", "old"))
    return Entry(admit_path(path, may_write), new, old, _hash_of(write.expected), _hash_of(write.data))


def _hash_of(data: bytes | None) -> str:
    return _NOTHING if data is None else sha256(data).hexdigest()


def _missing_folders(entries: Sequence[Entry]) -> list[str]:
    parents = {str(parent) for entry in entries if entry.after for parent in Path(entry.path).parents}
    return sorted(folder for folder in parents if not os.path.isdir(folder))


def _carry_out(plan: Plan, writes: Sequence[FileWrite], folder: Path | None) -> None:
    journal = folder / f"{os.urandom(8).hex()}{_OPEN}" if folder else None
    put_back = _remove_traces
    with ExitStack() as stack:
        try:
            _write_line(journal, msgspec.json.encode(plan) + b"\n")
            targets = [
                stack.enter_context(hold_target(Path(e.path), making_folders=bool(e.after))) for e in plan.entries
            ]
            for target, entry, write in zip(targets, plan.entries, writes, strict=True):
                _stage_file(target, entry, write)
            for target, entry, write in zip(targets, plan.entries, writes, strict=True):
                if _hash_of(target.content()) != entry.before:
                    raise FileChangedOutside(str(write.path))
            _write_line(journal, _STAGED)
            put_back = _put_back
            for target, entry in zip(targets, plan.entries, strict=True):
                _switch_file(target, entry)
            _finish_change(journal, plan)
        except BaseException:
            put_back(plan)
            if journal:
                journal.unlink(missing_ok=True)
            raise


def _write_line(journal: Path | None, line: bytes) -> None:
    if journal is None:
        return
    fd = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        write_whole(fd, line)
        os.fsync(fd)
    finally:
        os.close(fd)


def _stage_file(target: Target, entry: Entry, write: FileWrite) -> None:
    found = target.writable()
    if found is not None:
        target.keep(entry.old, sync=True)
    if write.data is not None:
        like = found or (write.like.stat() if write.like else None)
        target.stage(entry.new, write.data, like, sync=True)


def _switch_file(target: Target, entry: Entry) -> None:
    if not entry.after:
        target.drop()
    elif entry.before:
        target.replace(entry.new)
    else:
        try:
            target.appear(entry.new)
        except FileExistsError:
            raise FileChangedOutside(entry.path) from None


def _finish_change(journal: Path | None, plan: Plan) -> None:
    """Commit the change and clean up; if cleaning up fails, the next change or start does it."""
    done = journal.replace(journal.with_suffix(_DONE)) if journal else None
    with suppress(OSError):
        _remove_traces(plan)
        if done:
            done.unlink()


def _mend_folder(folder: Path) -> list[str]:
    messages = []
    for journal in _leftover_journals(folder):
        try:
            plan, staged = _read_journal(journal)
        except (msgspec.DecodeError, RecursionError):
            kept = journal.replace(journal.with_suffix(UNREADABLE))
            messages.append(PUT_ASIDE.format(kept=kept))
            continue
        if plan is None or journal.suffix == _DONE:
            _remove_traces(plan or Plan())
        elif not all(os.path.isdir(os.path.dirname(entry.path)) or not entry.before for entry in plan.entries):
            continue  # its disk is not mounted now; the next start tries again
        elif not staged:
            _remove_traces(plan)
        else:
            messages.append(_put_back_if_untouched(plan))
        journal.unlink()
    return messages


def _leftover_journals(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    return [folder / name for name in names if name.endswith((_OPEN, _DONE))]


def _read_journal(journal: Path) -> tuple[Plan | None, bool]:
    """A journal's plan, and True if files may have been switched; no plan if its first line is incomplete."""
    first, newline, rest = journal.read_bytes().partition(b"\n")
    return (msgspec.json.decode(first, type=Plan) if newline else None), rest == _STAGED


def _put_back_if_untouched(plan: Plan) -> str:
    names = ", ".join(entry.path for entry in plan.entries)
    changed = [entry.path for entry in plan.entries if not _is_ours(entry)]
    if changed:
        _remove_traces(plan)
        return (
            f"A change to {names} was interrupted when Halocline was killed. It was not undone, because "
            f"{', '.join(changed)} changed since: check that the files fit together."
        )
    _put_back(plan)
    return f"A change to {names} was interrupted when Halocline was killed. It was undone; all files are as before."


def _is_ours(entry: Entry) -> bool:
    """True if a file is still as the change found it or left it."""
    with suppress(FileNotFoundError), hold_target(Path(entry.path)) as target:
        return _hash_of(target.content()) in (entry.before, entry.after)
    return not entry.before


def _put_back(plan: Plan) -> None:
    """Restore every file that is as the change left it; others were not reached or changed since."""
    for entry in plan.entries:
        with suppress(FileNotFoundError), hold_target(Path(entry.path)) as target:
            if entry.before == entry.after or _hash_of(target.content()) != entry.after:
                continue
            if entry.before:
                target.replace(entry.old)
            elif target.content(entry.new) is None or target.is_same(entry.new):
                target.drop()
    _remove_traces(plan)


def _remove_traces(plan: Plan) -> None:
    """Remove the temporary files, and folders that the change created and left empty."""
    for entry in plan.entries:
        with suppress(FileNotFoundError), hold_target(Path(entry.path)) as target:
            target.drop(entry.new)
            target.drop(entry.old)
    for folder in reversed(plan.folders):
        with suppress(OSError), hold_target(Path(folder)) as target:
            os.rmdir(target.name, dir_fd=target.folder)
