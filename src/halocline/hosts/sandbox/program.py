"""Looks for the program of a full sandbox; cheap enough for every start."""

from halocline.hosts.executables import find_program

SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
"""The folders to search; never PATH, which a project may have changed."""


def is_there() -> bool:
    """True if this machine may have a full sandbox; the self-test finds out if it works."""
    return bool(find_program("bwrap", SYSTEM_FOLDERS))
