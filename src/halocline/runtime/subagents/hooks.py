"""The hooks of a sub-agent: those before and after a call hold for it as well, the others are its parent's."""

from collections.abc import Callable

from halocline.ports.hooks import Hooks, Outcome, Shortening
from halocline.protocol.events import HookRan, TurnEnded
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State


class CallHooks:
    """Fulfils `ports.hooks.Hooks` with the part of others that is about calls and the conversation."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        self._hooks.attach(emit, state)

    async def begins(self) -> TurnEnded | None:
        """No person said the prompt."""
        return None

    async def before(self, call: ToolCall) -> Outcome:
        return await self._hooks.before(call)

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        return await self._hooks.after(call, said, seconds, failed=failed)

    async def before_compaction(self, what: Shortening) -> Outcome:
        return await self._hooks.before_compaction(what)

    def waits(self, kind: str, message: str) -> None:
        """Nobody is waited for."""

    async def holds(self) -> bool:
        """The report is for the parent, which is held itself."""
        return False

    async def ends(self, end: TurnEnded | None) -> tuple[HookRan, ...]:
        """The parent's turn goes on."""
        return ()
