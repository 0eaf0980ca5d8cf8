"""Judge the variables that a command sets: for later commands, for one program, or by `read`."""

import shlex

from msgspec.structs import replace

from halocline.policy.shell.findings import STRICTNESS, Finding, Forms, Rule, make_part
from halocline.policy.shell.guards import OWN_VARIABLE, rule_as_written
from halocline.policy.shell.programs.shell_builtins import rule_of_variables
from halocline.policy.shell.syntax.tree import Simple
from halocline.policy.shell.texts import assigned_form
from halocline.policy.shell.values.ground import Ground
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect

_SAFE = compile_later(
    r"(LC_[A-Z]+|LANG|LANGUAGE|TERM|NO_COLOR|TZ|COLUMNS|LINES|FORCE_COLOR|CLICOLOR)=[A-Za-z0-9_.@+\-/:]*|\w*PAGER=(cat)?"
)
_READ_FLAGS = frozenset({"-r"})


def judge_assignments(simple: Simple, ground: Ground, forms: Forms) -> Finding:
    """Judge assignments without a program, which apply to later commands."""
    if not simple.assignments:
        return Finding(make_part(simple.source, Effect.UNKNOWN), Rule.READS, "")
    form = assigned_form(simple, forms, ground)
    if form is not None:
        return Finding(make_part(simple.source, Effect.READ_ONLY), Rule.READS, form)
    rule = rule_of_variables(one.name for one in simple.assignments)
    return Finding(make_part(simple.source, Effect.UNKNOWN, "it sets variables"), rule)


def judge_read(simple: Simple) -> Finding | None:
    """Return the finding for `read` into the script's own variables; None for any other use."""
    texts = [word.value for word in simple.words[1:]]
    plain = all(text in _READ_FLAGS or (text and OWN_VARIABLE.fullmatch(text)) for text in texts)
    before = [(one.name, one.value.value) for one in simple.assignments]
    if not texts or not plain or any(one.name != "IFS" or one.value.value is None for one in simple.assignments):
        return None
    assigned = "".join(f"IFS={shlex.quote(value or '')} " for _, value in before)
    form = f"{assigned}{' '.join(str(text) for text in ('read', *texts))}"
    return Finding(make_part(simple.source, Effect.READ_ONLY), Rule.READS, form)


def with_assignments(simple: Simple, finding: Finding) -> Finding:
    """Return the finding with the variables that are set for the program taken into account."""
    if simple.words[0].value == "read" and finding.rule is Rule.READS:
        return finding
    assigned = _render_assignments(simple)
    if assigned is None:
        sets = rule_of_variables(one.name for one in simple.assignments)
        stricter = max((finding.rule, Rule.UNKNOWN, sets), key=STRICTNESS.__getitem__)
        effect = Effect.UNKNOWN if finding.rule is Rule.READS else finding.part.effect
        mild = stricter is finding.rule and finding.part.reason
        reason = mild or "it sets variables that may change what the program does"
        as_written = finding.as_written or rule_as_written(finding.canonical, simple.words)
        shown = make_part(simple.source, effect, reason, finding.part.targets)
        return Finding(shown, stricter, as_written=as_written)
    if finding.canonical is not None and assigned:
        return replace(finding, canonical=f"{assigned}{finding.canonical}")
    return finding


def _render_assignments(simple: Simple) -> str | None:
    """Return the assignments before a program as they are run; None if one may change what the program does."""
    form = ""
    for one in simple.assignments:
        known = one.value.value
        plain = one.subscript is None and one.values is None and not one.adds
        if not plain or known is None or not _SAFE.fullmatch(f"{one.name}={known}"):
            return None
        form += f"{one.name}={shlex.quote(known)} "
    return form
