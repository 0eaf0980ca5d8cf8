"""The program that holds commands in full, where this machine has it; cheap to ask at every start."""

from halocline.hosts.shell.executables import find_program

SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
"""Where it is looked for: never in a PATH that a project may have changed."""


def is_there() -> bool:
    """Whether this machine may have a full sandbox; the self-test says whether it holds."""
    return bool(find_program("bwrap", SYSTEM_FOLDERS))
