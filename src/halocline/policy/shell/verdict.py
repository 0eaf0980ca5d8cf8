"""Decide whether a command line may run, by the findings about its parts and by the mode, without a sandbox.

Without one, auto mode allows what reads and what only edits files of the workspace or changes the shell; what a program
does once it runs, only a sandbox bounds (`holding`).
"""

import os
import re
from collections.abc import Sequence
from copy import copy

from msgspec.structs import astuple, replace

from halocline.policy.commands import STRICTNESS, Circumstances, CommandJudgement, Finding, Rule, Use
from halocline.policy.holding import LOSES
from halocline.policy.shell.findings import MOST_SHOWN, MOST_TARGETS, TOO_LONG, Analysis, make_part
from halocline.policy.shell.floors import KEEPS_CONTENT
from halocline.policy.shell.guards import HANDS_ON, calls_guards
from halocline.policy.shell.judge import MOST_COMMANDS, analyse_command
from halocline.policy.shell.permissions import Wrong, in_force, why_forbidden
from halocline.policy.shell.programs.installed import note_impostors
from halocline.policy.shell.programs.leaving_out import say_left_out
from halocline.policy.shell.programs.mutating import GIT_SHOWS_NOTHING, SHELLS
from halocline.policy.shell.programs.reading import may_read_folders
from halocline.policy.shell.spellings import UNREAD, is_unknown
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.name_patterns import UNSURE, names_hidden_switch
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Verdict

_FREE = frozenset({Rule.READS, Rule.SHELL, Rule.WRITES})
_QUOTES, _MAY_STAY = compile_later(r"""[\\'"]"""), compile_later(r"\b(cd|pushd|popd)\b[^;&|\n]*[;\n]")


def judge_command(command: str, where: Circumstances) -> CommandJudgement:
    """Judge a command line by its parts. Never raises."""
    plain = _QUOTES.sub("", command)
    hidden, oddly = names_hidden_switch(plain), bool(UNSURE.search(plain))
    ground = replace(Ground(*astuple(where)), starts=(where.folder,), matches_hidden=hidden, matches_oddly=oddly)
    analysis = analyse_command(command, ground)
    if not (analysis.reads or where.typed) and _MAY_STAY.search(command):
        stopping = replace(ground, stops=True, touches=[], left_out={})
        again = analyse_command(command, stopping)
        analysis, ground = (again, stopping) if again.reads else (analysis, ground)
    note_impostors(analysis, ground)
    if not analysis.reads and _runs_made_file(analysis):
        analysis.words.append(UNREAD)
    odd = next((char for char in command if char not in "\n\t" and not char.isprintable()), "")
    if analysis.problem != TOO_LONG and len(analysis.findings) > MOST_COMMANDS:
        analysis.problem = "it has too many parts"
    elif analysis.problem != TOO_LONG and odd:
        analysis.problem = f"it contains the invisible character U+{ord(odd):04X}"
    if where.typed or not analysis.reads:
        analysis.run_as_written()
    judged = _judge_floor(analysis, where) or _judge_permitted(command, analysis, where)
    judged = judged or _judge_in_plan(analysis, where)
    mixed = mix_forms(command, analysis, names=ground.hides_names) if not analysis.reads and not where.typed else ""
    judged = judged or _by_mode(analysis, where)
    only = analysis.canonical if ground.stops else _only_form(analysis, where)
    judged = replace(judged, only_form=only, mixed=mixed, left_out=say_left_out(ground))
    return _with_parts(replace(judged, touches=tuple(dict.fromkeys(ground.touches))), analysis)


def _runs_made_file(analysis: Analysis) -> bool:
    """Return True if a command may run a file that the line itself makes: what is in it was not read."""
    making = [one for one in analysis.findings if one.argv is None or one.argv[0] not in KEEPS_CONTENT]
    pairs = ((one.words.split(" ")[0], touch) for one in making for touch in one.touches if touch.use is Use.CHANGE)
    paths = [(os.path.basename(run), touch.path.path) for run, touch in pairs]
    made = {os.path.basename(at) for run, at in paths if not at.endswith(f"/{run}")}  # an unknown one changes itself
    made |= {"git"} if any("/.git/" in at for _, at in paths) else set()  # its hooks and settings
    searched = any("PATH=" in raw for raw, _ in analysis.segments)
    for name, *rest in filter(None, analysis.words) if made else ():
        script = next((word for word in rest if not word.startswith("-")), "")
        run = script if name in SHELLS | {"source", "."} else name if searched or "/" in name or name == "git" else ""
        run = f"{run}/Makefile/makefile/GNUmakefile" if name in ("make", "gmake") else run
        if not made.isdisjoint(filter(None, run.split("/"))):
            return True
    return False


def _only_form(analysis: Analysis, where: Circumstances) -> str | None:
    """Return the form of a command that only reads in it, but may show hidden files or be forbidden as written."""
    if not analysis.reads:
        return None
    written = copy(analysis)
    written.findings = [*analysis.findings]
    written.run_as_written()
    names_hidden = where.hides is not None and where.hides.key and HANDS_ON in str(analysis.canonical)
    return analysis.canonical if names_hidden or _judge_floor(written, where) else None


def _with_parts(judged: CommandJudgement, analysis: Analysis) -> CommandJudgement:
    canonical = analysis.canonical if judged.decision is Verdict.ALLOW and analysis.reads else None
    worst = _worst_finding(analysis)
    effect = Effect.READ_ONLY if analysis.reads else worst.part.effect if worst else Effect.UNKNOWN
    simple = [*analysis.findings]
    if analysis.problem:
        # No rule can allow what was not understood: the most that it can do is to destroy.
        simple.append(Finding(make_part("", Effect.DESTRUCTIVE, analysis.problem), Rule.NOT_ANALYSED))
    return replace(
        judged,
        parts=tuple(finding.part for finding in analysis.findings[:MOST_COMMANDS]),
        canonical=canonical,
        simple=tuple(simple),
        within=tuple(analysis.words),
        effect=Effect.UNKNOWN if effect is Effect.READ_ONLY and not analysis.reads else effect,
        scripts=tuple(f"{name}={found}" for name, found in sorted(analysis.scripts.items())),
        changes=None if analysis.problem else list_named_changes(analysis.findings),
    )


def _judge_floor(analysis: Analysis, where: Circumstances) -> CommandJudgement | None:
    """Deny what no mode allows; ask, even in yolo mode, about what may turn out to be that."""
    if finding := analysis.first(Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED):
        more = " (no mode allows that)" if finding.rule is Rule.FLOOR else ""
        return CommandJudgement(Verdict.DENY, finding.rule.value, f"{finding.part.reason}{more}", binding=True)
    finding = analysis.first(Rule.LEADS_ANYWHERE) if where.approval_mode is ApprovalMode.YOLO else None
    if finding is None:
        return None
    return CommandJudgement(Verdict.ASK, finding.rule.value, finding.part.reason, binding=True)


def _judge_permitted(command: str, analysis: Analysis, where: Circumstances) -> CommandJudgement | None:
    if where.facts.permissions is None and not where.book.permissions:
        return None
    try:
        given = in_force(where.facts.permissions, where.book.permissions)
    except Wrong as wrong:
        return CommandJudgement(Verdict.ASK, "command-permissions", str(wrong), binding=True)
    why = next((why for one in given if (why := why_forbidden(command, analysis, *one))), "")
    return CommandJudgement(Verdict.DENY, "command-permissions", why, binding=True) if why else None


def _judge_in_plan(analysis: Analysis, where: Circumstances) -> CommandJudgement | None:
    """Deny in plan mode what does more than read."""
    if where.mode is not Mode.PLAN or analysis.reads:
        return None
    worst = None if analysis.problem else _worst_finding(analysis)
    looks = all(finding.part.effect is Effect.READ_ONLY for finding in analysis.findings)
    if worst and worst.rule in (Rule.SECRET, Rule.OUTSIDE) and not where.typed and looks:
        return None
    why = analysis.problem or (worst.part.reason if worst else "it is not known to be read-only")
    return CommandJudgement(Verdict.DENY, "plan-mode", f"plan mode is read-only: {why}", binding=True)


def _worst_finding(analysis: Analysis) -> Finding | None:
    bound = (finding for finding in analysis.findings if not finding.reads)
    return max(bound, key=lambda finding: STRICTNESS[finding.rule], default=None)


def _by_mode(analysis: Analysis, where: Circumstances) -> CommandJudgement:
    """Judge by the approval mode what nothing forbids."""
    mode = where.approval_mode
    if analysis.reads and not where.risky:
        return CommandJudgement(Verdict.ALLOW, "read-only", "it only reads, inside the workspace")
    if analysis.reads:
        return CommandJudgement(Verdict.ASK, "model-warned", "the model itself flagged it as risky")
    worst = _worst_finding(analysis)
    if mode is not ApprovalMode.AUTO:
        why = analysis.problem or (worst.part.reason if worst else "")
        reason = f"{mode} mode asks before commands that do more than read{': ' if why else ''}{why}"
        return CommandJudgement(Verdict.ASK, f"mode-{mode}", reason)
    return _judge_in_auto(analysis, worst, risky=where.risky)


def _judge_in_auto(analysis: Analysis, worst: Finding | None, *, risky: bool) -> CommandJudgement:
    if analysis.problem:
        return CommandJudgement(Verdict.ASK, "not-analysed", f"the command could not be analyzed: {analysis.problem}")
    if worst and worst.rule not in _FREE:
        return CommandJudgement(Verdict.ASK, worst.rule.value, worst.part.reason)
    if analysis.unguarded:
        return CommandJudgement(Verdict.ASK, Rule.SECRET.value, analysis.unguarded)
    if risky:
        return CommandJudgement(Verdict.ASK, "model-warned", "the model itself flagged it as risky")
    return CommandJudgement(Verdict.ALLOW, "mode-auto", "auto mode allows reading and edits")


_EXACT = compile_later(
    "cat|chmod|cp|date|echo|grep|head|ln|ls|mkdir|mv|printf|rm|rmdir|sed|sort|tail|tee|touch|tr|truncate|unlink|uniq|wc"
)
_WRITING = (Effect.READ_ONLY, Effect.WRITES_INSIDE, Effect.DESTRUCTIVE)
_OPEN = "*?[{$`"


def list_named_changes(findings: Sequence[Finding]) -> tuple[str, ...] | None:
    """Return the absolute paths of all entries that a command can change; None if it may change others too."""
    if not findings or not all(map(_is_exact, findings)):
        return None
    changed = [touch for one in findings for touch in one.touches if touch.use in LOSES]
    if any(touch.path.linked and touch.use is Use.CHANGE for touch in changed):
        return None
    return tuple(dict.fromkeys(name for touch in changed for name in touch.path.names))


def _is_exact(finding: Finding) -> bool:
    part, changes = finding.part, any(touch.use in LOSES for touch in finding.touches)
    if part.effect is Effect.READ_ONLY and not changes:
        return True
    program = part.text.split(maxsplit=1)[0] if part.text.strip() else ""
    is_named = not any(mark in target for target in part.targets for mark in _OPEN)
    is_whole = 0 < len(part.targets) < MOST_TARGETS and changes
    return part.effect in _WRITING and bool(_EXACT.fullmatch(program)) and is_named and is_whole


UNGUARDED = "may show files that are hidden or hold secrets; run it on its own"


def mix_forms(command: str, analysis: Analysis, *, names: bool) -> str:
    """Return the line with the forms of parts that read whole folders or a history, or list `names`; empty if none do.

    What stays as written is named in `analysis.unguarded`; git gets a finding for it, as no sandbox hides its objects.
    """
    mixed, replaced = command, set[str]()
    for number, one in enumerate(analysis.findings):
        if one.form_alone is None or one.argv is None or not may_read_folders(one.argv, names=names):
            continue
        places = _find_commands(mixed, one, analysis.findings) if one.words not in replaced else []
        for at in reversed(places):
            mixed = f"{mixed[:at]}{one.form_alone}{mixed[at + len(one.words) :]}"
            replaced.add(one.words)
        if one.words in replaced and one.rule is Rule.HISTORY and one.as_written is Rule.HISTORY:
            analysis.findings[number] = replace(one, rule=Rule.READS)
    done = {one.argv for one in analysis.findings if one.words in replaced}
    not_done = {one.argv for one in analysis.findings if one.words not in replaced}
    try:
        mixed = mixed if mixed != command and parse_command(mixed) else ""
    except NotUnderstood:
        mixed = ""
    for words in analysis.words:
        if _may_show(words) and not (mixed and words in done - not_done):
            analysis.unguarded = analysis.unguarded or f"{' '.join(words)[:MOST_SHOWN]} {UNGUARDED}"
            if os.path.basename(words[0]) == "git":
                shown = make_part(" ".join(words), Effect.READ_ONLY, analysis.unguarded)
                analysis.findings.append(Finding(shown, Rule.HISTORY, argv=words))
    return mixed


def _may_show(words: tuple[str, ...]) -> bool:
    """Return True if a command as written shows whole folders, or git shows what it gets by name only when it runs."""
    sub = next((word for word in words[1:] if not word.startswith("-")), "")
    fed = os.path.basename(words[0]) == "git" and any(map(is_unknown, words[1:])) if words else False
    return may_read_folders(words) or (fed and sub not in GIT_SHOWS_NOTHING)


def _find_commands(text: str, one: Finding, findings: list[Finding]) -> list[int]:
    """Return where the text of a part stands as a command; none if that is not sure, or its form cannot stand there."""
    source, same = one.words, [other for other in findings if other.words == one.words]
    alike = all(other.top and other.form_alone == one.form_alone for other in same)
    if len(one.part.text) >= MOST_SHOWN or not source or not alike or calls_guards(str(one.form_alone)):
        return []
    longer = sum(other.part.text.count(source) for other in findings if other.words != source)
    ends = rf"(?<![\w-]){re.escape(source)}(?=\s*(?:$|[;&|)}}]|\d?[<>]))"
    places = [found.start() for found in re.finditer(ends, text)]
    return places if len(places) == len(same) == text.count(source) - longer else []
