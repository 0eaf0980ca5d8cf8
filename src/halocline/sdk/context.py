"""The context of a running tool of the program: files, the shell, the person, and a line to those who watch.

What must stay true: every path and command that a tool uses through this passes the gate.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from halocline.policy.read_scope import ELSEWHERE
from halocline.ports import tool as port
from halocline.ports.own import CommandResult
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import DurableEvent
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.kinds import Diff
from halocline.tools import changes
from halocline.tools.places import absolute_path, explaining_errors

LARGEST = 20_000_000
"""Bytes of a file that is read whole."""
OUT_OF_REACH = (
    "{path} is out of reach of this call. A tool reads the workspace, or the files that its arguments of type Path "
    "name, and writes only those."
)
WRITES_NOTHING = (
    "{path} was not written: {name} declares the effect {effect!r}, so it changes no files. Its author must declare "
    "'edits' instead."
)
LEADS_ELSEWHERE = "it now leads elsewhere than when it was checked"
"""Said of a file that a call may not write."""
TIME_LIMIT = 120.0
"""Seconds until a command is stopped."""


class ToolContext:
    """The files, the shell and the person, as a tool may use them while a call of it runs.

    A tool gets it as an argument that is annotated with this class; the model does not see that argument.
    """

    def __init__(self, tool: CustomTool, call: port.ToolContext, named: Sequence[str] = ()) -> None:
        self._tool = tool
        self._named = named
        self._call = call
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self.events: list[DurableEvent] = []
        self.diffs: list[Diff] = []

    @property
    def workspace(self) -> Path:
        """The folder that the task works in."""
        return self._call.workspace

    @property
    def call(self) -> str:
        """The id of the call, as in the events."""
        return self._call.call.id

    @property
    def task(self) -> str:
        """The id of the task."""
        return self._call.task.folder.name

    async def read_text(self, path: Path | str) -> str:
        """Return the text of a file, whatever its encoding.

        Raises ToolFailure, also for files that are not there, hidden or secret.
        """
        with naming_what_is_open(path):
            was = await changes.read_original(str(path), self._call)
        if was.data is None:
            raise ToolFailure(f"{path} does not exist, or is hidden. Nothing was read.")
        return was.file.view

    async def read_bytes(self, path: Path | str) -> bytes:
        """Return the content of a file of at most 20 MB. Raises ToolFailure."""
        place = absolute_path(str(path), self._call)
        with naming_what_is_open(path), explaining_errors(place, self._call):
            return await self._call.host.files.read(place, LARGEST)

    async def write_text(self, path: Path | str, text: str) -> None:
        """Write a file, in its encoding, and record the change. Only files that an argument of the call names.

        Raises ToolFailure, always in a tool whose effect is `"reads"` or `"network"`.
        """
        if self._tool.effect not in ("", "edits"):
            raise ToolFailure(WRITES_NOTHING.format(path=path, name=self._tool.name, effect=self._tool.effect))
        with naming_what_is_open(path):
            was = await changes.read_original(str(path), self._call)
            done = await changes.write_changes([changes.Change(was, was.file.with_view(text), "")], self._call)
        self._call.note_writes(done.events)
        self.events += done.events
        self.diffs += done.diffs

    async def list_folder(self, path: Path | str = ".") -> list[str]:
        """Return the names in a folder, sorted; those of folders end in `/`. Raises ToolFailure."""
        place = absolute_path(str(path), self._call)
        self._require_within(path)
        with naming_what_is_open(path), explaining_errors(place, self._call):
            return [f"{name}/" if is_folder else name for name, is_folder in await self._call.host.files.list(place)]

    def _require_within(self, path: Path | str) -> None:
        """Raise ToolFailure for a folder above all that the call may read: the names in it are none of its concern."""
        tops = (self._call.workspace, *self._call.task.roots, *map(self._call.path, self._named))
        place = Path(os.path.realpath(self._call.path(str(path))))
        if not any(place.is_relative_to(os.path.realpath(top)) for top in tops):
            raise ToolFailure(OUT_OF_REACH.format(path=path))

    async def run(self, command: str, *, timeout: float = TIME_LIMIT) -> CommandResult:
        """Run a bash command in the workspace, in the task's sandbox if it has one; stopped after `timeout` seconds.

        The gate judges it. If it would ask, the command runs only in a tool that declares no effect.

        Raises ToolFailure if the command is not allowed.
        """
        admitted = await self._call.admit_command(command)
        done = await self._call.host.shell.run(replace(admitted, timeout=timeout), self._call.report)
        return CommandResult(done.exit_code, done.output)

    async def ask(self, question: str, options: Sequence[str] = ()) -> str | None:
        """Ask the person a question; None if no one can answer. Raises TypeError for what is no text."""
        if isinstance(options, str) or not all(isinstance(one, str) for one in (question, *options)):
            raise TypeError("A question is text, and its options are a list of texts.")
        return await self._call.ask(question, options, self._call.call.id)

    def progress(self, text: str) -> None:
        """Show how far the call is, to people; the model does not read it. Works in every thread."""
        if threading.get_ident() == self._thread:
            self._call.report(f"{text}\n")
        else:
            self._loop.call_soon_threadsafe(self._call.report, f"{text}\n")

    def log(self, text: str) -> None:
        """Write a line to the logger `halocline.tools`, for the author of the tool."""
        logging.getLogger("halocline.tools").info("%s: %s", self._tool.name, text)


@contextmanager
def naming_what_is_open(path: Path | str) -> Iterator[None]:
    """Say of a file that the call was not judged for how it can be: nothing was moved in between."""
    try:
        yield
    except ToolFailure as failure:
        if ELSEWHERE not in failure.text and LEADS_ELSEWHERE not in failure.text:
            raise
        raise ToolFailure(OUT_OF_REACH.format(path=path)) from failure


def describe_written(context: ToolContext, failure: ToolFailure) -> str:
    """Say what a tool failed with after it had written files: these stay written."""
    written = ", ".join(dict.fromkeys(diff.path for diff in context.diffs))
    return f"It failed: {failure.text} Before that it wrote {written}."
