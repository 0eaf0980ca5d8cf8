"""Values in events and commands."""

from enum import StrEnum

from halocline.protocol.values import Value


class ToolKind(StrEnum):
    """Kind of a tool; the kinds are ACP's."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    OTHER = "other"


COMMAND_TOOL = "execute_command"
"""The tool that runs a command; a person can move its running call to the background."""
FINISHES = "attempt_completion"
"""The tool that reports that the task is done."""


class Mode(StrEnum):
    """Plan mode only reads and discusses; act mode also makes changes."""

    PLAN = "plan"
    ACT = "act"


class CallStatus(StrEnum):
    """Outcome of a tool call."""

    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class ApprovalMode(StrEnum):
    """Approval modes, from strict to loose."""

    ASK = "ask"
    ACCEPT_EDITS = "accept-edits"
    AUTO = "auto"
    YOLO = "yolo"


def is_looser(mode: ApprovalMode, than: ApprovalMode) -> bool:
    """True if `mode` runs more without approval than `than`."""
    order = [*ApprovalMode]
    return order.index(mode) > order.index(than)


def bound_mode(mode: ApprovalMode, off: tuple[ApprovalMode, ...]) -> ApprovalMode:
    """Return the approval mode, or the next stricter one that is not off; the strictest of the others if none is."""
    left = [one for one in ApprovalMode if one not in off]
    stricter = [one for one in left if not is_looser(one, mode)]
    return (stricter or left[:1] or [mode])[-1]


class ApprovalSwitch(StrEnum):
    """A kind of action that can be allowed, or always asked about, regardless of the approval mode."""

    READ = "read"
    READ_OUTSIDE = "read_outside"
    EDIT = "edit"
    EDIT_OUTSIDE = "edit_outside"
    SAFE_COMMANDS = "safe_commands"
    PROJECT_CODE = "project_code"
    ALL_COMMANDS = "all_commands"
    WEB = "web"
    BROWSER = "browser"
    MCP = "mcp"


def allows_more(on: bool | None, than: bool | None) -> bool:
    """True if switch position `on` may allow more than `than`. False asks, None follows the mode, True allows."""
    order = [False, None, True]
    return order.index(on) > order.index(than)


class Choice(StrEnum):
    """Possible answers to an approval; the values are ACP's."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"

    @property
    def refuses(self) -> bool:
        """True if the call does not run."""
        return self in (Choice.REJECT_ONCE, Choice.REJECT_ALWAYS)


class Location(Value, frozen=True):
    """A position in a file, for surfaces that can show it."""

    path: str
    line: int | None = None


class Remark(Value, frozen=True):
    """A comment on one line of a diff; `line` is the line number after the change."""

    line: int
    text: str


class Diff(Value, frozen=True):
    """A change of one file as a unified diff, for people; `remarks` explain its lines."""

    path: str
    text: str
    added: int = 0
    removed: int = 0
    remarks: tuple[Remark, ...] = ()


class Grant(Value, frozen=True):
    """A permanent permission: a tool kind with exactly this subject (a command, a path, a host).

    With `argv`, it covers every simple command that begins with these words. `scripts` are files that the command runs,
    each with the hash of its content: when one changes, the grant no longer applies. `mcp` is a tool of an MCP server,
    as `server/tool`, or all of them, as `server/*`.
    """

    kind: ToolKind
    subject: str = ""
    argv: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    mcp: str = ""


class Scope(StrEnum):
    """Reach of a grant."""

    TASK = "task"
    PROJECT = "project"
    EVERYWHERE = "everywhere"


class TodoStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Todo(Value, frozen=True):
    """One item of the to-do list."""

    text: str
    status: TodoStatus = TodoStatus.PENDING


class SandboxStanding(StrEnum):
    """State of the sandbox: turned off, complete, with gaps, unavailable."""

    OFF = "off"
    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
