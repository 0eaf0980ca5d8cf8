"""Functions as hooks: at the same points as the hooks of settings, with the same input and answers."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.events.hooks import HookPoint
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.parts.program_parts import HookFunction, ProgramHook


class HookAnswer(Value, frozen=True):
    """The answer of a hook. `block` and `ask` are reasons; empty for neither.

    `allow` runs the call without approval, as far as in yolo mode. `arguments` replace some of the call's. `context` is
    text for the model. `stop` ends the turn.
    """

    block: str = ""
    ask: str = ""
    allow: bool = False
    arguments: JsonObject | None = None
    context: str = ""
    stop: bool = False

    def to_wire(self) -> JsonObject:
        """Return it as a hook prints it."""
        verdict = "deny" if self.block else "ask" if self.ask else "allow" if self.allow else ""
        specific = {
            "permissionDecision": verdict,
            "permissionDecisionReason": self.block or self.ask,
            "additionalContext": self.context,
            **({} if self.arguments is None else {"updatedInput": self.arguments}),
        }
        return {"continue": not self.stop, "hookSpecificOutput": specific}


Answer = HookAnswer | JsonObject | str | None
HookCallback = Callable[[JsonObject], Awaitable[Answer] | Answer]
"""Takes what a hook reads on standard input. Text is context for the model; a dict is what a hook prints.

What it raises ends the turn, and the run raises it.
"""
EndTurn = Callable[[BaseException], Exception]
"""Ends the turn for what a function raised, and returns what to raise instead."""


class HookMatcher(Value, frozen=True):
    """A hook for some tools only: `matcher` has their names, or a pattern, as in settings."""

    matcher: str
    function: HookCallback


GRACE = 5.0
"""Seconds that a cancelled function has to end."""
Hooks = Mapping[str, HookCallback | HookMatcher | Sequence[HookCallback | HookMatcher]]


def read_hooks(hooks: Hooks, end_turn: EndTurn | None = None) -> tuple[ProgramHook, ...]:
    """Return the hooks. Raises UsageError if a point is unknown, or a hook is no function."""
    found: list[ProgramHook] = []
    for name, given in hooks.items():
        if name not in [*HookPoint]:
            raise UsageError(f"There is no hook {name!r}.", f"The points are: {', '.join(HookPoint)}.")
        for one in given if isinstance(given, Sequence) else (given,):
            function, matcher = (one.function, one.matcher) if isinstance(one, HookMatcher) else (one, "")
            if not callable(function):
                raise UsageError(f"The hook {name} is no function, but {type(function).__name__}.", "")
            label = f"{getattr(function, '__name__', 'hook')}-{len(found) + 1}"
            found.append(ProgramHook(label, HookPoint(name), _call_later(function, end_turn), matcher))
    return tuple(found)


def _call_later(function: HookCallback, end_turn: EndTurn | None) -> HookFunction:
    async def run(given: JsonObject) -> JsonObject:
        try:
            return _read_answer(await settle(function, given))
        except BaseException as error:
            raise (end_turn(error) if end_turn else error) from error

    return run


async def settle(function: Callable[..., Any], *given: Any) -> Any:
    """Return what a function of a program returns, sync or async, from a task of its own: it can cancel that alone.

    Raises all that it raises. One that is cancelled and does not end is left behind after some seconds.
    """

    async def call() -> tuple[Any, BaseException | None]:
        try:
            answer = function(*given)
            return (await answer if inspect.isawaitable(answer) else answer), None
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # the caller raises it: of a task, SystemExit would end the loop
            return None, error

    running = asyncio.create_task(call())
    try:
        await asyncio.wait({running})
    except asyncio.CancelledError:
        running.cancel()
        await asyncio.wait({running}, timeout=GRACE)
        raise
    value, error = running.result()
    if error:
        raise error
    return value


def _read_answer(answer: object) -> JsonObject:
    """Return it as a hook prints it. Raises UsageError for what is no answer."""
    match answer:
        case HookAnswer():
            return answer.to_wire()
        case dict():
            return dict(msgspec.to_builtins(answer))
        case str() if answer:
            return HookAnswer(context=answer).to_wire()
        case None | "":
            return {}
    raise UsageError(
        f"A hook returned {type(answer).__name__}, which is no answer.",
        "Return a HookAnswer, a dict as a hook prints it, text for the model, or None.",
    )
