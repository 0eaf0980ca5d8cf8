"""The files of a plug-in: read once, hashed, and copied, so that what was judged is what is used.

What must stay true: nothing in a plug-in's folder leads out of it, and a copy has exactly the bytes that were hashed.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from halocline.files.opening import open_resolved, require_regular
from halocline.files.regular import read_from
from halocline.protocol.file_names import make_printable

MOST_FILES = 2_000
MOST_BYTES = 50_000_000
MOST_PLUGINS = 100
SKIPPED = frozenset({".git", "__pycache__"})
"""Folders that are no part of a plug-in: its history, and code that Python compiled."""


class PluginFile(NamedTuple):
    """Content of a file. `runs` is true if it is executable."""

    data: bytes
    runs: bool


Files = Mapping[str, PluginFile]
"""The files of a plug-in by their paths in it."""


class InvalidPlugin(Exception):
    """Raised for a folder that cannot be used as a plug-in; the text is the rest of a sentence about it."""


def read_folder(folder: Path, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> dict[str, PluginFile]:
    """Read all files of a plug-in. Raises InvalidPlugin."""
    top, files, room = os.path.realpath(folder), dict[str, PluginFile](), most_bytes
    for path in _list_files(top):
        name = os.path.relpath(path, top)
        if len(files) == most_files:
            raise InvalidPlugin(f"it has more than {most_files:,} files")
        files[name] = file = _read_file(path, name, top, room)
        room -= len(file.data)
        if room < 0:
            raise InvalidPlugin(f"it is larger than {most_bytes:,} bytes")
    return files


def _list_files(top: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise InvalidPlugin(f"its folder cannot be read ({error.strerror})")

    for place, folders, names in os.walk(top, onerror=refuse):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in folders:
            if os.path.islink(os.path.join(place, name)):
                raise InvalidPlugin(f"{make_printable(name)} in it is a link to a folder")
        yield from (os.path.join(place, name) for name in sorted(names) if name not in SKIPPED)


def _read_file(path: str, name: str, top: str, room: int) -> PluginFile:
    if make_printable(name) != name:
        raise InvalidPlugin(f"the name of {make_printable(name)} in it cannot be printed")
    try:
        with open_resolved(path) as (fd, place, found):
            if not place.startswith(f"{top}/"):
                raise InvalidPlugin(f"{name} in it is a link that leads out of it")
            require_regular(found, path)
            data = read_from(fd, room + 1)
    except OSError as error:
        raise InvalidPlugin(f"{name} in it cannot be read ({error.strerror})") from error
    return PluginFile(data, bool(found.st_mode & 0o100))


def digest_files(files: Files) -> str:
    """Return the hash of a plug-in: over the names, the content and the executable bit of all its files."""
    listed = [(name, file.runs, hashlib.sha256(file.data).hexdigest()) for name, file in sorted(files.items())]
    return hashlib.sha256(msgspec.json.encode(listed)).hexdigest()


def digest_folder(folder: Path) -> str:
    """Return the hash of the plug-in in a folder, or why it cannot be one."""
    try:
        return digest_files(read_folder(folder))
    except InvalidPlugin as why:
        return str(why)


def list_folders(place: Path) -> list[Path]:
    """Return the folders of a folder of plug-ins, by name, without hidden ones."""
    try:
        names = sorted(os.listdir(place))[:MOST_PLUGINS]
    except OSError:
        return []
    return [place / name for name in names if not name.startswith(".") and (place / name).is_dir()]


def write_copy(files: Files, place: Path) -> None:
    """Make a folder that has exactly these files; one that has them already stays. Raises OSError."""
    if place.exists():
        try:
            if read_folder(place) == files:
                return
        except InvalidPlugin:
            pass
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = place.with_name(f".{place.name}-{os.urandom(6).hex()}")
    try:
        for name, file in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            with open(new / name, "xb") as written:
                written.write(file.data)
            (new / name).chmod(0o700 if file.runs else 0o600)
        if place.exists():
            place.rename(new.with_name(f"{new.name}-old"))
        new.rename(place)
    finally:
        for left in (new, new.with_name(f"{new.name}-old")):
            shutil.rmtree(left, ignore_errors=True)
