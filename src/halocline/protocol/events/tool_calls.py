"""Tool calls: the tools on offer, calls from the first argument to the result, and the files that they change."""

from collections.abc import Callable

from halocline.protocol.events.durable import Durable, Transient
from halocline.protocol.events.subagents import AgentLine
from halocline.protocol.kinds import CallStatus, Diff, Location, ToolKind
from halocline.protocol.messages import ToolResult
from halocline.protocol.terminal_text import colored_output, plain_output, redact_colored
from halocline.protocol.values import Value


class SeenFile(Value, frozen=True):
    """A file that a call read, whole or in part, and the hash of all its bytes."""

    path: str
    content: str


class ToolsOffered(Durable, frozen=True):
    """The model is now offered these tools besides those of every task; a sub-agent has only these.

    `agents` are the agents it can start as sub-agents.
    """

    tools: tuple[str, ...]
    agents: tuple[AgentLine, ...] = ()


class ToolCallDelta(Transient, frozen=True):
    """A piece of a tool call that the model is still writing; for previews only."""

    call: str
    name: str
    arguments: str


class EditPreviewed(Transient, frozen=True):
    """Preview of an edit whose call the model is still writing; only for clients that asked for it.

    `number` counts blocks and hunks; `line` is the position of the newest one (None: unknown). `lines` are its newest
    lines, each prefixed with `+`, `-` or a space.
    """

    call: str
    name: str
    path: str = ""
    number: int = 0
    line: int | None = None
    added: int = 0
    removed: int = 0
    lines: tuple[str, ...] = ()


class ToolCallStarted(Durable, frozen=True):
    """The call passed the gate and runs now. `rule` names what allowed it.

    `runs` is the command that actually runs, if that differs from the title; `sandbox` describes its sandbox.
    `scripts` are files that it runs, each with the hash of its content.
    """

    call: str
    name: str
    title: str
    kind: ToolKind
    locations: tuple[Location, ...] = ()
    rule: str = ""
    runs: str = ""
    sandbox: str = ""
    scripts: tuple[str, ...] = ()


class ToolCallProgressed(Transient, frozen=True):
    """New output of a running tool call.

    `colored` is the same text with the colors that a program gave it, if it did: SGR sequences of `colored_output`. It
    is for people only.
    """

    call: str
    text: str
    colored: str = ""

    @classmethod
    def of(cls, call: str, text: str, redact: Callable[[str], str]) -> "ToolCallProgressed":
        """Make the event of new output, without keys and control sequences."""
        colored = redact_colored(colored_output(text), redact)
        plain = plain_output(colored)
        return cls(call, plain, colored if colored != plain else "")

    def joined(self, new: "ToolCallProgressed") -> "ToolCallProgressed":
        """Return this output and what follows it as one."""
        colored = (self.colored or self.text) + (new.colored or new.text) if self.colored or new.colored else ""
        return ToolCallProgressed(self.call, self.text + new.text, colored)


class ToolCallEnded(Durable, frozen=True):
    """The tool call ended. `result` is what the model reads, `diffs` are for people, `seen` are the files it read.

    `for_person`: what people read instead of how the result says that the call ended. That is its first sentence if the
    call failed, the last line of a command. `outside`: the call failed only because a person or another program had
    changed its file meanwhile.
    """

    call: str
    name: str
    status: CallStatus
    result: ToolResult
    diffs: tuple[Diff, ...] = ()
    ends_turn: bool = False
    seen: tuple[SeenFile, ...] = ()
    for_person: str = ""
    outside: bool = False


class FileChanged(Durable, frozen=True):
    """An edit tool wrote or removed a file. `before` and `after` are blobs; None means that the file did not exist."""

    path: str
    before: str | None
    after: str | None
    cause: str
