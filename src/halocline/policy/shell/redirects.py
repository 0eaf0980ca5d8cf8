"""Judge redirections: to a file as writing, from a file as reading; the null device and descriptors are free."""

import shlex

from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.named_places import judge_further_names
from halocline.policy.shell.places import judge_listing, judge_overwriting, judge_reading, judge_writing
from halocline.policy.shell.syntax.tree import Redirect, render
from halocline.policy.shell.values.ground import Found, Ground
from halocline.policy.shell.values.kept_places import leads_to_kept, leads_to_untouched
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import Effect

_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_OVERWRITES = frozenset({">", ">|", "&>", ">&", "<>"})
_FREE = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
_KNOWN_NAME = frozenset({Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED, Rule.SECRET})
"""Reasons that hold if any name that a target may have gives them."""


def judge_redirect(redirect: Redirect, source: str, ground: Ground) -> Finding:
    """Judge one redirection. It has a form if it is free or only reads what may be read."""
    finding = _judge_target(redirect, source, ground)
    named = [redirect.target] if redirect.target and redirect.operator[:2] != "<<" else []
    listed = judge_listing(source, named, ground) if finding.rule in (Rule.READS, Rule.WRITES) else None
    return judge_further_names(source, named, finding, ground) or listed or finding


def _judge_target(redirect: Redirect, source: str, ground: Ground) -> Finding:
    target, operator = redirect.target, redirect.operator
    braces = target and any("{" in piece.text and not piece.quoted for piece in target.pieces)
    if braces and operator[:2] != "<<":
        return unknown_finding(source, "braces in its redirect make several file names", Rule.DYNAMIC)
    if operator in (">&-", "<&-"):
        return Finding(make_part(source, Effect.READ_ONLY), Rule.READS, f"{redirect.fd}{operator}")
    if operator in ("<<", "<<-", "<<<"):
        return _judge_heredoc(redirect, source)
    if target is None or target.value is None:
        return _judge_unknown(redirect, source, ground)
    text = target.value
    if operator in (">&", "<&") and text.rstrip("-").isdecimal():
        return Finding(make_part(source, Effect.READ_ONLY), Rule.READS, f"{redirect.fd}{operator}{text}")
    sets_variable = redirect.fd != "" and not redirect.fd.isdecimal()
    form = None if sets_variable else f"{redirect.fd}{operator} {render(target)}"
    if text in _FREE and (operator != "<" or text == "/dev/null"):
        return Finding(make_part(source, Effect.READ_ONLY), Rule.READS, form)
    try:
        found = ground.find(text, quoted=target.quoted)
    except ToolFailure as why:
        return unknown_finding(source, why.text, Rule.DYNAMIC)
    return _judge_found(redirect, source, found, ground, form)


def _judge_found(
    redirect: Redirect, source: str, found: list[Found], ground: Ground, form: str | None = None
) -> Finding:
    if redirect.operator not in _WRITES:
        return judge_reading(source, found, form, ground)
    written = judge_writing(source, found, "writes to", ground)
    over = redirect.operator in _OVERWRITES and judge_overwriting(source, found, ground.facts)
    return over or written if written.rule is Rule.WRITES else written


def _judge_heredoc(redirect: Redirect, source: str) -> Finding:
    """Return a text that the program reads, in the form of a here-string (`<<<`), which adds a newline."""
    shown = make_part(source, Effect.READ_ONLY)
    text = redirect.target.value if redirect.target else None
    if text is None or (redirect.fd and not redirect.fd.isdecimal()):
        return Finding(shown, Rule.READS)
    if redirect.operator == "<<<":
        quoted = redirect.target.source if redirect.target and redirect.target.verbatim else shlex.quote(text)
        return Finding(shown, Rule.READS, f"{redirect.fd}<<< {quoted}")
    form = f"<<< {shlex.quote(text[:-1])}" if text else "< /dev/null"
    return Finding(shown, Rule.READS, f"{redirect.fd}{form}")


def _judge_unknown(redirect: Redirect, source: str, ground: Ground) -> Finding:
    """Judge a target that is known only when it runs, as far as it is known."""
    writes, found = redirect.operator in _WRITES, ground.targets(redirect.target) if redirect.target else []
    judged = _judge_found(redirect, source, found, ground) if found else None
    if judged and (judged.rule in _KNOWN_NAME or (writes and judged.rule is Rule.DESTROYS)):
        return judged
    could = [one.text for one in redirect.target.could] if redirect.target else []
    if any((leads_to_kept if writes else leads_to_untouched)(text, ground) for text in could):
        reason = f"the target of {redirect.operator} may be a protected file; spell out the path"
        return unknown_finding(source, reason, Rule.LEADS_ANYWHERE)
    if not writes or redirect.target is None:
        return unknown_finding(source, "what it reads is known only when it runs", Rule.DYNAMIC)
    if judged:
        return judged
    reason = f"it writes to {redirect.target.source}, which is known only when it runs"
    return Finding(make_part(source, Effect.WRITES_OUTSIDE, reason, (redirect.target.source,)), Rule.OUTSIDE)
