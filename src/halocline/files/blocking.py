"""Finds files that would make a program wait or read for ever: named pipes and devices where lists of rules should be.

Other programs open such lists wherever they walk. A look at every folder beforehand would cost as much as their own
walk, so it is taken when a program is not done after a moment.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from halocline.files.regular import describe_kind, is_blocking

GIT_LISTS = (".gitignore", ".gitattributes")
"""What git reads in every folder of a work tree."""
SEARCH_LISTS = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")
"""What ripgrep reads in every folder, and in those above."""
PATIENCE = 0.5
"""Seconds after which it is looked whether a program waits for such a file."""
_LONGEST = 10.0


def describe_blocking(path: str) -> str:
    """What is wrong with a file that a program would wait for; empty when nothing is."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return f"{path} is {describe_kind(mode)}" if is_blocking(mode) else ""


def find_blocking(paths: Iterable[str]) -> str:
    """The first of some files that a program would wait for; empty when there is none."""
    return next(filter(describe_blocking, paths), "")


def find_blocking_above(folder: str, names: Sequence[str]) -> str:
    """The same of files of these names in the folders above one."""
    return find_blocking(os.path.join(place, name) for place in _folders_upward(folder) for name in names)


def find_blocking_below(folder: str, names: Sequence[str], is_over: Callable[[], bool]) -> str:
    """The same of files of these names in a folder and anywhere below, the nearest first, until it `is_over`."""
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
    """`path` is the file that a program waits for, and `found` says what is wrong with it; empty for nothing."""

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
    """`look` for what a program may wait for, once it has run for a moment; if there is something, `end` it."""
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


def _folders_upward(folder: str) -> Iterator[str]:
    while folder != (above := os.path.dirname(folder)):
        folder = above
        yield folder
