"""Programs that only read, with the flags that keep it so: none that write, run, connect or follow links."""

from msgspec.structs import replace

from halocline.policy.shell.programs.readers.files import FILE_READERS
from halocline.policy.shell.programs.readers.system import SYSTEM_READERS
from halocline.policy.shell.programs.readers.text import TEXT_READERS

READERS = FILE_READERS | SYSTEM_READERS | TEXT_READERS
READERS["gawk"] = READERS["mawk"] = READERS["awk"]
READERS |= {f"pip3 {verb}": READERS[f"pip {verb}"] for verb in ("list", "show", "freeze")}
READERS["npm list"] = READERS["npm ls"]
READERS["fdfind"] = READERS["fd"]
SHOWS_PROCESSES = frozenset({"ps", "pgrep", "pstree", "top", "htop", "btop", "atop", "glances", "w", "lsof", "procs"})
"""Programs that may show the arguments of other processes, which may hold secrets."""
SUBCOMMANDS = frozenset({"pip", "pip3", "npm", "go"})
"""Programs whose second word is part of their name."""

_NAMES_ONLY = ("ls", "find", "fd", "fdfind", "tree", "stat", "du", "df", "realpath", "readlink", "cd", "test", "echo")
READERS |= {name: replace(READERS[name], names_only=True) for name in _NAMES_ONLY}
_IN_FRONT = ("printf", "awk", "gawk", "mawk", "tr", "basename", "cd", "type", "seq")
READERS |= {name: replace(READERS[name], in_front=True) for name in _IN_FRONT}
READERS["echo"] = replace(READERS["echo"], prints=True)
