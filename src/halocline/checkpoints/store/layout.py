"""The files of a store on disk, written without starting git.

Its configuration is complete and isolated: no hooks, no signing, no filters, no excludes but ours. Bytes are saved as
they are, whatever the project's `.gitattributes` says about line endings, encodings and filters.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from halocline.checkpoints.store.objects import write_private
from halocline.files.folder_mark import read_mark
from halocline.files.regular import read_beginning
from halocline.files.stamp import is_settled
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import IGNORE_FILES

JOURNAL = "restoring.json"
"""File name of the journal of a running restore."""
_CONFIG = """[core]
	repositoryFormatVersion = 0
	bare = false
	fileMode = true
	logAllRefUpdates = false
	autocrlf = false
	quotePath = false
	untrackedCache = false
	protectNTFS = false
	protectHFS = false
	fsmonitor = false
	hooksPath = /dev/null
	excludesFile = /dev/null
	attributesFile = /dev/null
[user]
	name = Halocline
	email = checkpoints@halocline.invalid
[commit]
	gpgSign = false
[fastimport]
	unpackLimit = 1
[gc]
	auto = 0
[maintenance]
	auto = false
"""
_MACOS = """[core]
	ignoreCase = true
	precomposeUnicode = true
"""
_ATTRIBUTES = "* -text !eol !ident !filter !working-tree-encoding\n"
_HASH = compile_later(rb"[0-9a-f]{40}")
_MOST_RULES = 1 << 20
_UNREAD = "unread"
_TITLE = "Checkpoints of "
_MARKS = "folder"
"""File name of the marks of the folders whose checkpoints these are (`files/folder_mark`), the newest first."""
_MOST_MARKS = 16
_SPECIAL = frozenset("\\*?[ ")


def prepare_store(store: Path, workspace: Path) -> bool:
    """Create the store, or correct what differs. The store's lock must be held.

    Returns True if the rules for files to leave out changed.
    """
    for folder in (store, store / "info", store / "objects", store / "refs"):
        folder.mkdir(mode=0o700, exist_ok=True)
    _write_if_changed(store / "HEAD", "ref: refs/heads/none\n")
    _write_if_changed(store / "config", _CONFIG + _MACOS if sys.platform == "darwin" else _CONFIG)
    note_workspace(store, workspace)
    note_mark(store, read_mark(workspace))
    _write_if_changed(store / "info" / "attributes", _ATTRIBUTES)
    never = build_never(workspace) + _name_own_home(store, workspace)
    is_changed = _write_if_changed(never_file(store), never)
    return _write_if_changed(store / "info" / "exclude", _read_own("excludes.txt") + never) or is_changed


def read_workspace(store: Path) -> str:
    """Return the workspace of a store; empty if it is not recorded."""
    title = store / "description"
    if not title.is_file():
        return ""
    return title.read_text(encoding="utf-8", errors="replace").strip().removeprefix(_TITLE)


def note_workspace(store: Path, workspace: Path) -> None:
    """Record the place of the workspace."""
    _write_if_changed(store / "description", f"{_TITLE}{workspace}\n")


def read_marks(store: Path) -> tuple[str, ...]:
    """Return the marks of the folders that used a store at its place, the newest first; none if not recorded.

    There are several if a folder was deleted, or renamed, and another one made in its place.
    """
    try:
        return tuple((store / _MARKS).read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return ()


def note_mark(store: Path, mark: str, *, alone: bool = False) -> None:
    """Record that a folder with this mark uses the store, `alone` or beside those before it."""
    earlier = () if alone else (one for one in read_marks(store) if one != mark)
    _write_if_changed(store / _MARKS, "\n".join([mark, *earlier][:_MOST_MARKS]).strip() + "\n")


def is_prepared(store: Path) -> bool:
    """True if the store was made; else it holds at most contents that were kept before its first checkpoint."""
    return (store / "HEAD").exists()


def never_file(store: Path) -> Path:
    """The file with the patterns of what is not saved even if git tracks it."""
    return store / "info" / "never"


def stamp_store(store: Path, workspace: Path) -> tuple[int, ...]:
    """Return what `prepare_store` would see: while it stays the same, there is nothing to correct.

    Empty if something is missing, or changed too recently for another change to show.
    """
    found: list[int] = []
    try:
        for place in (f"{store}/objects", f"{store}/refs"):
            found.append(os.stat(place).st_ino)
        for place in _list_prepared(store, workspace):
            one = os.stat(place)
            if not is_settled(one.st_ctime_ns, time.time_ns(), fine=bool(one.st_ctime_ns % 1_000_000)):
                return ()
            found += (one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns)
    except OSError:
        return ()
    return tuple(found)


def _list_prepared(store: Path, workspace: Path) -> list[str]:
    """List the files that `prepare_store` writes, and those of the workspace that it reads."""
    written = [
        f"{store}/{name}"
        for name in ("HEAD", "config", "description", _MARKS, "info/attributes", "info/exclude", "info/never")
    ]
    return written + [place for name in IGNORE_FILES if os.path.lexists(place := f"{workspace}/{name}")]


def set_alternate(store: Path, objects: Path | None) -> None:
    """Let the store also find objects in another object folder; None: only in its own."""
    place = alternates_file(store)
    if objects is None:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(mode=0o700, exist_ok=True)
    _write_if_changed(place, f"{objects}\n")


def alternates_file(store: Path) -> Path:
    """The file that names other object folders."""
    return store / "objects" / "info" / "alternates"


def redirect_alternate(store: Path, former: str, workspace: Path) -> None:
    """Let the store find what it borrows from a project's git in a folder that was renamed."""
    with suppress(FileNotFoundError):
        borrowed = Path(os.fsdecode(alternates_file(store).read_bytes()).rstrip("\n"))
        if borrowed.is_relative_to(former):
            set_alternate(store, workspace / borrowed.relative_to(former))


@contextmanager
def without_alternates(store: Path) -> Iterator[Callable[[], None]]:
    """Let the store find only its own objects; for good, if the yielded function is called."""
    place, aside = alternates_file(store), _aside_place(store)
    place.rename(aside)
    try:
        yield lambda: aside.unlink(missing_ok=True)
    finally:
        with suppress(FileNotFoundError):
            aside.rename(place)


def _aside_place(store: Path) -> Path:
    return alternates_file(store).with_name("alternates.aside")


def clear_up(store: Path, refs: str) -> None:
    """Clean up after a killed process; `refs` is the folder of references that we write."""
    with suppress(FileNotFoundError):
        _aside_place(store).rename(alternates_file(store))
    stale = [store / "index.lock"] if os.path.lexists(store / "index.lock") else []
    with suppress(FileNotFoundError):
        stale += [store / refs / name for name in os.listdir(store / refs) if name.endswith(".lock")]
    for lock in stale:
        lock.unlink(missing_ok=True)


def note_unread(store: Path, count: int) -> None:
    """Record the number of files still to be read before the first checkpoint, or another large one, is complete."""
    place = store / _UNREAD
    if count:
        write_private(place, b"%d" % count)
    else:
        place.unlink(missing_ok=True)


def read_unread(store: Path) -> int:
    """Return the recorded number of files still to be read; 0 when all are read."""
    try:
        return int((store / _UNREAD).read_bytes() or 0)
    except (OSError, ValueError):
        return 0


def mend_store(store: Path) -> None:
    """Set aside a file in place of the store, and drop unreadable lines from the list of cut commits (`shallow`)."""
    if store.exists() and not store.is_dir():
        put_aside(store, time.time())
    shallow = store / "shallow"
    with suppress(FileNotFoundError):
        lines = shallow.read_bytes().splitlines()
        if not all(map(_HASH.fullmatch, lines)):
            write_private(
                shallow.with_name("shallow.new"), b"".join(b"%b\n" % one for one in lines if _HASH.fullmatch(one))
            )
            shallow.with_name("shallow.new").replace(shallow)


def put_aside(store: Path, moment: float) -> Path:
    """Rename a store, so that a new one can be created in its place; `moment` is in Unix seconds."""
    aside = store.with_name(f"{store.name}.damaged-{moment:.3f}")
    store.rename(aside)
    return aside


def bring_back(aside: Path, store: Path) -> None:
    """Undo `put_aside`; the new store is deleted."""
    import shutil

    shutil.rmtree(store)
    aside.rename(store)


def _write_if_changed(path: Path, text: str) -> bool:
    data = text.encode(errors="surrogateescape")
    if path.exists() and path.read_bytes() == data:
        return False
    new = path.with_suffix(".new")
    write_private(new, data)
    new.replace(path)
    return True


def _hidden_patterns(workspace: Path) -> str:
    """Patterns of files that the workspace hides from the model; checkpoints leave them out too."""
    lines = ""
    for name in IGNORE_FILES:
        with suppress(OSError):
            lines += read_beginning(workspace / name, _MOST_RULES).decode("utf-8", "surrogateescape") + "\n"
    return lines


def build_excludes(workspace: Path) -> str:
    """Return the patterns of what checkpoints leave out; the workspace's `.gitignore` files have the last word."""
    return _read_own("excludes.txt") + build_never(workspace)


def build_never(workspace: Path) -> str:
    """Return the patterns of what no checkpoint of a workspace holds even if git tracks it."""
    return _read_own("never.txt") + _hidden_patterns(workspace)


def _read_own(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _name_own_home(store: Path, workspace: Path) -> str:
    """Return the pattern of our own files, which are not the project's wherever they are; empty if they are outside."""
    if not store.is_relative_to(workspace):
        return ""
    home = store.parents[1]
    place = home if home != workspace and home.is_relative_to(workspace) else store.parent
    inside = os.fspath(place.relative_to(workspace))
    return "/" + "".join(f"\\{char}" if char in _SPECIAL else char for char in inside) + "/\n"
