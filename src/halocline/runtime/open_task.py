"""An open task with what serves it, and the tools that it is offered."""

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from halocline.context import user_files
from halocline.protocol import events as ev
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.providers.wrappers.per_mode import Chosen
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.user_shell import OwnCommands


class OpenTask(msgspec.Struct):
    """An open task, the coroutine that serves it, its model, and remarks from its start.

    `left_at` is the time of its last event in another process; 0 once a prompt was sent. `folder_mark` is that of the
    folder in which the last turn began (see `files.folder_mark`). `own` are the person's commands, once there is one.
    `waiting` looks at the tasks that a prompt waits for.
    """

    task: Task
    serving: asyncio.Task[None]
    model: Chosen
    socket: asyncio.Task[None]
    remarks: tuple[str, ...] = ()
    left_at: float = 0.0
    folder_mark: str = ""
    own: "OwnCommands | None" = None
    waiting: asyncio.Task[None] | None = None

    def own_commands(self) -> "OwnCommands":
        """Return the commands that the person runs in this task."""
        from halocline.runtime.user_shell import OwnCommands  # most tasks have none

        self.own = self.own or OwnCommands(self.task)
        return self.own

    async def end(self) -> Exception | None:
        """Let the turn end, then close the task. Return the error that broke it, or None."""
        self.task.inbox.close()
        (broke,) = await asyncio.gather(self.serving, return_exceptions=True)
        (unclosed,) = await asyncio.gather(self.close(), return_exceptions=True)
        return next((error for error in (broke, unclosed) if isinstance(error, Exception)), None)

    async def close(self) -> None:
        """Close what is no longer served, the socket first, so that the next writer's socket is not closed."""
        await end_tasks(self.socket, self.waiting)
        async with AsyncExitStack() as parts:
            parts.push_async_callback(self.task.close)
            if self.own:
                await self.own.close()


def offer_tools(task: Task, tools: Iterable[str]) -> tuple[str, ...]:
    """Offer these tools from now on, besides the standard ones. Return remarks on agent files."""
    event, remarks = offer_event(tools, task.state, task.home / "agents")
    if frozenset(event.tools) != task.state.prompt.tools or (
        event.agents and event.agents != task.state.subagents.available
    ):
        task.emit(event)
    return remarks


def offer_event(tools: Iterable[str], state: State, own: Path) -> tuple[ev.ToolsOffered, tuple[str, ...]]:
    """Build the event that offers these tools and the agents from files; also return remarks on those files."""
    names = tuple(sorted({*tools}))
    if "use_subagents" not in names:
        return ev.ToolsOffered(tools=names), ()
    found = user_files.agents.found_agents(Path(state.workspace), own, roots=state.roots, plugins=state.prompt.plugins)
    return ev.ToolsOffered(tools=names, agents=tuple(agent.line for agent in found.agents)), found.remarks
