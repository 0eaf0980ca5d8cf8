"""A command and its judgement: the values that the gate gives to the judge of command lines (`shell`) and gets back."""

import re
from enum import StrEnum
from functools import cache
from pathlib import Path

from halocline.policy.paths import Resolved
from halocline.ports.shell_facts import ShellFacts
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

_LOSES = (
    (r"\brm\s+(-\w+\s+)*-\w*[rRf]", "deletes files without asking"),
    (r"\bfind\b.*\s-(delete|exec|execdir|ok)\b", "may delete or run what it finds"),
    (r"\b(shred|mkfs\S*|fdisk|parted|wipefs)\b", "destroys data"),
    (
        r"\bgit\b[^;&|\n]*\s(push|reset|clean|rebase|checkout|restore|stash|filter-branch|config|gc|am)\b",
        "changes git state",
    ),
)


@cache
def _compile_patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compile the patterns with the first command, not at every start."""
    return tuple((re.compile(pattern), why) for pattern, why in _LOSES)


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
    `guarded` are the uses of places that deny and ask rules with paths cover.
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


class JudgedPart(Value, frozen=True):
    """One simple command, for matching rules. `argv` is None if its words are known only when it runs.

    `place` is the kind of sensitive place that it reads or changes, if any; `touches` are all places that it uses.
    """

    argv: tuple[str, ...] | None
    effect: Effect
    reads: bool = False
    place: Place | None = None
    scripts: tuple[str, ...] = ()
    touches: tuple[Touch, ...] = ()


class CommandJudgement(Value, frozen=True):
    """The judgement of a command line.

    `canonical` is the form in which an allowed command is run; None: as written. A `binding` judgement holds whatever
    grants or modes allow. `simple` are its simple commands, `within` the words of those wrapped in others; `effect` is
    the gravest of all. `scripts` are the workspace files that it runs, each with a fingerprint. `only_form` is set if
    the command would be forbidden as written: whatever allows it, it runs in that form. `touches` are the places that
    the whole line uses.
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
    touches: tuple[Touch, ...] = ()

    @property
    def reads(self) -> bool:
        """True if it only reads and was allowed as such."""
        return self.canonical is not None


def may_lose(command: str, judged: CommandJudgement) -> str:
    """Say how a command may destroy work in the workspace, which a sandbox does not prevent; empty if it does not."""
    if any(part.effect is Effect.DESTRUCTIVE for part in judged.simple):
        return "may destroy work in the workspace"
    return next((why for pattern, why in _compile_patterns() if pattern.search(command)), "")
