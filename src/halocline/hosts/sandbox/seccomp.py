"""The system calls that are denied to sandboxed commands, as a BPF program for the kernel; pure.

A deny list for one architecture. The numbers are part of the kernel's stable ABI; a test compares them with those of
libseccomp, which is not needed at run time.
"""

import struct
from functools import cache

EPERM, ENOSYS = 1, 38
REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "vhangup": (153, 58),
}
"""Each call's number on x86_64 and on aarch64; -1 where there is none."""
ABSENT = {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)}
"""Reported as unknown, so that programs fall back to older calls; io_uring could open sockets past this filter."""
CLONE3, SOCKET, IOCTL, CLONE = (435, 435), (41, 198), (16, 29), (56, 220)
"""Judged by their arguments. `clone3` hides them behind a pointer, so libraries are made to use `clone`."""
INET, INET6, NETLINK = 2, 10, 16
WITH_NETWORK = (INET, INET6, NETLINK)
"""Allowed socket families. Unix sockets reach daemons, vsock a virtual machine's host; `socketpair` reaches nothing."""
NO_NETWORK = (NETLINK,)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_NEW_NAMESPACES = 0x7E020080
_X32 = 0x40000000
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


@cache
def build_filter(machine: str, sockets: tuple[int, ...] = WITH_NETWORK) -> bytes:
    """The filter for a machine type of `os.uname`; empty for an unknown one."""
    if machine not in _ARCHITECTURES:
        return b""
    column, architecture = _ARCHITECTURES[machine]
    code = [_make_step(_LOAD, _ARCHITECTURE_AT), _make_step(_EQUALS, architecture, 1, 0), _make_step(_RETURN, _KILL)]
    code.append(_make_step(_LOAD, _NUMBER_AT))
    if machine == "x86_64":
        code += [_make_step(_AT_LEAST, _X32, 0, 1), _refuse_with(ENOSYS)]
    for error, numbers in ((EPERM, REFUSED.values()), (ENOSYS, (*ABSENT.values(), CLONE3))):
        for number in (pair[column] for pair in numbers if pair[column] >= 0):
            code += [_make_step(_EQUALS, number, 0, 1), _refuse_with(error)]
    code += _refuse_unless(SOCKET[column], 0, sockets)
    code += _refuse_if(IOCTL[column], 1, _EQUALS, (_TIOCSTI, _TIOCLINUX))
    code += _refuse_if(CLONE[column], 0, _HAS_BITS, (_NEW_NAMESPACES,))
    return b"".join([*code, _make_step(_RETURN, _ALLOW)])


def _refuse_unless(number: int, argument: int, allowed: tuple[int, ...]) -> list[bytes]:
    """Refuse a call unless its argument is one of these."""
    tests = [_make_step(_EQUALS, value, len(allowed) - at, 0) for at, value in enumerate(allowed)]
    body = [_make_step(_LOAD, _argument_offset(argument)), *tests, _refuse_with(EPERM), _make_step(_RETURN, _ALLOW)]
    return [_make_step(_EQUALS, number, 0, len(body)), *body]


def _refuse_if(number: int, argument: int, test: int, values: tuple[int, ...]) -> list[bytes]:
    """Refuse a call if its argument passes one of these tests."""
    tests = [_make_step(test, value, len(values) - at, 0) for at, value in enumerate(values)]
    body = [_make_step(_LOAD, _argument_offset(argument)), *tests, _make_step(_RETURN, _ALLOW), _refuse_with(EPERM)]
    return [_make_step(_EQUALS, number, 0, len(body)), *body]


def _argument_offset(index: int) -> int:
    """Offset of the lower half of an argument; both machines are little-endian, and these arguments are ints."""
    return _ARGUMENTS_AT + 8 * index


def _refuse_with(error: int) -> bytes:
    return _make_step(_RETURN, _ERROR | error)


def _make_step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
