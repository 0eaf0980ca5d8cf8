"""The parts of a sub-agent's task: fewer than its parent's, as it changes nothing but its worktree."""

from collections.abc import Callable

from msgspec.structs import replace

from halocline.checkpoints.off import Off
from halocline.ports.diagnostics import NoDiagnostics
from halocline.ports.hooks import Hooks, Outcome, Shortening
from halocline.protocol.events import HookRan, TurnEnded
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State
from halocline.task.parts import TaskParts


class CallHooks:
    """Implements `ports.hooks.Hooks`: hooks around calls and compaction apply; the others belong to the parent."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        self._hooks.attach(emit, state)

    async def begins(self) -> TurnEnded | None:
        """Return None: the prompt is not from a person."""
        return None

    async def before(self, call: ToolCall) -> Outcome:
        return await self._hooks.before(call)

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        return await self._hooks.after(call, said, seconds, failed=failed)

    def stop(self, run: str) -> bool:
        return self._hooks.stop(run)

    async def before_compaction(self, what: Shortening) -> Outcome:
        return await self._hooks.before_compaction(what)

    def waits(self, kind: str, message: str) -> None:
        """Do nothing: a sub-agent waits for no one."""

    async def holds(self) -> bool:
        """Return False: hooks of the end apply to the parent."""
        return False

    async def ends(self, end: TurnEnded | None) -> tuple[HookRan, ...]:
        """Run nothing: the parent's turn continues."""
        return ()


def lean_parts(parts: TaskParts) -> TaskParts:
    """Return the parts of a sub-agent's task."""
    host = parts.host
    host = replace(
        host,
        tools=replace(host.tools, browser=None, program=None),
        sources=replace(host.sources, mentions=None, diagnostics=NoDiagnostics()),
        hooks=CallHooks(host.hooks) if host.hooks else None,
    )
    return replace(parts, checkpoints=Off(), host=host)
