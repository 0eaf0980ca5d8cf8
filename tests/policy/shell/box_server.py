"""Runs programs one after another inside the box, and says what each printed, opened and changed.

It needs nothing but Python: `box_server.py BASE KEPT SOCKET WATCHED…`. `BASE` is an empty folder of its own that is
filled as `KEPT`, and again behind each program that changed it. Requests and answers are lines of JSON on a socket,
which no program can open through `/proc`.
"""

import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_READ, _OPENED, _IS_FOLDER = 0x01, 0x20, 0x40000000
_SUBREAPER, _DUMPABLE = 36, 4
_PLAIN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
_MOST_PRINTED, _MOST_TRACED = 1 << 20, 1 << 24
_LARGEST_FILE = 1 << 25
_EVENT = struct.Struct("iIII")
_STRACE = ("strace", "-f", "-y", "-qq", "-s", "4000", "-e", "trace=%file,%process", "-o")
State = tuple[int, int, int, int]


class Late(Exception):
    """A program ran for longer than it may."""


class World:
    """The folder that programs run in, with a watch over what must not be opened."""

    def __init__(self, base: str, kept: str, watched: list[str]) -> None:
        self._base, self._kept, self._watched = base, kept, watched
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = -1
        self._names: dict[int, str] = {}
        self._restore(set(os.listdir(kept)))

    def changes(self) -> dict[str, str]:
        """Each path that is other than it was filled, and how; a file that was moved is not gone."""
        now = dict(_states(self._base))
        if now == self._filled:
            return {}
        alive = {state[0] for state in now.values()}
        found = dict.fromkeys(now.keys() - self._filled.keys(), "new")
        for path, state in self._filled.items():
            if path not in now:
                found[path] = "moved" if state[0] in alive else "gone"
            elif now[path] != state:
                found[path] = "changed"
        self._restore({path.partition("/")[0] for path in found} - {""})
        return found

    def opened(self) -> list[str]:
        """The watched files that were opened, and folders that were listed, since this was asked last.

        Some programs open the folder of a file, to delete the file in it: that tells them nothing.
        """
        found = set()
        while events := self._events():
            at = 0
            while at < len(events):
                watch, kind, _, length = _EVENT.unpack_from(events, at)
                name = events[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0").decode(errors="replace")
                if kind & _READ or not kind & _IS_FOLDER:
                    found.add(os.path.normpath(os.path.join(self._names.get(watch, "?"), name)))
                at += _EVENT.size + length
        return sorted(found - {"w"})

    def _events(self) -> bytes:
        try:
            return os.read(self._watch, 1 << 16)
        except BlockingIOError:
            return b""

    def _restore(self, names: set[str]) -> None:
        for name in names:
            _remove(os.path.join(self._base, name))
            kept = os.path.join(self._kept, name)
            if os.path.isdir(kept):
                shutil.copytree(kept, os.path.join(self._base, name), symlinks=True)
        self._filled = dict(_states(self._base))
        self._look()

    def _look(self) -> None:
        if self._watch >= 0:
            os.close(self._watch)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._names = {}
        for name in self._watched:
            place = os.fsencode(os.path.join(self._base, name))
            number = self._libc.inotify_add_watch(self._watch, place, _OPENED | _READ)
            if number < 0:
                raise OSError(ctypes.get_errno(), name)
            self._names[number] = name


def _states(base: str) -> Iterator[tuple[str, State]]:
    """Of everything below a folder, and of it itself: its inode, mode, size, and when it was last changed."""
    yield "", _state(os.stat(base))
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(base, folder)) as found:
                entries = [(entry.name, entry.stat(follow_symlinks=False)) for entry in found]
        except OSError:
            continue  # no right to look, or a path longer than may be asked for: its beginning is seen as new
        for name, told in entries:
            path = f"{folder}/{name}" if folder else name
            yield path, _state(told)
            if stat.S_ISDIR(told.st_mode):
                folders.append(path)


def _state(found: os.stat_result) -> State:
    return found.st_ino, found.st_mode, found.st_size, found.st_ctime_ns


def _remove(path: str) -> None:
    """Remove it whatever it is: the programs know how to go deeper than any path can say."""
    if os.path.isdir(path) and not os.path.islink(path):
        subprocess.run(["chmod", "-R", "u+rwX", "--", path], stderr=subprocess.DEVNULL, check=False, env=_PLAIN)
    if os.path.lexists(path):
        subprocess.run(["rm", "-rf", "--", path], check=True, env=_PLAIN)


def _alarm(*_: object) -> None:
    raise Late


def _run(request: dict[str, Any], base: str) -> tuple[int, str]:
    """Run one, and wait for all that it started; the file that has what it printed, and the trace."""
    printed = os.memfd_create("printed")
    words = ["bash", "--noprofile", "--norc", "-c", os.fsencode(request["text"])]
    if request["trace"]:
        Path("/tmp/trace").unlink(missing_ok=True)
        words = [*_STRACE, "/tmp/trace", *words]
    try:
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        subprocess.Popen(
            words,
            cwd=os.path.join(base, "w"),
            env=request["environment"],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
        _wait_for_all()
    except Late:
        _kill_all()
    trace = Path("/tmp/trace").read_bytes()[:_MOST_TRACED].decode(errors="replace") if request["trace"] else ""
    return printed, trace


def _wait_for_all() -> None:
    """Wait until nothing runs any more. Raises Late."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _kill_all() -> None:
    """End whatever else runs in the box."""
    while True:
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in (1, os.getpid()):
                try:
                    os.kill(int(name), signal.SIGKILL)
                except ProcessLookupError:
                    continue
        try:
            os.wait()
        except ChildProcessError:
            return


def main() -> None:
    """Answer requests until there are no more."""
    base, kept = sys.argv[1:3]
    line = socket.socket(fileno=int(sys.argv[3]))
    line.set_inheritable(False)
    libc = ctypes.CDLL(None)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, _alarm)
    world = World(base, kept, sys.argv[4:])
    with line.makefile("rwb") as wire:
        for text in wire:
            world.opened()
            printed, trace = _run(json.loads(text), base)
            opened = world.opened()
            said = os.pread(printed, _MOST_PRINTED, 0).decode(errors="replace")
            os.close(printed)
            answer = {"said": said, "opened": opened, "changes": world.changes(), "trace": trace}
            wire.write(json.dumps(answer).encode() + b"\n")
            wire.flush()


if __name__ == "__main__":
    main()
