"""A process that has imported `halo` and forks for each start of it: imports are two thirds of what a start costs.

It reads requests from a socket, each with an open socket for the answers (the process id, then the exit code) and the
three standard streams; or with further modules and a socket, on which a fork serves that has imported them as well. It
ends when nobody can ask any more. `forked.py` asks.
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
from collections.abc import Iterable
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
_SCRIPT = """
[[turn]]
call = [
    {tool = "write_to_file", arguments = {path = "a.txt", content = "a"}},
    {tool = "read_file", arguments = {path = "a.txt"}},
    {tool = "execute_command", arguments = {command = "cat a.txt", requires_approval = false}},
]
[[turn]]
text = "Hello."
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
    "halocline.surfaces.cli.args.foreign_words",
    "halocline.surfaces.cli.args.tasks",
    "halocline.surfaces.cli.background.cut_short",
    "halocline.surfaces.cli.commands.tasks",
    "halocline.surfaces.cli.pickers",
    "halocline.surfaces.cli.session.named_task",
    "halocline.surfaces.context_report",
    "halocline.surfaces.terminal.drawing.task_line",
    "halocline.providers.openai_chat",
)
"""Of other commands, of a run on a terminal, and of one with a model behind a server."""


def import_halo() -> None:
    """Import what a run of `halo` with some calls imports: another process runs it and says."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "script.toml").write_text(_SCRIPT)
        env = {**os.environ, "HALOCLINE_HOME": f"{folder}/home"}
        done = subprocess.run([sys.executable, "-c", _FIRST_RUN], cwd=folder, env=env, capture_output=True, text=True)
    tempfile.tempdir = None  # each process finds its own
    import_modules([*done.stdout.splitlines()[-1].split(), *_OF_OTHER_RUNS])


def import_modules(names: Iterable[str]) -> None:
    for name in names:
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


def main(fd: int) -> None:
    import_halo()
    while True:
        with socket.socket(fileno=fd) as requests:
            request = serve(requests)
        if not request:
            return
        message, fds = request
        if modules := json.loads(message).get("modules"):
            import_modules(modules)
            (fd,) = fds
        else:
            become_halo(message, fds)
            run_halo()


if __name__ == "__main__":
    main(int(sys.argv[1]))
