"""Begins a store with the index and the objects of the project's own git, which are only read.

Git then reads no file whose time and size its index knows. What our rules leave out, and what git keeps in another form
than the file has (line ends, filters), is not taken over.
The objects stay the project's until `upkeep` has copied them.
"""

import os
import re
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from shutil import rmtree

from msgspec.structs import replace

from halocline.checkpoints.store import layout
from halocline.checkpoints.store.foreign_index import ForeignIndex, Unreadable, parse_index
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.checkpoints.store.index import list_differing
from halocline.checkpoints.store.objects import write_private
from halocline.checkpoints.store.suspects import build_suspicion
from halocline.files.regular import open_regular, read_regular
from halocline.git.repository import GitUnusable, Repository, check_ownership, find_repository

_CONVERTED = re.compile(rb"\b(filter|ident|working-tree-encoding)\b")
_CONVERSIONS = ("filter", "ident", "working-tree-encoding")
# What would make objects unreadable for a store without the same settings, or converts line ends.
_TELLING = re.compile(r"core\.(autocrlf|attributesfile)|extensions\.(objectformat|partialclone)")
_NO = ("false", "0", "no", "off")
_MOST_INDEX = 256 << 20


def borrow_index(git: Git, largest: int) -> list[bytes] | None:
    """Let the store begin with what the project's git knows of its files, unless that cannot be done.

    Gives what differs from the index then, if that is known already.
    """
    lender = find_lender(git.workspace)
    if lender is None or not _may_be_named(lender.common):
        return None
    try:
        return _borrow_from(git, lender, largest)
    except (OSError, Unreadable, GitFailed, GitUnusable):
        layout.lend_objects(git.store, None)
        return None


def _borrow_from(git: Git, lender: Repository, largest: int) -> list[bytes] | None:
    changed_at, data = _read_stable(lender.folder / "index")
    layout.lend_objects(git.store, lender.common / "objects")
    is_whole = git.workspace == lender.top
    index = git.store / "index.borrowed"
    # Git compares the files while the index is looked through, as nearly always nearly all of it can be used.
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        listing: Future[list[bytes]] | None = None
        if is_whole:
            _write_index(index, data, changed_at)
            listing = pool.submit(list_differing, replace(git, index=index))
        settings = _conflicting_settings(lender)
        if any(key.startswith("extensions.") for key in settings):
            raise Unreadable("its objects are of another form")
        found = parse_index(data)
        below = b"" if is_whole else os.fsencode(git.workspace.relative_to(lender.top)) + b"/"
        usable = _usable_entries(git, lender, found, _plain_entries(found, below, largest), bool(settings))
        ignored = _ignored_names(git, [found.paths[n][len(below) :] for n in usable] if below else found.paths)
        kept = [n for n in usable if found.paths[n][len(below) :] not in ignored] if ignored else usable
        differences = listing.result() if listing else None
    if len(kept) < len(found.paths):
        content = found.of(kept, below)
        _write_index(index, content + sha1(content, usedforsecurity=False).digest(), changed_at)
    # Only now: an index that was not gone through holds what must not be saved.
    index.rename(git.store / "index")
    if differences is None or len(usable) < len(found.paths):
        return None
    return [record for record in differences if record[2:] not in ignored]


def find_lender(workspace: Path) -> Repository | None:
    """The repository of the person's in whose work tree a folder lies, when it has something to lend."""
    try:
        found = find_repository(workspace, os.environ)
        check_ownership(found)
    except GitUnusable:
        return None
    return found if (found.folder / "index").is_file() and (found.common / "objects").is_dir() else None


def _may_be_named(place: Path) -> bool:
    """Whether a file of alternates can hold the path as it is."""
    return "\n" not in os.fspath(place)


def _conflicting_settings(lender: Repository) -> list[str]:
    """Keys of settings in force for the project that tell against taking over its index as it is."""
    telling = (setting for setting in lender.settings if _TELLING.fullmatch(setting.key))
    return [setting.key for setting in telling if setting.value.lower() not in _NO]


def _read_stable(path: Path) -> tuple[int, bytes]:
    """When it was written, and what it holds: both of the same file, which git may replace at any time."""
    with open_regular(path) as file:
        info = os.fstat(file.fileno())
        if info.st_size > _MOST_INDEX:
            raise Unreadable("it is very large")
        return info.st_mtime_ns, file.read()


def _plain_entries(found: ForeignIndex, below: bytes, largest: int) -> Sequence[int]:
    """The entries in the workspace that are files of which git knows everything, and not too large."""
    entries: Sequence[int] = range(len(found.paths))
    if found.odd or max(found.sizes, default=0) > largest:
        entries = [n for n in entries if n not in found.odd and found.sizes[n] <= largest]
    return [n for n in entries if found.paths[n].startswith(below)] if below else entries


def _ignored_names(git: Git, paths: Sequence[bytes]) -> frozenset[bytes]:
    """Which of them our own rules leave out although the project keeps them."""
    rules = (git.store / "info" / "exclude").read_bytes().splitlines()
    suspects = build_suspicion(rules).among(paths)
    if not suspects:
        return frozenset()
    # 1 says that none is ignored.
    answer = git.run("check-ignore", "--no-index", "-z", "--stdin", data=b"\0".join(suspects) + b"\0", accept=(0, 1))
    return frozenset(answer.split(b"\0"))


def _usable_entries(
    git: Git, lender: Repository, found: ForeignIndex, entries: Sequence[int], may_convert: bool
) -> Sequence[int]:
    """Those that the project's git keeps as they are on the disk."""
    rules = _attribute_files(lender, found.paths)
    if not entries or not (may_convert or rules):
        return entries
    if may_convert or any(_CONVERTED.search(read_regular(path)) for path in rules):
        converted = _converted_names(git, lender, [found.paths[n] for n in entries])
        entries = [n for n in entries if found.paths[n] not in converted]
    # Other line ends are another size.
    shas = "".join(f"{found.sha(n)}\n" for n in entries).encode()
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", data=shas).split(b"\n") if entries else ()
    return [n for n, size in zip(entries, sizes, strict=False) if size == b"%d" % found.sizes[n]]


def _attribute_files(lender: Repository, paths: Sequence[bytes]) -> list[Path]:
    """The files that may say how the project's files are kept, the person's own and the project's."""
    inside = [os.fsdecode(path) for path in paths if path.endswith(b".gitattributes")]
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "git", "attributes")
    above = (lender.top / ".gitattributes", lender.common / "info" / "attributes", own)
    return [place for place in (*above, *(lender.top / path for path in inside)) if place.is_file()]


def _converted_names(git: Git, lender: Repository, paths: Sequence[bytes]) -> frozenset[bytes]:
    data = b"\0".join(paths) + b"\0"
    from halocline.git.view import lend_folder  # few projects convert what they keep

    place = lend_folder(lender, os.environ)
    try:
        asked = replace(git, store=place, workspace=lender.top)
        answer = asked.run("check-attr", "-z", "--stdin", *_CONVERSIONS, data=data)
    finally:
        rmtree(place, ignore_errors=True)
    fields = answer.split(b"\0")
    settled = (b"unspecified", b"unset")
    return frozenset(path for path, value in zip(fields[0::3], fields[2::3], strict=False) if value not in settled)


def _write_index(path: Path, content: bytes, changed_at: int) -> None:
    """With the time of the original: git tells by it which files may have changed in the moment of writing."""
    write_private(path, content)
    os.utime(path, ns=(changed_at, changed_at))
