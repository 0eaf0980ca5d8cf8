"""A wrapper for machines without bubblewrap: drops rights by Landlock and seccomp, then becomes the command.

It is started by its path and imports nothing of Halocline. Its argument is JSON: `write` and `read` are paths,
`filter` is a seccomp program in hexadecimal; then follows the command, which runs only once the rights are dropped.
"""

import ctypes
import json
import os
import stat
import struct
import sys

OLDEST = 3
"""Before this ABI, files could be truncated in spite of the rules."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL_FILES = (1 << 15) - 1
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_CONNECT_AND_BIND, _SIGNALS_AND_ABSTRACT = 0b11, 0b11
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_DROP_FROM_BOUNDS, _CAPABILITIES_VERSION = 24, 0x20080522
_OPEN_PATH = 0o10000000


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def landlock_version() -> int:
    """The kernel's Landlock ABI; 0 if it has none."""
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, 0, 1)))


def _restrict_process(libc: ctypes.CDLL, write: "list[str]", read: "list[str]", network: bool) -> None:
    abi = landlock_version()
    net = _CONNECT_AND_BIND if abi >= 4 and not network else 0
    scoped = _SIGNALS_AND_ABSTRACT if abi >= 6 else 0
    attributes = struct.pack("=QQQ", _ALL_FILES, net, scoped)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    rules = _check_result(libc.syscall(_CREATE, attributes, len(attributes), 0))
    _allow_path(libc, rules, "/", _READ_DIR)
    for path in read:
        _allow_path(libc, rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
    for path in write:
        _allow_path(libc, rules, path, _ALL_FILES)
    _check_result(libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)


def _allow_path(libc: ctypes.CDLL, rules: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, _OPEN_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        access &= _OF_FILES
    _check_result(libc.syscall(_ADD, rules, 1, struct.pack("=Qi", access, fd), 0))
    os.close(fd)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Drop all of root's capabilities for good. Other users have none."""
    if os.geteuid() != 0:
        return
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as last:
        for capability in range(int(last.read()) + 1):
            _check_result(libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0))
    _check_result(libc.capset(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), bytes(24)))


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main() -> None:
    pieces = int(sys.argv[1])
    request, command = json.loads("".join(sys.argv[2 : 2 + pieces])), sys.argv[2 + pieces :]
    libc = ctypes.CDLL(None, use_errno=True)
    code = bytes.fromhex(request["filter"])
    _check_result(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _drop_capabilities(libc)
    _restrict_process(libc, request["write"], request["read"], request["network"])
    _check_result(libc.prctl(_SECCOMP, _FILTER, ctypes.byref(_Filter(len(code) // 8, code)), 0, 0))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
