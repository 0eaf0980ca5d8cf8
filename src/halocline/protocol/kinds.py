"""The values that events and commands carry."""

from enum import StrEnum

from halocline.protocol.values import Value


class ToolKind(StrEnum):
    """What sort of thing a tool does; ACP's kinds."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    OTHER = "other"


class Mode(StrEnum):
    """Plan reads and talks; act also changes things."""

    PLAN = "plan"
    ACT = "act"


class CallStatus(StrEnum):
    """How a tool call ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class ApprovalMode(StrEnum):
    """How much is done without asking; the strictest first."""

    ASK = "ask"
    ACCEPT_EDITS = "accept-edits"
    AUTO = "auto"
    YOLO = "yolo"


def is_looser(mode: ApprovalMode, than: ApprovalMode) -> bool:
    """Whether a mode does more without asking."""
    order = [*ApprovalMode]
    return order.index(mode) > order.index(than)


class ApprovalSwitch(StrEnum):
    """A kind of act that a person can allow, or have asked about, whatever the approval mode says."""

    READ = "read"
    READ_OUTSIDE = "read_outside"
    EDIT = "edit"
    EDIT_OUTSIDE = "edit_outside"
    SAFE_COMMANDS = "safe_commands"
    ALL_COMMANDS = "all_commands"
    WEB = "web"
    BROWSER = "browser"
    MCP = "mcp"


def allows_more(on: bool | None, than: bool | None) -> bool:
    """Whether a switch that stands so may allow what it did not: off asks, None is as the mode says, on allows."""
    order = [False, None, True]
    return order.index(on) > order.index(than)


class Choice(StrEnum):
    """What may be answered to an approval; ACP's words."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"

    @property
    def refuses(self) -> bool:
        """Tell whether the call does not run."""
        return self in (Choice.REJECT_ONCE, Choice.REJECT_ALWAYS)


class Location(Value, frozen=True):
    """A place in a file, for surfaces that can show it."""

    path: str
    line: int | None = None


class Remark(Value, frozen=True):
    """Words on one line of a diff; `line` counts in the file as it is after the change."""

    line: int
    text: str


class Diff(Value, frozen=True):
    """A change of one file as a unified diff, for the eye; `remarks` explain its lines."""

    path: str
    text: str
    added: int = 0
    removed: int = 0
    remarks: tuple[Remark, ...] = ()


class Grant(Value, frozen=True):
    """Leave that a person gave for good: a tool kind with exactly this subject (a command, a path, a host).

    With `argv` it is for every simple command that begins with these words. `scripts` are files that the command runs,
    with what stands for their content: when one changes, the leave is for something else. `mcp` is a tool of an MCP
    server, as `server/tool`, or all of them, as `server/*`.
    """

    kind: ToolKind
    subject: str = ""
    argv: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    mcp: str = ""


class Scope(StrEnum):
    """How far leave that was given for good reaches."""

    TASK = "task"
    PROJECT = "project"
    EVERYWHERE = "everywhere"


class TodoStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Todo(Value, frozen=True):
    """One line of the to-do list."""

    text: str
    status: TodoStatus = TodoStatus.PENDING


class SandboxStanding(StrEnum):
    """How well commands are held: not wanted, all that was promised, with gaps, not at all."""

    OFF = "off"
    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
