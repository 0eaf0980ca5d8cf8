"""Starts a store with the index and the objects of the project's own git, which are only read.

Git then skips files whose time and size the index knows. Files that our rules leave out, and files that git stores
converted (line endings, filters), are not taken over. The objects stay the project's until `upkeep` has copied them.
"""

import os
import re
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.index.index import list_differing
from halocline.checkpoints.selection.overruled import Never
from halocline.checkpoints.store import layout
from halocline.checkpoints.store.foreign_index import ForeignIndex, Unreadable, parse_index
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.checkpoints.store.objects import write_private
from halocline.checkpoints.store.suspects import build_suspicion
from halocline.files.regular import open_regular, read_regular
from halocline.git.repository import GitUnusable, Repository

_CONVERTED = re.compile(rb"\b(filter|ident|working-tree-encoding)\b")
_CONVERSIONS = ("filter", "ident", "working-tree-encoding")
# Settings that make objects unreadable for a store without them, or that convert line endings.
_TELLING = re.compile(r"core\.(autocrlf|attributesfile)|extensions\.(objectformat|partialclone)")
_NO = ("false", "0", "no", "off")
_MOST_INDEX = 256 << 20


def borrow_index(git: Git, largest: int) -> list[bytes] | None:
    """Start the store with the index of the project's git, if possible.

    Returns the files that differ from the index, if that is known already.
    """
    lender = git.tracked.repository if git.tracked else None
    if lender is None or not (lender.common / "objects").is_dir() or not _may_be_named(lender.common):
        return None
    try:
        return _borrow_from(git, lender, largest)
    except (OSError, Unreadable, GitFailed, GitUnusable):
        layout.set_alternate(git.store, None)
        return None


def _borrow_from(git: Git, lender: Repository, largest: int) -> list[bytes] | None:
    changed_at, data = _read_stable(lender.folder / "index")
    layout.set_alternate(git.store, lender.common / "objects")
    is_whole = git.workspace == lender.top
    index = git.store / "index.borrowed"
    # Git compares the files while we check the index, since nearly all of it can nearly always be used.
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
    # Only now: an unchecked index may contain what must not be saved.
    index.rename(git.store / "index")
    if differences is None or len(usable) < len(found.paths):
        return None
    return [record for record in differences if record[2:] not in ignored]


def _may_be_named(place: Path) -> bool:
    """True if the alternates file can contain the path as it is."""
    return "\n" not in os.fspath(place)


def _conflicting_settings(lender: Repository) -> list[str]:
    """Keys of the project's settings that prevent taking over its index as it is."""
    telling = (setting for setting in lender.settings if _TELLING.fullmatch(setting.key))
    return [setting.key for setting in telling if setting.value.lower() not in _NO]


def _read_stable(path: Path) -> tuple[int, bytes]:
    """Modification time and content of one and the same file; git may replace it at any time."""
    with open_regular(path) as file:
        info = os.fstat(file.fileno())
        if info.st_size > _MOST_INDEX:
            raise Unreadable("it is very large")
        return info.st_mtime_ns, file.read()


def _plain_entries(found: ForeignIndex, below: bytes, largest: int) -> Sequence[int]:
    """The entries that are ordinary files in the workspace and not too large."""
    entries: Sequence[int] = range(len(found.paths))
    if found.odd or max(found.sizes, default=0) > largest:
        entries = [n for n in entries if n not in found.odd and found.sizes[n] <= largest]
    return [n for n in entries if found.paths[n].startswith(below)] if below else entries


def _ignored_names(git: Git, paths: Sequence[bytes]) -> frozenset[bytes]:
    """The paths that no checkpoint holds although the project tracks them."""
    rules = layout.never_file(git.store).read_bytes().splitlines()
    is_never = Never(git.workspace)
    suspects = [path for path in build_suspicion(rules).among(paths) if is_never(path)]
    if not suspects:
        return frozenset()
    # 1 means that none is ignored.
    answer = git.run("check-ignore", "--no-index", "-z", "--stdin", data=b"\0".join(suspects) + b"\0", accept=(0, 1))
    return frozenset(answer.split(b"\0"))


def _usable_entries(
    git: Git, lender: Repository, found: ForeignIndex, entries: Sequence[int], may_convert: bool
) -> Sequence[int]:
    """The entries that the project's git stores unconverted."""
    rules = _attribute_files(lender, found.paths)
    if not entries or not (may_convert or rules):
        return entries
    if may_convert or any(_CONVERTED.search(read_regular(path)) for path in rules):
        converted = _converted_names(git, lender, [found.paths[n] for n in entries])
        entries = [n for n in entries if found.paths[n] not in converted]
    # Different line endings mean a different size.
    shas = "".join(f"{found.sha(n)}\n" for n in entries).encode()
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", data=shas).split(b"\n") if entries else ()
    return [n for n, size in zip(entries, sizes, strict=False) if size == b"%d" % found.sizes[n]]


def _attribute_files(lender: Repository, paths: Sequence[bytes]) -> list[Path]:
    """The attribute files for the project: the user's own and the project's."""
    inside = [os.fsdecode(path) for path in paths if path.endswith(b".gitattributes")]
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "git", "attributes")
    above = (lender.top / ".gitattributes", lender.common / "info" / "attributes", own)
    return [place for place in (*above, *(lender.top / path for path in inside)) if place.is_file()]


def _converted_names(git: Git, lender: Repository, paths: Sequence[bytes]) -> frozenset[bytes]:
    import shutil  # few projects convert files

    from halocline.git.view import create_view_folder

    data = b"\0".join(paths) + b"\0"

    place = create_view_folder(lender, os.environ)
    try:
        asked = replace(git, store=place, workspace=lender.top)
        answer = asked.run("check-attr", "-z", "--stdin", *_CONVERSIONS, data=data)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    fields = answer.split(b"\0")
    settled = (b"unspecified", b"unset")
    return frozenset(path for path, value in zip(fields[0::3], fields[2::3], strict=False) if value not in settled)


def _write_index(path: Path, content: bytes, changed_at: int) -> None:
    """Write with the original's time, by which git knows which files may have changed while it was written."""
    write_private(path, content)
    os.utime(path, ns=(changed_at, changed_at))
