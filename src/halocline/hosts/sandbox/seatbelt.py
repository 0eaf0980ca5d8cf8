"""A profile for macOS `sandbox-exec`. Not yet run on a Mac: tests only read its text."""

from collections.abc import Iterable
from pathlib import Path

from halocline.hosts.sandbox.mounts import SandboxRequest

PROGRAM = "/usr/bin/sandbox-exec"
_HEAD = """(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read*)
(allow file-ioctl (regex #"^/dev/tty"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/tty") (regex #"^/dev/fd/"))
"""


def build_profile(request: SandboxRequest, protected: Iterable[Path], masked: Iterable[Path]) -> str:
    """The profile's rules; the last one that matches a path wins."""
    lines = [f"(allow file-write* (subpath {_quote_path(path)}))" for path in (*request.places, request.tmp)]
    lines += [f"(deny file-write* (subpath {_quote_path(path)}))" for path in protected]
    lines += [f"(deny file-read* file-write* (subpath {_quote_path(path)}))" for path in masked]
    lines.append(f"(allow file-read* file-write* (subpath {_quote_path(request.tmp)}))")
    if request.network:
        lines.append("(allow network* (remote ip))")
    return _HEAD + "\n".join(lines) + "\n"


def _quote_path(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
