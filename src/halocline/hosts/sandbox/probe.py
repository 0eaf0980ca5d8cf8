"""Runs inside a sandbox for the self-test: tries what must fail and what must work, and prints as JSON what worked.

It is started by its path, imports nothing of Halocline, and gets the places to try as arguments.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable


def can_write(path: str) -> bool:
    with open(path, "w", encoding="ascii") as file:
        return file.write("x") == 1


def can_connect(kind: int, address: "tuple[str, int] | str") -> bool:
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, kind) as sock:
        sock.settimeout(1)
        sock.connect(address)
        return sock.send(b"x") == 1


def can_see(pid: int, namespace: str) -> bool:
    """True if processes outside are visible: by a shared namespace, or by their id."""
    if namespace:
        return os.readlink("/proc/self/ns/pid") == namespace
    os.kill(pid, 0)
    return True


def tells_kernel() -> bool:
    """True if a kernel setting can be opened for writing; nothing is written."""
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return True


def can_start() -> bool:
    return subprocess.run(["/bin/sh", "-c", ": > /dev/null"], check=False).returncode == 0


def does_succeed(attempt: Callable[[], bool]) -> bool:
    try:
        return attempt()
    except OSError:
        return False


def main() -> None:
    inside, outside, unix, tcp, udp, pid, namespace = sys.argv[1:]
    attempts = {
        "write outside": lambda: can_write(outside),
        "connect by TCP": lambda: can_connect(socket.SOCK_STREAM, ("127.0.0.1", int(tcp))),
        "send by UDP": lambda: can_connect(socket.SOCK_DGRAM, ("127.0.0.1", int(udp))),
        "reach a Unix socket": lambda: can_connect(socket.SOCK_STREAM, unix),
        "see other processes": lambda: can_see(int(pid), namespace),
        "change the kernel's settings": tells_kernel,
        "write inside": lambda: can_write(inside),
        "start a program": can_start,
    }
    json.dump([name for name, attempt in attempts.items() if does_succeed(attempt)], sys.stdout)


if __name__ == "__main__":
    main()
