"""A command and its judgement: the values that the gate gives to the judge of command lines (`shell`) and gets back."""

from enum import StrEnum

from halocline.policy.decision import PolicyContext
from halocline.policy.paths import Resolved
from halocline.ports.shell_facts import Hides
from halocline.protocol.permission_rules import CommandPart, Effect, Place, Verdict
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


NEVER = frozenset({Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED})
UNTOUCHED = frozenset({Place.OWN_STATE, Place.IGNORED})
STRICTNESS = {rule: number for number, rule in enumerate(Rule)}
CAREFUL = {
    Place.SECRET: (Rule.SECRET, "{shown} may hold secrets"),
    Place.OUTSIDE: (Rule.OUTSIDE, "{path} is outside the workspace"),
    Place.RUNS_LATER: (Rule.LATER, "other programs run {shown} or read it as configuration"),
}
"""Places that need care, gravest first, with the rule and the reason."""
_PLACES = {
    **dict.fromkeys((Rule.SECRET, Rule.ENVIRONMENT, Rule.SENDS), Place.SECRET),
    Rule.OUTSIDE: Place.OUTSIDE,
    Rule.LATER: Place.RUNS_LATER,
}


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


class Circumstances(PolicyContext, frozen=True):
    """The context of a command, with the folder in which it would run. `typed`: it is input for a running program.

    `guarded` are the uses of places that deny and ask rules with paths cover. `hides` tells if a path is hidden by an
    ignore file or guarded by such a rule; None if nothing is.
    """

    folder: str = ""
    typed: bool = False
    risky: bool = False
    guarded: frozenset[Use] = frozenset()
    hides: Hides | None = None


class Finding(Value, frozen=True):
    """One part of a command line, mostly a simple command, and the rule for it.

    `canonical` is the form in which it is run if the whole command only reads. `argv` are its words; None if they are
    known only when it runs. `scripts` are files that it runs. `touches` are all places that it uses, `redirects` those
    that its redirections change. `opened` are the words that a harmless wrapper runs; `is_opened`: it only runs a
    script, whose commands are parts of their own. `as_written` is the rule if it runs as written instead, without the
    exclusions and checks of its form. `top` is set for a command of the text itself, not of a script in it; `words` is
    its text without redirections, and `form_alone` the form of that if it only reads.
    """

    part: CommandPart
    rule: Rule
    canonical: str | None = None
    argv: tuple[str, ...] | None = None
    scripts: tuple[str, ...] = ()
    as_written: Rule | None = None
    reason_as_written: str = ""
    touches: tuple[Touch, ...] = ()
    opened: tuple[str, ...] = ()
    is_opened: bool = False
    redirects: tuple[Touch, ...] = ()
    top: bool = False
    words: str = ""
    form_alone: str | None = None

    @property
    def reads(self) -> bool:
        return self.rule is Rule.READS and self.canonical is not None

    @property
    def reason(self) -> str:
        return self.part.reason

    @property
    def effect(self) -> Effect:
        """The effect by which rules are matched: what may lead anywhere is more than a program."""
        unsure = (Rule.LEADS_ANYWHERE, Effect.UNKNOWN), (Rule.DYNAMIC, Effect.WRITES_INSIDE)
        return Effect.WRITES_OUTSIDE if (self.rule, self.part.effect) in unsure else self.part.effect

    @property
    def place(self) -> Place | None:
        """The kind of sensitive place that an allow rule has to name to cover such a part, if any."""
        return _PLACES.get(self.rule)


class CommandJudgement(Value, frozen=True):
    """The judgement of a command line.

    `canonical` is the form in which an allowed command is run; None: as written. A `binding` judgement holds whatever
    grants or modes allow. `simple` are its simple commands, `within` the words of those wrapped in others; `effect` is
    the gravest of all. `scripts` are the workspace files that it runs, each with a fingerprint. `only_form` is set if
    the command would be forbidden as written, or its form ends where a move fails: whatever allows it, that runs.
    `touches` are the places that the whole line uses. `mixed` is the line with the forms of its parts that read: if the
    rest is allowed, that runs. `changes` are the only entries that it can change, if known; `left_out` is to be told.
    """

    decision: Verdict
    rule: str
    reason: str
    parts: tuple[CommandPart, ...] = ()
    canonical: str | None = None
    binding: bool = False
    simple: tuple[Finding, ...] = ()
    within: tuple[tuple[str, ...], ...] = ()
    effect: Effect = Effect.UNKNOWN
    scripts: tuple[str, ...] = ()
    only_form: str | None = None
    mixed: str = ""
    touches: tuple[Touch, ...] = ()
    changes: tuple[str, ...] | None = None
    left_out: str = ""

    @property
    def reads(self) -> bool:
        """True if it only reads and was allowed as such."""
        return self.canonical is not None
