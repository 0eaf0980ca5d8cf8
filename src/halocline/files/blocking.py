"""Find files that would make a program block forever: named pipes and devices in place of ignore and attribute files.

Other programs open such files in every folder they walk. Checking every folder beforehand would cost as much as their
own walk, so the check runs only when a program has not finished after a moment.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from halocline.files.regular import describe_kind, is_blocking

GIT_LISTS = (".gitignore", ".gitattributes")
"""Files that git reads in every folder of a work tree."""
SEARCH_LISTS = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")
"""Files that ripgrep reads in every folder and its parents."""
PATIENCE = 0.5
"""Seconds a program runs before we check whether it is blocked."""
_LONGEST = 10.0


def describe_blocking(path: str) -> str:
    """Say why a program would block on a file; empty when it would not."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return f"{path} is {describe_kind(mode)}" if is_blocking(mode) else ""


def find_blocking(paths: Iterable[str]) -> str:
    """Return the first of the files that a program would block on, or ""."""
    return next(filter(describe_blocking, paths), "")


def find_blocking_below(folder: str, names: Sequence[str], is_over: Callable[[], bool]) -> str:
    """Return the first such file with one of these names in or below a folder, or "". Stops once `is_over`."""
    waiting = [folder]
    for place in waiting:
        if is_over():
            break
        with suppress(OSError), os.scandir(place) as entries:
            found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
            there = [os.path.join(place, name) for name in names if name.partition("/")[0] in found]
            if blocking := find_blocking(there):
                return blocking
            waiting += [os.path.join(place, name) for name, is_folder in found.items() if is_folder and name != ".git"]
    return ""


class Watch:
    """`path` is the file that a program blocks on and `found` says why; both are empty when there is none."""

    def __init__(self) -> None:
        self.path = self.found = ""
        self._ended = threading.Event()
        self._until = time.monotonic() + PATIENCE + _LONGEST

    def stop(self) -> None:
        self._ended.set()

    def is_over(self) -> bool:
        return self._ended.is_set() or time.monotonic() > self._until


@contextmanager
def watch_program(look: Callable[[Callable[[], bool]], str], end: Callable[[], None]) -> Iterator[Watch]:
    """Once a program has run for `PATIENCE` seconds, `look` for a file it may block on; if there is one, `end` it."""
    watch = Watch()

    def find() -> None:
        watch.path = look(watch.is_over)
        if watch.path and not watch.is_over() and (found := describe_blocking(watch.path)):
            watch.found = found
            end()

    clock = threading.Timer(PATIENCE, find)
    clock.daemon = True
    clock.start()
    try:
        yield watch
    finally:
        clock.cancel()
        watch.stop()


def list_above(folder: str) -> Iterator[str]:
    """Yield the folders above one, nearest first."""
    while folder != (above := os.path.dirname(folder)):
        folder = above
        yield folder
