"""The findings about each simple command, and about the whole command line."""

from msgspec import Struct, field
from msgspec.structs import replace

from halocline.policy.commands import STRICTNESS as STRICTNESS, Finding as Finding, Rule as Rule
from halocline.policy.shell.spellings import AS_WRITTEN, UNREAD
from halocline.policy.shell.syntax.tree import Block
from halocline.protocol.permission_rules import CommandPart, Effect


class Analysis(Struct):
    """All findings about a command line. `problem` says why it could not be analyzed completely.

    `functions` are those that it defines, `called` has a name for each call and each further round of a loop, `traps`
    are texts that run at the end. `unguarded` says what may show secrets because it runs as written. `is_beside`: there
    is another analysis of the same text, in an unknown folder; this one only tells what is hidden in known ones.
    """

    findings: list[Finding] = field(default_factory=list)
    canonical: str | None = None
    problem: str = ""
    segments: list[tuple[str, str]] = field(default_factory=list)
    redirects: bool = False
    words: list[tuple[str, ...]] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    functions: dict[str, list[Block]] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)
    traps: list[str] = field(default_factory=list)
    unguarded: str = ""
    is_beside: bool = False

    def make_inner(self) -> "Analysis":
        """Return an empty analysis for a part of the command line, which may call the same functions."""
        return Analysis(functions=self.functions, called=self.called, is_beside=self.is_beside)

    @property
    def reads(self) -> bool:
        """True if it only reads, only where that needs no approval, and can be run in a form that does no more."""
        clear = bool(self.findings) and not self.problem and self.canonical is not None
        return clear and all(finding.reads for finding in self.findings)

    def run_as_written(self) -> None:
        """Raise the rules of findings that only their form makes harmless."""
        self.canonical, self.findings = None, as_written_findings(self.findings)
        self.words = [UNREAD if one == AS_WRITTEN else one for one in self.words]

    def first(self, *rules: Rule) -> Finding | None:
        return next((finding for rule in rules for finding in self.findings if finding.rule is rule), None)


def make_part(text: str, effect: Effect, reason: str = "", targets: tuple[str, ...] = ()) -> CommandPart:
    """Return a part for display, with long text cut."""
    short = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return CommandPart(short, effect, targets[:MOST_TARGETS], reason)


def unknown_finding(text: str, reason: str, rule: Rule = Rule.UNKNOWN) -> Finding:
    """Return the finding for a part whose effect is unknown."""
    return Finding(make_part(text, Effect.UNKNOWN, reason), rule)


def as_sent(taken: Finding) -> Finding:
    """Return the finding for a secret that a program reads which uses the network."""
    reason = f"{taken.part.reason.partition(';')[0]}, and the program uses the network"
    part = make_part(taken.part.text, Effect.NETWORK, reason, taken.part.targets)
    return replace(taken, part=part, rule=Rule.SENDS)


def as_written_findings(found: list[Finding]) -> list[Finding]:
    """Return findings with the rules that apply when commands run as written."""
    written = list(found)
    for at, one in enumerate(found):
        if (rule := one.as_written) and one.rule is Rule.READS:
            reason = one.part.reason or one.reason_as_written or (HIDDEN_HISTORY if rule is Rule.HISTORY else FORM_ONLY)
            written[at] = replace(one, rule=rule, part=replace(one.part, reason=reason), canonical=None)
    return written


HIDDEN_HISTORY = "it may show versions of files that are hidden or hold secrets; run it on its own"
MOST_ANALYSED = 8_000
"""Longest text that is judged, in characters, without the heredocs that it writes to files and the like."""
TOO_LONG = "it is too long"
FORM_ONLY = "it uses names that are known only when it runs; run it on its own"
MOST_SHOWN = 200
MOST_TARGETS = 20
