"""This installation of Halocline: the command that adds an extra to it, and the folders of its programs.

Hints name the very environment that runs, so they are right for pip, pipx, uv and a clone, and never fetch a package
by a name that somebody else may hold: what is installed already is not asked for again.
"""

import os
import shlex
import sys
from collections.abc import Iterator


def extra_command(extra: str) -> str:
    """Return the command that installs what an optional extra needs, into the environment of this process."""
    from importlib.util import find_spec

    python, wanted = shlex.quote(sys.executable), shlex.quote(f"halocline[{extra}]")
    if find_spec("pip"):
        return f"{python} -m pip install {wanted}"
    return f"uv pip install --python {python} {wanted}"


def program_folders() -> Iterator[str]:
    """Yield the folders where installers put the programs of our packages, the usual ones first.

    A virtual environment has one; `pip install --user` and `--target`, and archives that unpack themselves, others.
    """
    from sysconfig import get_path  # costs a millisecond, and only searches need it

    yield get_path("scripts")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
    yield get_path("scripts", f"{os.name}_user")
