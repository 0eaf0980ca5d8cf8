"""Begins a store with the index and the objects of the project's own git, which are only read.

Git then reads no file whose time and size its index knows. What our rules leave out, and what git keeps in another form
than the file has (line ends, filters), is not taken over.
The objects stay the project's until `upkeep` has copied them.
"""

import os
import re
from collections.abc import Iterable, Sequence
from hashlib import sha1
from pathlib import Path

from halocline.checkpoints import layout
from halocline.checkpoints.foreign_index import Entry, Unreadable, below, parse, written
from halocline.checkpoints.git import Git, GitFailed
from halocline.checkpoints.suspects import suspicion
from halocline.protocol.values import Value

_CONVERTED = re.compile(rb"\b(filter|ident|working-tree-encoding)\b")
_CONVERSIONS = ("filter", "ident", "working-tree-encoding")
# What would make objects unreadable for a store without the same settings, or converts line ends.
_TELLING = r"^(core\.(autocrlf|attributesfile)|extensions\.(objectformat|partialclone))$"
_NO = (" false", " 0", " no", " off")
_MOST_INDEX = 256 << 20


class Lender(Value, frozen=True):
    """A repository of the person's: its git folder, that of its objects, and its work tree."""

    folder: Path
    objects: Path
    top: Path


def borrow(git: Git, largest: int) -> bool:
    """Let the store begin with what the project's git knows of its files; false when that cannot be done."""
    lender = find_lender(git.workspace)
    if lender is None or not _may_be_named(lender.objects):
        return False
    try:
        settings = _settings(git, lender)
        changed_at, data = _read(lender.folder / "index")
        if any(line.startswith("extensions.") for line in settings):
            return False
        entries, trees = parse(data)
        layout.lend(git.store, lender.objects)
        plain = [entry for entry in entries if entry.is_plain and entry.size <= largest]
        kept = _here(git, lender, _unconverted(git, lender, plain, may_convert=bool(settings)))
        _write(git.store / "index", written(kept, trees if len(kept) == len(entries) else b""), changed_at)
    except (OSError, Unreadable, GitFailed):
        layout.lend(git.store, None)
        (git.store / "index").unlink(missing_ok=True)
        return False
    return True


def find_lender(workspace: Path) -> Lender | None:
    """The repository in whose work tree a folder lies. No git is asked: it is a matter of a few files."""
    for top in (workspace, *workspace.parents):
        marker = top / ".git"
        try:
            folder = marker if marker.is_dir() else _linked(marker)
            common = folder / _first_line(folder / "commondir") if (folder / "commondir").exists() else folder
            if (folder / "index").is_file() and (common / "objects").is_dir():
                return Lender(folder, Path(os.path.realpath(common / "objects")), top)
        except OSError:
            continue
        return None
    return None


def _linked(marker: Path) -> Path:
    """Where the `.git` of a submodule or of a further work tree leads. Raises OSError when it is none."""
    head, _, place = _first_line(marker).partition(": ")
    if head != "gitdir":
        raise FileNotFoundError(marker)
    return marker.parent / place


def _first_line(path: Path) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.readline().rstrip("\n")


def _may_be_named(place: Path) -> bool:
    """Whether a file of alternates can hold the path as it is."""
    return "\n" not in os.fspath(place)


def _settings(git: Git, lender: Lender) -> list[str]:
    """Those in force for the project that tell against taking over its index as it is."""
    # 1 says that none is set.
    answer = git.beside(lender.folder, lender.top).run("config", "--get-regexp", _TELLING, accept=(0, 1))
    return [line for line in answer.decode(errors="replace").lower().splitlines() if not line.endswith(_NO)]


def _read(path: Path) -> tuple[int, bytes]:
    """When it was written, and what it holds: both of the same file, which git may replace at any time."""
    with open(path, "rb") as file:
        info = os.fstat(file.fileno())
        if info.st_size > _MOST_INDEX:
            raise Unreadable("it is very large")
        return info.st_mtime_ns, file.read()


def _here(git: Git, lender: Lender, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Those in the workspace, without what our own rules leave out although the project keeps it."""
    if git.workspace != lender.top:
        entries = below(entries, os.fsencode(git.workspace.relative_to(lender.top)))
    rules = (git.store / "info" / "exclude").read_bytes().splitlines()
    suspects = suspicion(rules).among([entry.path for entry in entries])
    if not suspects:
        return entries
    data = b"\0".join(suspects) + b"\0"
    # 1 says that none is ignored.
    answer = git.run("check-ignore", "--no-index", "-z", "--stdin", data=data, accept=(0, 1))
    ignored = frozenset(answer.split(b"\0"))
    return [entry for entry in entries if entry.path not in ignored]


def _unconverted(git: Git, lender: Lender, entries: Sequence[Entry], may_convert: bool) -> Sequence[Entry]:
    """Those that git keeps as they are on the disk."""
    rules = list(_attribute_files(lender, entries))
    if not (may_convert or rules):
        return entries
    if any(_CONVERTED.search(path.read_bytes()) for path in rules) or may_convert:
        converted = _with_conversion(git, lender, entries)
        entries = [entry for entry in entries if entry.path not in converted]
    shas = b"".join(entry.sha.encode() + b"\n" for entry in entries)
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", data=shas).split(b"\n") if entries else ()
    return [entry for entry, size in zip(entries, sizes, strict=False) if size == b"%d" % entry.size]


def _attribute_files(lender: Lender, entries: Iterable[Entry]) -> Iterable[Path]:
    top = os.fsencode(lender.top)
    inside = [entry.path for entry in entries if entry.path.endswith(b".gitattributes")]
    above = [lender.top / ".gitattributes", lender.folder / "info" / "attributes"]
    outside = [Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "git", "attributes")]
    places = {*(Path(os.fsdecode(os.path.join(top, path))) for path in inside), *above, *outside}
    return (place for place in places if place.is_file())


def _with_conversion(git: Git, lender: Lender, entries: Sequence[Entry]) -> frozenset[bytes]:
    data = b"\0".join(entry.path for entry in entries) + b"\0"
    answer = git.beside(lender.folder, lender.top).run("check-attr", "-z", "--stdin", *_CONVERSIONS, data=data)
    fields = answer.split(b"\0")
    settled = (b"unspecified", b"unset")
    found = {path for path, value in zip(fields[0::3], fields[2::3], strict=False) if value not in settled}
    return frozenset(entry.path for entry in entries if entry.path in found)


def _write(path: Path, content: bytes, changed_at: int) -> None:
    """With the time of the original: git tells by it which files may have changed in the moment of writing."""
    new = path.with_name("index.new")
    new.write_bytes(content + sha1(content, usedforsecurity=False).digest())
    os.utime(new, ns=(changed_at, changed_at))
    new.replace(path)
