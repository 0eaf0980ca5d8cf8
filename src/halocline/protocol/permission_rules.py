"""The vocabulary of permission rules, for users and administrators."""

from enum import StrEnum

from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Mode, ToolKind
from halocline.protocol.values import Value

IGNORE_FILES = (".haloclineignore", ".clineignore")
"""Files with `.gitignore` syntax that hide files of the workspace from the model."""


class Verdict(StrEnum):
    """Decision of the policy."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Place(StrEnum):
    """Kind of location that a path leads to."""

    PROJECT = "project"
    OUTSIDE = "outside"
    RUNS_LATER = "runs_later"
    SECRET = "secret"
    IGNORED = "ignored"
    OWN_STATE = "own_state"
    OUTPUT = "output"
    """Saved output of this task's commands."""


class Effect(StrEnum):
    """The most a simple command can do, judged by its words."""

    READ_ONLY = "read_only"
    WRITES_INSIDE = "writes_inside"
    WRITES_OUTSIDE = "writes_outside"
    NETWORK = "network"
    DESTRUCTIVE = "destructive"
    UNKNOWN = "unknown"


class Grade(StrEnum):
    """The gravity of allowing something, mildest first.

    Approving one of the two gravest takes a deliberate key or click: Enter does not approve it, and *Approve* is not
    the primary button.
    """

    ORDINARY = "ordinary"
    OUTSIDE = "outside"
    """It reaches beyond the folder: files elsewhere, other machines, other privileges."""
    SECRET = "secret"
    """A secret leaves the folder or the machine, or may leave it."""
    FINAL = "final"
    """It cannot be undone: no checkpoint holds what may be lost."""

    @property
    def is_grave(self) -> bool:
        """True for the two gravest."""
        return self in (Grade.SECRET, Grade.FINAL)


class CommandPart(Value, frozen=True):
    """One simple command of a command line. `targets` are the paths it changes, or reads where that needs care."""

    text: str
    effect: Effect
    targets: tuple[str, ...] = ()
    reason: str = ""


class Source(StrEnum):
    """Origin of a rule."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    GRANT = "grant"


class Rest(StrEnum):
    """Arguments allowed after the words of a rule: none, operands (no options or assignments), or any."""

    NONE = "none"
    OPERANDS = "operands"
    ANY = "any"


class Rule(Value, frozen=True):
    """A decision for every call that meets all conditions of the rule. An empty condition always holds.

    `tools` are names (`server__tool` for MCP); a final `*` matches any ending. `paths` are patterns as in
    `.gitignore`, relative to the workspace, or to `~/` or `/` if they begin so. `argv` are the first words of a
    simple command, each a word or a list of alternatives, and `rest` says what may follow; `command` is an exact
    command line. `hosts` are servers; `*.example.com` matches all subdomains, `*` any host. `mcp` are tools of MCP
    servers, as `server/tool` with `*` as a wildcard; `read_only` selects tools that their server marks read-only
    (false: the others). `agent` is the name of the acting agent; the main agent has none. `scripts` are files that the
    command runs, each with the hash of its content. `workspace` limits the rule to one folder.
    """

    decision: Verdict
    name: str = ""
    reason: str = ""
    tools: tuple[str, ...] = ()
    kinds: tuple[ToolKind, ...] = ()
    modes: tuple[Mode, ...] = ()
    paths: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    argv: tuple[str | tuple[str, ...], ...] = ()
    rest: Rest = Rest.ANY
    command: str = ""
    effects: tuple[Effect, ...] = ()
    hosts: tuple[str, ...] = ()
    mcp: str | tuple[str, ...] = ()
    read_only: bool | None = None
    agent: str | tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    workspace: str = ""
    source: Source = Source.USER


class CommandPermissions(Value, frozen=True, forbid_unknown_fields=True, rename={"allow_redirects": "allowRedirects"}):
    """Patterns for commands, with `*` and `?`. `deny` wins; if `allow` is set, no other command may run."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    allow_redirects: bool = False


class OtherRoot(Value, frozen=True):
    """An additional folder of a task, and the lines of its ignore files."""

    path: str
    ignored: tuple[str, ...] = ()


class RuleBook(Value, frozen=True):
    """The rules in force. `ignored` are the lines of the ignore files; `problems` list files that cannot be read.

    `permissions` restrict every command, regardless of the rules; each must allow it. `roots` are the task's
    additional folders with ignore files. `modes_off` are approval modes that no call is judged by, `fixed` the switches
    that a task cannot change.
    """

    rules: tuple[Rule, ...] = ()
    ignored: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    permissions: tuple[tuple[Source, CommandPermissions], ...] = ()
    roots: tuple[OtherRoot, ...] = ()
    modes_off: tuple[ApprovalMode, ...] = ()
    fixed: tuple[ApprovalSwitch, ...] = ()

    @property
    def hides(self) -> bool:
        """True if there are any ignore files."""
        return bool(self.ignored or self.roots)
