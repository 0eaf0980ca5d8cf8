"""Port for hooks: a person's scripts, how one is run, and when a task runs them.

Hooks may block, require approval, add text or change a call's input; they never allow what the gate denies.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from halocline.protocol.events import HookRan, TurnEnded
from halocline.protocol.events.hooks import HookPoint, HookSource
from halocline.protocol.messages import Message, Note, ToolCall
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value


class Hook(Value, frozen=True, omit_defaults=False):
    """A configured hook. `words` are its program and arguments; `event` is its moment as named in its file.

    `file` defines it; `in_settings` means a settings file in Claude's format, not a folder of executables. `timeout`
    is in seconds, `on_failure` is the effect of a failure; empty values follow the settings. `inert` says why it does
    not run; `broken` why it cannot, which counts as its failure. `folder` is its working folder, if not the task's
    workspace; `plugin` is that of the plug-in that has it.
    """

    name: str
    moment: HookPoint | None
    event: str
    source: HookSource
    file: str
    words: tuple[str, ...] = ()
    matcher: str = ""
    timeout: float | None = None
    on_failure: Literal["", "block", "continue"] = ""
    in_settings: bool = False
    inert: str = ""
    broken: str = ""
    folder: str = ""
    plugin: str = ""


class HookEnd(Value, frozen=True):
    """Result of a hook's process. `trouble` says what went wrong, besides the exit code.

    `stopped` says why it was not run, if its folder has changed since it was trusted. `is_ended`: a person ended it.
    """

    exit_code: int | None = None
    output: str = ""
    errors: str = ""
    seconds: float = 0.0
    timed_out: bool = False
    trouble: str = ""
    stopped: str = ""
    is_ended: bool = False


Hear = Callable[[bytes], None]
"""Takes a piece of what a hook prints while it runs, on the event loop."""


class HookRunner(Protocol):
    """Runs hooks."""

    async def run(self, hook: Hook, given: bytes, timeout: float, hear: Hear) -> HookEnd:
        """Run a hook to its end with `given` on stdin. No process of it is left after that, or after cancellation."""

    def lent(self, files: Mapping[str, bytes], folder: str) -> AbstractAsyncContextManager[Mapping[str, str]]:
        """Write files for hooks to read within this context: names to paths. Empty if the disk refuses."""


class Outcome(Value, frozen=True):
    """Combined result of all hooks of a moment. `blocked` and `asks` are reasons; empty if no hook wants that."""

    blocked: str = ""
    stops: bool = False
    asks: str = ""
    allows: bool = False
    arguments: JsonObject | None = None
    notes: tuple[Note, ...] = ()


class Shortening(Value, frozen=True):
    """A planned compaction of a conversation whose `messages` the model reads now.

    `strategy` uses Cline's names (`auto-condense`, or `basic` without a model's summary). The messages from
    `first` up to, but not including, `last` are removed. `focus` is what to keep, if a person asked for the compaction.
    """

    strategy: str
    messages: Sequence[Message]
    tokens: int
    first: int = 0
    last: int = 0
    asked: bool = False
    focus: str = ""


class Hooks(Protocol):
    """The hooks of one task, at their moments."""

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        """Attach the hooks to a task. Call this before all other methods."""

    async def begins(self) -> TurnEnded | None:
        """Run the hooks for a new prompt. Return the end of its turn if they refuse it."""

    async def before(self, call: ToolCall) -> Outcome:
        """Run the hooks before a call that the gate allowed, or that needs approval."""

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        """Run the hooks after a call; `said` is its result for the model."""

    def stop(self, run: str) -> bool:
        """End a running hook that is shown, or with an empty name all of them. False if there is none."""

    async def before_compaction(self, what: Shortening) -> Outcome:
        """Run the hooks before a compaction. `blocked` is a reason against it; their notes join the conversation."""

    def waits(self, kind: str, message: str) -> None:
        """Run the notification hooks in the background, because a person is asked something."""

    async def holds(self) -> bool:
        """Run the hooks when the model is done. True if a hook gave it more to do."""

    async def ends(self, end: TurnEnded | None) -> tuple[HookRan, ...]:
        """Run the hooks at the end of a turn or (None) of the task. Return the events to log before that end."""
