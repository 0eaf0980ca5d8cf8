"""Starts commands: with the environment that they get, and in the sandbox where there is one."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from halocline.hosts.shell.direct import read_command
from halocline.hosts.shell.processes import KEEPER_KILLED, Process, Processes
from halocline.protocol.child_environment import (
    ChildEnvironment,
    child_environment,
    declare_environment,
    in_sandbox,
    withheld_names,
)
from halocline.protocol.errors import ToolFailure
from halocline.protocol.traces.context import NAME as TRACEPARENT

if TYPE_CHECKING:
    from halocline.hosts.sandbox.backends import Held

_FIXED = {"GIT_PAGER": "cat", "PAGER": "cat", "TERM": "dumb", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
_ON_TERMINAL = {"TERM": "xterm", "GIT_TERMINAL_PROMPT": "1"}


class Launcher:
    """The processes of one task. Variables that look like secrets, and those in `hidden`, need to be in `passed`."""

    def __init__(
        self,
        workspace: str,
        hidden: frozenset[str],
        passed: tuple[str, ...],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._workspace = workspace
        self._given = environment
        self._hidden, self._passed = hidden, passed

    async def ready(self) -> None:
        """Make sure that commands can be started. Raises OSError."""
        await self._processes.ready()

    def begin(self) -> None:
        """Begin to make sure of that."""
        with suppress(OSError):  # `ready` raises it
            self._processes.begin()

    async def start(
        self,
        held: "Held | None",
        words: list[str],
        environment: ChildEnvironment,
        folder: str,
        fds: tuple[int, int],
        terminal: bool,
        is_one_program: bool = False,
    ) -> Process:
        """Start a process in the sandbox that holds it, if any. Raises OSError and ValueError.

        `is_one_program` says that the last word is all of a shell's script and does nothing but run one program.
        """
        if held is None:
            if is_one_program and (direct := read_command(words[-1], environment, folder)):
                with suppress(OSError):  # the shell explains it, or can run it nevertheless
                    return await self._processes.start(
                        direct.words, direct.environment, folder, fds, terminal, program=direct.program
                    )
            return await self._processes.start(words, environment, folder, fds, terminal)
        with held.passing() as filter:
            # A sandbox has its own `/tmp`, so the keeper cannot start in a folder there.
            return await self._processes.start(
                held.words, environment, held.folder, (*fds, *filter), terminal, patient=held.patient
            )

    async def close(self) -> None:
        """End every process that was started."""
        if processes := self.__dict__.get("_processes"):  # most tasks start none
            await processes.close()

    @cached_property
    def _processes(self) -> Processes:
        return Processes(self.environment)

    @cached_property
    def environment(self) -> ChildEnvironment:
        """The environment of all commands, without their own variables."""
        return declare_environment(child_environment(self._given, self._hidden, self._passed), _FIXED)

    @cached_property
    def withheld(self) -> tuple[str, ...]:
        """The variables that commands do not get because they look like secrets."""
        return withheld_names(self._given, self._hidden, self._passed)

    def build_environment(
        self, held: "Held | None", own: dict[str, str], *, judged: bool, terminal: bool
    ) -> ChildEnvironment:
        """Build the environment of a command: with its own variables, and harmless if it was judged read-only."""
        start = self.environment
        if judged:
            from halocline.hosts.shell.environment import clean_environment

            start = clean_environment(start, self._workspace)
        if held:
            start = declare_environment(in_sandbox(start, self._passed), held.environment)
        return declare_environment(start, own | (_ON_TERMINAL if terminal else {}))


def name_trace(traceparent: str) -> dict[str, str]:
    """Return the variable by which programs join a trace, if there is one."""
    return {TRACEPARENT: traceparent} if traceparent else {}


def explain_failed_start(folder: str, error: OSError | ValueError) -> ToolFailure:
    """Explain why a command could not be started in a folder."""
    if not os.path.isdir(folder):
        return ToolFailure(
            f"The folder {folder} no longer exists (it was moved or removed), so no command can run in it. Nothing was "
            "run. Do not make it anew: tell the user."
        )
    if isinstance(error, ValueError):
        return ToolFailure(f"The command cannot be passed to a shell: {error}. Nothing was run.")
    if isinstance(error, ConnectionError):
        return ToolFailure(
            f"It is not known if the command started: {KEEPER_KILLED} before it said so. Check, then run it again."
        )
    return ToolFailure(f"The command could not be started: {error.strerror}. If it is long, write it to a script file.")
