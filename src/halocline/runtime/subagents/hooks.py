"""The hooks of a sub-agent: those around calls and compaction apply to it too; the others belong to its parent."""

from collections.abc import Callable

from halocline.ports.hooks import Hooks, Outcome, Shortening
from halocline.protocol.events import HookRan, TurnEnded
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State


class CallHooks:
    """Implements `ports.hooks.Hooks`, passing on only hooks about calls and the conversation."""

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

    async def before_compaction(self, what: Shortening) -> Outcome:
        return await self._hooks.before_compaction(what)

    def waits(self, kind: str, message: str) -> None:
        """Do nothing: a sub-agent waits for nobody."""

    async def holds(self) -> bool:
        """Return False: hooks of the end apply to the parent."""
        return False

    async def ends(self, end: TurnEnded | None) -> tuple[HookRan, ...]:
        """Run nothing: the parent's turn continues."""
        return ()
