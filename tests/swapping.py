"""Swaps names as quickly as it goes: a folder or a file, and a link to another place, while a test works there."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SWAPPER = """
import ctypes, sys
one, other = (name.encode() for name in sys.argv[1:3])
change = ctypes.CDLL(None).renameat2
while not change(-100, one, -100, other, 2):  # both names change places at once
    pass
sys.exit("it cannot be swapped")
"""

_RENAMER = """
import itertools, os, sys
name, elsewhere = sys.argv[1:3]
os.link(name, name + ".kept")
for number in itertools.count():
    new = f"{name}.new{number % 2}"
    os.link(name + ".kept", new) if number % 2 else os.symlink(elsewhere, new)
    os.rename(new, name)
"""


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Let two names change places all the time, in a process of its own. Linux only."""
    with _running(_SWAPPER, one, other):
        yield


@contextmanager
def renaming(file: Path, elsewhere: Path) -> Iterator[None]:
    """Let a file and a link to another place be renamed to the same name in turn, each over the other."""
    with _running(_RENAMER, file, elsewhere):
        yield


@contextmanager
def _running(program: str, one: Path, other: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", program, one, other]) as swapper:
        try:
            yield
        finally:
            assert swapper.poll() is None
            swapper.kill()
