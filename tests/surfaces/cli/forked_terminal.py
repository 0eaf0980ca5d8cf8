"""`halo` on a pseudo-terminal, forked by `fork_server`, with all that a `pexpect.spawn` has."""

import os
import select
import signal
import socket
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect
import ptyprocess
from tests.surfaces.cli.forked import HALO, ForkServer, shared_fork_server

LIMIT = 40


class HaloTerminal(pexpect.spawn):
    """A running `halo` with a person (the test) before it. A forked one has loaded its modules before it starts."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int],
        forks: bool = True,
        **more: Any,
    ) -> None:
        self._forks = forks
        settings = {"timeout": LIMIT, "encoding": "utf-8", **more}
        super().__init__(HALO[0], [*HALO[1:], *words], env=dict(env), cwd=str(cwd), dimensions=size, **settings)

    def _spawnpty(self, args: list[str], *, env: Mapping[str, str], cwd: str, **how: Any) -> ptyprocess.PtyProcess:
        server = shared_fork_server() if self._forks else None
        words = args[len(HALO) :]
        forked = server and ForkedTerminal.start(server, words, env, cwd, how["dimensions"])
        return forked or super()._spawnpty(args, env=env, cwd=cwd, **how)


class ForkedTerminal(ptyprocess.PtyProcess):
    """The process and the terminal's other end. The fork server says how it ended: it is no child of this process."""

    def __init__(self, pid: int, fd: int, answers: socket.socket) -> None:
        super().__init__(pid, fd)
        self._answers = answers

    @classmethod
    def start(
        cls, server: ForkServer, words: Sequence[str], env: Mapping[str, str], cwd: str, size: tuple[int, int]
    ) -> "ForkedTerminal | None":
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, size)
        started = server.start_on(theirs, words, env, cwd)
        os.close(theirs)
        if not started:
            os.close(ours)
            return None
        pid, answers = started
        return cls(pid, ours, answers)

    def isalive(self) -> bool:
        # At the end of its output it has ended, or is about to.
        if not self.terminated and (self.flag_eof or select.select([self._answers], [], [], 0)[0]):
            self.wait()
        return not self.terminated

    def wait(self) -> int | None:
        if not self.terminated:
            if not select.select([self._answers], [], [], 2 * LIMIT)[0]:
                raise TimeoutError(f"timed out: process {self.pid} closed its terminal and does not end")
            with self._answers, self._answers.makefile("rb") as lines:
                code = int(lines.readline())
            self.terminated = True
            self.exitstatus, self.signalstatus = (code, None) if code >= 0 else (None, -code)
            self.status = code << 8 if code >= 0 else -code
        return self.exitstatus

    def kill(self, sig: int) -> None:
        if self.isalive():
            with suppress(ProcessLookupError):  # it has ended, and the answer is on its way
                os.kill(self.pid, sig)

    def terminate(self, force: bool = False) -> bool:
        for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGINT, *([signal.SIGKILL] if force else [])):
            self.kill(number)
            if self.terminated or select.select([self._answers], [], [], self.delayafterterminate)[0]:
                self.wait()
                return True
        return False
