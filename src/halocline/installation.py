"""This installation of Halocline: the command that adds an extra to it.

Hints name the very environment that runs, so they are right for pip, pipx, uv and a clone, and never fetch a package
by a name that somebody else may hold: what is installed already is not asked for again.
"""

import sys


def extra_command(extra: str) -> str:
    """Return the command that installs what an optional extra needs, into the environment of this process."""
    import shlex
    from importlib.util import find_spec

    python, wanted = shlex.quote(sys.executable), shlex.quote(f"halocline[{extra}]")
    if find_spec("pip"):
        return f"{python} -m pip install {wanted}"
    return f"uv pip install --python {python} {wanted}"
