"""Copies the files of the acceptance over a task's result: each folder there is opened without following links.

Whatever the task put in their way goes, so nothing outside of its place is written.
"""

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

from halocline.batch.places import Place
from halocline.protocol.errors import HaloclineError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


async def bring_files(files: Path, place: Place) -> None:
    """Copy the files of the acceptance over the result. Raises HaloclineError."""
    try:
        if place.host and place.host.files:
            for path in await asyncio.to_thread(lambda: [one for one in files.rglob("*") if one.is_file()]):
                data = await asyncio.to_thread(path.read_bytes)
                await place.host.files.write(place.folder / path.relative_to(files), data)
        else:
            await asyncio.to_thread(copy_over, files, place.folder)
    except OSError as error:
        raise HaloclineError(f"{files} could not be copied to {place.folder}: {error}.", "Look at both.") from error


def copy_over(files: Path, folder: Path) -> None:
    """Copy files over a folder of a task. No link there is followed, as each may lead out of it."""
    opened = os.open(folder, _FOLDER)
    try:
        _copy_into(files, opened)
    finally:
        os.close(opened)


def _copy_into(source: Path, folder: int) -> None:
    for path in sorted(source.iterdir()):
        if path.is_dir():
            inside = _open_folder(path.name, folder)
            try:
                _copy_into(path, inside)
            finally:
                os.close(inside)
            continue
        _remove(path.name, folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(path, "rb") as given, open(os.open(path.name, flags, 0o600, dir_fd=folder), "wb") as made:
            shutil.copyfileobj(given, made)
            os.fchmod(made.fileno(), path.stat().st_mode & 0o777)


def _open_folder(name: str, folder: int) -> int:
    """Open a folder in another one; what has its name and is none goes."""
    for _ in range(2):
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        try:
            return os.open(name, _FOLDER, dir_fd=folder)
        except OSError:
            _remove(name, folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except OSError:
        shutil.rmtree(name, dir_fd=folder)
