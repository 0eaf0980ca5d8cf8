"""What the single file runs first: it starts Halocline, or says in a sentence why it cannot.

Pythons that are too old read this file, too. Nothing of Halocline can be imported before it is unpacked.
"""

import os
import sys
from importlib import import_module

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def find_problem(file: str) -> str:
    """Return why the file cannot start here, and what to do; empty if it can."""
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if running not in PYTHONS:
        return f"this file is for Python {', '.join(PYTHONS)}, not {running}. Name one: python{PYTHONS[1]} {file}"
    place = os.path.expanduser(os.environ.get("SHIV_ROOT") or "~/.shiv")
    name = os.path.basename(os.path.realpath(file))
    try:
        if place.startswith("~"):
            raise OSError("there is no home folder")
        os.makedirs(place, exist_ok=True)
        if not os.access(place, os.W_OK) and not any(one.startswith(f"{name}_") for one in os.listdir(place)):
            raise OSError("it is read-only")
    except OSError as error:
        why = error.strerror or error
        return f"this file cannot unpack itself into {place} ({why}). Name another folder: SHIV_ROOT=/path"
    return ""


if __name__ == "__main__":
    problem = find_problem(sys.argv[0])
    if problem:
        sys.exit(f"halo: {problem}")
    import_module("_bootstrap").bootstrap()
