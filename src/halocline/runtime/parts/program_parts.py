"""Tools and hooks that are functions: of the program that opens a task, and of plug-ins."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec

from halocline.ports.hooks import Hear, Hook, HookEnd, HookRunner
from halocline.ports.model import BroughtProvider
from halocline.ports.own import Host
from halocline.ports.tool import FunctionTool, ToolContext, ToolOutput
from halocline.protocol import json_input
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.events.hooks import HookPoint, HookSource
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.values import JsonObject, Value
from halocline.tools.custom_tool import NOT_HERE

PLACE = "(the program that runs this task)"
"""The place named for a hook that is a function."""
OWN_HOST = (
    "The files or commands of this task are those of the program that runs it, so it has no checkpoints, no sandbox, "
    "no sub-agents and no language servers."
)
HookFunction = Callable[[JsonObject], Awaitable[JsonObject]]
"""Takes what a hook reads, and returns what it answers; empty for nothing."""


class ProgramHook(Value, frozen=True):
    """A function that runs as a hook. `matcher` is as in a settings file; the program's hooks are the user's own."""

    name: str
    moment: HookPoint
    function: HookFunction
    matcher: str = ""
    place: str = PLACE
    source: HookSource = HookSource.USER

    @property
    def hook(self) -> Hook:
        """The hook as a task knows it."""
        return Hook(self.name, self.moment, self.moment.value, self.source, self.place, matcher=self.matcher)


class ProgramParts(Value, frozen=True):
    """Parts of a task that the program brings which opens it. `answers` is true if it answers questions, too.

    `host` is what tools act on in place of this machine.
    """

    tools: tuple[FunctionTool, ...] = ()
    hooks: tuple[ProgramHook, ...] = ()
    answers: bool = False
    host: Host | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """A notice of the parts that a task on a host of the program does without."""
        return (OWN_HOST,) if self.host else ()


class PluginParts(Value, frozen=True):
    """The plug-ins of a task, and their functions; `providers` open models. `remarks` say what is left out, and why."""

    plugins: tuple[Plugin, ...] = ()
    tools: tuple[FunctionTool, ...] = ()
    hooks: tuple[ProgramHook, ...] = ()
    providers: Mapping[str, BroughtProvider] = {}
    remarks: tuple[str, ...] = ()


class ProgramTools:
    """Implements `ports.tool.Program` with functions."""

    def __init__(self, tools: Sequence[FunctionTool]) -> None:
        self._tools = {tool.definition.name: tool for tool in tools}

    async def call(self, tool: CustomTool, arguments: JsonObject, ctx: ToolContext) -> ToolOutput:
        if (found := self._tools.get(tool.name)) is None:
            raise ToolFailure(NOT_HERE.format(name=tool.name))
        return await found.answer(arguments, ctx)


class ProgramHooks:
    """Implements `ports.hooks.HookRunner`: functions run here, all other hooks as `others` runs them."""

    def __init__(self, hooks: Sequence[ProgramHook], others: HookRunner) -> None:
        self._functions = {(hook.place, hook.name): hook.function for hook in hooks}
        self._others = others

    async def run(self, hook: Hook, given: bytes, timeout: float, hear: Hear) -> HookEnd:
        function = self._functions.get((hook.file, hook.name))
        if function is None:
            return await self._others.run(hook, given, timeout, hear)
        began = time.monotonic()
        try:
            async with asyncio.timeout(timeout) as limit:
                answer = await function(json_input.decode(given))
        except (Exception, SystemExit) as error:
            if limit.expired():
                return HookEnd(timed_out=True, trouble=f"it took longer than {timeout:g} s")
            return HookEnd(trouble=f"it raised {type(error).__name__}: {error}")
        output = msgspec.json.encode(answer).decode() if answer else ""
        return HookEnd(0, output, seconds=round(time.monotonic() - began, 3))

    def lent(self, files: Mapping[str, bytes], folder: str) -> AbstractAsyncContextManager[Mapping[str, str]]:
        return self._others.lent(files, folder)
