"""A command and its judgement: the values that the gate gives to the judge of command lines (`shell`) and gets back."""

from enum import StrEnum
from pathlib import Path

from halocline.policy.paths import Resolved
from halocline.ports.shell_facts import Hides, ShellFacts
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.permission_rules import (
    CommandPart,
    CommandPermissions,
    Effect,
    OtherRoot,
    Place,
    Source,
    Verdict,
)
from halocline.protocol.values import Value


class Rule(StrEnum):
    """The rule behind a finding about a command, ordered from free to strict."""

    READS = "read-only"
    SHELL = "shell-only"
    """It changes only the shell, or prints text."""
    WRITES = "writes"
    UNKNOWN = "unknown-command"
    DYNAMIC = "not-known-before"
    ENVIRONMENT = "environment"
    """It shows the environment or other processes, which may hold secrets."""
    OUTSIDE = "outside"
    SECRET = "secret"
    HISTORY = "shows-history"
    """It may print versions of files that are hidden."""
    LATER = "runs-later"
    NETWORK = "network"
    SENDS = "sends-secret"
    """It may send what may hold secrets to another machine."""
    DISCARDS = "discards"
    """It loses changes that a checkpoint holds."""
    DESTROYS = "destructive"
    RIGHTS = "other-rights"
    NOT_ANALYSED = "not-analysed"
    LEADS_ANYWHERE = "leads-anywhere"
    IGNORED = "ignored"
    OWN_STATE = "own-state"
    FLOOR = "never"


STRICTNESS = {rule: number for number, rule in enumerate(Rule)}


class Use(StrEnum):
    """One way to use a place. `MAY_CHANGE`: a program gets its name and is not known to only read it."""

    READ = "read"
    CHANGE = "change"
    DELETE = "delete"
    MAY_CHANGE = "may_change"


class Touch(Value, frozen=True):
    """A place that a command uses, and how."""

    path: Resolved
    use: Use


class Circumstances(Value, frozen=True):
    """The place and modes in which a command would run. `typed`: it is input for a running program.

    `exported` are the variables that earlier commands changed in the shell, `path` is PATH if it is one of them.
    `guarded` are the uses of places that deny and ask rules with paths cover. `hides` tells if a path is hidden by an
    ignore file or guarded by such a rule, `hidden_lines` are their patterns with the folders that they start from.
    """

    workspace: Path
    home: Path
    folder: str
    facts: ShellFacts
    mode: Mode
    approval_mode: ApprovalMode
    typed: bool = False
    risky: bool = False
    exported: tuple[str, ...] = ()
    path: str = ""
    ignored: tuple[str, ...] = ()
    permissions: tuple[tuple[Source, CommandPermissions], ...] = ()
    roots: tuple[OtherRoot, ...] = ()
    guarded: frozenset[Use] = frozenset()
    hides: Hides | None = None
    hidden_lines: tuple[tuple[str, str], ...] = ()


class JudgedPart(Value, frozen=True):
    """One simple command, for matching rules. `argv` is None if its words are known only when it runs.

    `rule` and `reason` are those of the judge. `place` is the kind of sensitive place that it reads or changes, if any;
    `touches` are all places that it uses, `redirects` those that its redirections change. `opened` are the words that a
    harmless wrapper runs; `is_opened`: it only runs a script, whose commands are parts of their own.
    """

    argv: tuple[str, ...] | None
    effect: Effect
    rule: Rule = Rule.NOT_ANALYSED
    reason: str = ""
    reads: bool = False
    place: Place | None = None
    scripts: tuple[str, ...] = ()
    touches: tuple[Touch, ...] = ()
    opened: tuple[str, ...] = ()
    is_opened: bool = False
    redirects: tuple[Touch, ...] = ()


class CommandJudgement(Value, frozen=True):
    """The judgement of a command line.

    `canonical` is the form in which an allowed command is run; None: as written. A `binding` judgement holds whatever
    grants or modes allow. `simple` are its simple commands, `within` the words of those wrapped in others; `effect` is
    the gravest of all. `scripts` are the workspace files that it runs, each with a fingerprint. `only_form` is set if
    the command would be forbidden as written: whatever allows it, it runs in that form. `touches` are the places that
    the whole line uses. `mixed` is the line with the forms of its parts that read: if the rest is allowed, that runs.
    `changes` are the only entries that it can change, if that is known.
    """

    decision: Verdict
    rule: str
    reason: str
    parts: tuple[CommandPart, ...] = ()
    canonical: str | None = None
    binding: bool = False
    simple: tuple[JudgedPart, ...] = ()
    within: tuple[tuple[str, ...], ...] = ()
    effect: Effect = Effect.UNKNOWN
    scripts: tuple[str, ...] = ()
    only_form: str | None = None
    mixed: str = ""
    touches: tuple[Touch, ...] = ()
    changes: tuple[str, ...] | None = None

    @property
    def reads(self) -> bool:
        """True if it only reads and was allowed as such."""
        return self.canonical is not None
