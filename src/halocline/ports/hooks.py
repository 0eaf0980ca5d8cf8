"""The door to a person's scripts: what a hook is, how one is run, and what a task asks of all of them.

Hooks may forbid, ask for a person, add words or change a call's input; they never allow what the gate denies.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from halocline.protocol.events import HookRan, TurnEnded
from halocline.protocol.hook_kinds import HookMoment, HookSource
from halocline.protocol.messages import Message, Note, ToolCall
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value


class Hook(Value, frozen=True, omit_defaults=False):
    """One hook that is set up. `words` are its program and arguments, `event` its moment as its file calls it.

    `file` is where it is set up; `in_settings` says that this is a list in Claude's form and not a folder of
    executables. `timeout` is in seconds, `on_failure` what its failure means: empty for both is as the settings say.
    `inert` says why it is not run. `folder` is where it runs, when that is not the task's workspace.
    """

    name: str
    moment: HookMoment | None
    event: str
    source: HookSource
    file: str
    words: tuple[str, ...] = ()
    matcher: str = ""
    timeout: float | None = None
    on_failure: Literal["", "block", "continue"] = ""
    in_settings: bool = False
    inert: str = ""
    folder: str = ""


class HookEnd(Value, frozen=True):
    """How a hook's process ended. `trouble` says in words what went wrong apart from an exit code.

    `stopped` says why it was not run, when its folder is not as it was trusted.
    """

    exit_code: int | None = None
    output: str = ""
    errors: str = ""
    seconds: float = 0.0
    timed_out: bool = False
    trouble: str = ""
    stopped: str = ""


class HookRunner(Protocol):
    """Runs hooks."""

    async def run(self, hook: Hook, given: bytes, timeout: float) -> HookEnd:
        """Run one to its end with `given` on standard input. Nothing of it is left then, nor after a cancellation."""

    def lent(self, files: Mapping[str, bytes], folder: str) -> AbstractAsyncContextManager[Mapping[str, str]]:
        """Files for hooks to read while this lasts: names to paths. There are none where the disk refuses."""


class Outcome(Value, frozen=True):
    """What all hooks of a moment said together. `blocked` and `asks` are reasons; empty when nobody wants that."""

    blocked: str = ""
    stops: bool = False
    asks: str = ""
    allows: bool = False
    arguments: JsonObject | None = None
    notes: tuple[Note, ...] = ()


class Shortening(Value, frozen=True):
    """What is about to be done to a conversation, of which the model now reads `messages`.

    `strategy` names the way as Cline does (`auto-condense`, or `standard-truncation-…` without a summary). The messages
    from `first` on and before `last` leave it. `focus` is what a person wants kept, when they asked for it themselves.
    """

    strategy: str
    messages: tuple[Message, ...]
    tokens: int
    first: int = 0
    last: int = 0
    asked: bool = False
    focus: str = ""


class Hooks(Protocol):
    """The hooks of one task, at their moments."""

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        """Whose hooks these are; comes before everything else."""

    async def begins(self) -> TurnEnded | None:
        """A prompt was taken up. Gives the end of its turn when it is refused."""

    async def before(self, call: ToolCall) -> Outcome:
        """The gate let a call pass, at least as far as to a person."""

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        """A call has run; `said` is what the model is told."""

    async def before_compaction(self, what: Shortening) -> Outcome:
        """A conversation is to be shortened. `blocked` says why not; words for the model are in the conversation."""

    def waits(self, kind: str, message: str) -> None:
        """Somebody is asked something. Nobody waits for these hooks."""

    async def holds(self) -> bool:
        """The model is done. True when a hook gave it something more to do."""

    async def ends(self, end: TurnEnded | None) -> tuple[HookRan, ...]:
        """The turn ends so, or (None) the task is closed. Gives what has to be written down before that end."""
