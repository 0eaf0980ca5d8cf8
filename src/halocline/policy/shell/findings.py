"""The findings about each simple command, and about the whole command line."""

import re
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from halocline.policy.commands import STRICTNESS as STRICTNESS, Finding as Finding, Rule as Rule
from halocline.policy.shell.spellings import AS_WRITTEN, UNREAD
from halocline.policy.shell.syntax.tree import Block, Node, Simple, every_node
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import CommandPart, Effect

Forms = Mapping[int, str | None]
"""The form of each command inside a word, by its identity; None if it may do more than read."""


class Analysis(Struct):
    """All findings about a command line. `problem` says why it could not be analyzed completely.

    `functions` are those that it defines, `called` has a name for each call and each further round of a loop, `traps`
    are texts that run later, `stood` the folders of all commands. `unguarded` says what may show secrets because it
    runs as written. `is_beside`: there is another analysis of the same text, in an unknown folder; this one only tells
    what is hidden in known ones.
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
    stood: dict[str, None] = field(default_factory=dict)
    unguarded: str = ""
    is_beside: bool = False

    def make_inner(self) -> "Analysis":
        """Return an empty analysis for a part of the command line, which may call the same functions."""
        return Analysis(functions=self.functions, called=self.called, stood=self.stood, is_beside=self.is_beside)

    @property
    def reads(self) -> bool:
        """True if it only reads, only where that needs no approval, and can be run in a form that does no more."""
        clear = bool(self.findings) and not self.problem and self.canonical is not None
        return clear and all(finding.reads for finding in self.findings)

    def run_as_written(self) -> None:
        """Raise the rules of findings that only their form makes harmless."""
        self.canonical, self.findings = None, as_written_findings(self.findings)
        self.words = [UNREAD if one == AS_WRITTEN else one for one in self.words]

    def raise_finding(self, finding: Finding) -> None:
        """Make a command's finding as strict as this one about the same text, or add it."""
        found = self.findings
        at = next((at for at, one in enumerate(found) if one.part.text == finding.part.text), None)
        if at is None:
            found.append(finding)
        elif STRICTNESS[found[at].rule] < STRICTNESS[finding.rule]:
            found[at] = replace(found[at], part=finding.part, rule=finding.rule, canonical=None, form_alone=None)

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


def is_too_long(text: str, tree: Node | None = None) -> bool:
    """Return True if a text is too long to be judged; by its looks, or exactly if its tree is known.

    Heredocs do not count, but those with commands in them, which are judged.
    """
    if len(text) <= MOST_ANALYSED:
        return False
    if tree is None:
        return len(text) > LONGEST_FORM or len(_HEREDOC.sub("", text)) > MOST_ANALYSED
    nodes = (node for node in every_node(tree) if isinstance(node, Simple | Block))
    heredocs = (one for node in nodes for one in node.redirects if one.target and not one.target.scripts)
    return len(text) - sum(len(one.body) for one in heredocs) > MOST_ANALYSED


HIDDEN_HISTORY = "it may show versions of files that are hidden or hold secrets; run it on its own"
MOST_ANALYSED = 8_000
"""Longest text that is judged, in characters, without the heredocs that it writes to files and the like."""
TOO_LONG = "it is too long"
LONGEST_FORM = 120_000
"""Longest form that is run, in bytes: Linux passes no longer argument to a shell than 128 KiB."""
_HEREDOC = compile_later(r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n.*?^\t*\2$", re.MULTILINE | re.DOTALL)
FORM_ONLY = "it uses names that are known only when it runs; run it on its own"
MOST_SHOWN = 200
MOST_TARGETS = 20
