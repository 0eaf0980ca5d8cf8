"""What may be done: the words in which people and their administrators say it."""

from enum import StrEnum

from halocline.protocol.kinds import Mode, ToolKind
from halocline.protocol.values import Value


class Verdict(StrEnum):
    """What the policy says of something."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Place(StrEnum):
    """What kind of place a path leads to."""

    PROJECT = "project"
    OUTSIDE = "outside"
    RUNS_LATER = "runs_later"
    SECRET = "secret"
    IGNORED = "ignored"
    OWN_STATE = "own_state"
    OUTPUT = "output"
    """Copies of what this task's commands printed."""


class Effect(StrEnum):
    """What a simple command does at most, as far as its words say."""

    READ_ONLY = "read_only"
    WRITES_INSIDE = "writes_inside"
    WRITES_OUTSIDE = "writes_outside"
    NETWORK = "network"
    DESTRUCTIVE = "destructive"
    UNKNOWN = "unknown"


class CommandPart(Value, frozen=True):
    """One simple command of a command line. `targets` are the paths it changes, or reads where that needs care."""

    text: str
    effect: Effect
    targets: tuple[str, ...] = ()
    reason: str = ""


class Source(StrEnum):
    """Where a rule comes from."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    GRANT = "grant"


class Rest(StrEnum):
    """What may follow the words of a rule: nothing, words that are no options or assignments, or anything."""

    NONE = "none"
    OPERANDS = "operands"
    ANY = "any"


class Rule(Value, frozen=True):
    """A rule of a person's: what it says of everything that meets all its conditions. An empty condition is met.

    `tools` are names (`server__tool` of MCP), a last `*` standing for any ending. `paths` are patterns as in
    `.gitignore`, seen from the workspace, or from `~/` or `/` when they begin so. `argv` are the first words of a
    simple command, each one or several alternatives, and `rest` says what may follow; `command` is a whole command,
    exactly. `hosts` are servers; `*.example.com` is every name below, `*` any. `mcp` are tools of MCP servers, as
    `server/tool` with `*` for any letters; `read_only` are those that their server declares so (false: the others).
    `agent` is who acts, by name; the task's own agent has none. `scripts` are files that the command runs, each with
    the hash of what they held. `workspace` is the only folder for it.
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
    """`allow` None allows what `deny` does not name; else it alone allows. `*` and `?` are the patterns."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    allow_redirects: bool = False


class OtherRoot(Value, frozen=True):
    """A folder that a task works in beside its workspace, and the lines of its ignore files."""

    path: str
    ignored: tuple[str, ...] = ()


class RuleBook(Value, frozen=True):
    """The rules in force. `ignored` are the lines of the ignore files; `problems` say which files cannot be read.

    `permissions` bound every command, whatever the rules say; each has to let it pass. `roots` are the task's other
    folders that have ignore files.
    """

    rules: tuple[Rule, ...] = ()
    ignored: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    permissions: tuple[tuple[Source, CommandPermissions], ...] = ()
    roots: tuple[OtherRoot, ...] = ()

    @property
    def hides(self) -> bool:
        """Whether there are ignore files anywhere."""
        return bool(self.ignored or self.roots)
