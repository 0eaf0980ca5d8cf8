"""A process that has imported `halo` and forks for each start of it: imports are two thirds of what a start costs.

It reads requests from a socket, each with an open socket for the answers (the process id, then the exit code) and the
three standard streams. It ends when nobody can ask any more. `forked.py` asks.
"""

import atexit
import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from contextlib import suppress
from pathlib import Path

LARGEST_REQUEST = 2**17
_FIRST_RUN = """
import runpy, sys
sys.argv = ["halo", "run", "-y", "-m", "scripted/script.toml", "hi"]
try:
    runpy.run_module("halocline", run_name="__main__")
except SystemExit:
    print()
    print(*(name for name in sys.modules if not name.startswith("_")))
"""
_OF_OTHER_RUNS = (
    "halocline.client.client",
    "halocline.surfaces.web.command",
    "halocline.surfaces.terminal.composing.completion",
    "halocline.surfaces.cli.plain.line_mode",
    "halocline.surfaces.cli.live.live_mode",
    "halocline.surfaces.cli.live.live_screen",
    "halocline.surfaces.cli.live.session",
    "halocline.surfaces.slash.dispatch",
)
"""Of other commands, and of a run on a terminal."""


def import_halo(*also: str) -> None:
    """Import what a run of `halo` imports: another process runs it and says. `also`: further modules."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "script.toml").write_text('[[turn]]\ntext = "Hello."\n')
        env = {**os.environ, "HALOCLINE_HOME": f"{folder}/home"}
        done = subprocess.run([sys.executable, "-c", _FIRST_RUN], cwd=folder, env=env, capture_output=True, text=True)
    tempfile.tempdir = None  # each process finds its own
    for name in (*done.stdout.splitlines()[-1].split(), *_OF_OTHER_RUNS, *also):
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()


def serve(requests: socket.socket) -> tuple[bytes, list[int]] | None:
    """Answer requests; in each new process, return the request that it is for."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not requests:
                    selector.unregister(key.fileobj)
                    report_end(key.fd, *running.pop(key.fd))
                    continue
                message, (answers, *streams) = receive(requests)
                if not message:
                    return None
                pid = os.fork()
                if not pid:
                    return message, streams
                for fd in streams:
                    os.close(fd)
                end = os.pidfd_open(pid)
                running[end] = (pid, socket.socket(fileno=answers))
                with suppress(OSError):  # who asked may be gone
                    running[end][1].send(b"%d\n" % pid)
                selector.register(end, selectors.EVENT_READ)


def receive(requests: socket.socket) -> tuple[bytes, list[int]]:
    message, fds, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 4)
    return message, fds or [-1]


def report_end(end: int, pid: int, answers: socket.socket) -> None:
    os.close(end)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with answers, suppress(OSError):  # who asked may be gone
        answers.send(b"%d\n" % code)


def become_halo(message: bytes, streams: list[int]) -> None:
    """Take on the arguments, environment, folder and streams of a request, and the terminal that they are."""
    for fd, (name, mode) in enumerate((("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb"))):
        os.dup2(streams[fd], fd)
        old = getattr(sys, name)  # knows whether the null device can seek
        at_once = old.line_buffering or os.isatty(fd)
        how = {"encoding": old.encoding, "errors": old.errors, "line_buffering": at_once, "newline": "\n"}
        setattr(sys, name, io.TextIOWrapper(os.fdopen(fd, mode, closefd=False), **how))
    os.closerange(3, 256)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    request = json.loads(message)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.argv = ["halo", *request["words"]]


def run_halo() -> None:
    """Run it to its end, without the last look at each object that came with the fork: it would copy all memory."""
    try:
        runpy.run_module("halocline", run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(end.code)


def main(fd: int, *modules: str) -> None:
    import_halo(*modules)
    with socket.socket(fileno=fd) as requests:
        request = serve(requests)
    if request:
        become_halo(*request)
        run_halo()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
