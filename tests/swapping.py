"""Swaps two names as quickly as it goes: a folder and a link to another place, while a test reads or writes there."""

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


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Let two names change places all the time, in a process of its own. Linux only."""
    with subprocess.Popen([sys.executable, "-c", _SWAPPER, one, other]) as swapper:
        try:
            yield
        finally:
            assert swapper.poll() is None
            swapper.kill()
