"""Judge one simple command with the contents of its words, its redirections and the variables set for it."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable

from msgspec.structs import replace

from halocline.policy.commands import STRICTNESS, Finding, Rule, Touch, Use
from halocline.policy.shell.assignments import judge_assignments, judge_read, with_assignments
from halocline.policy.shell.conditions import judge_brackets
from halocline.policy.shell.expansion import expand_simple, expand_word, with_names
from halocline.policy.shell.findings import Analysis, Forms, as_sent, as_written_findings, make_part, unknown_finding
from halocline.policy.shell.floors import fed_floor, passes_floor
from halocline.policy.shell.guards import HANDS_ON, rule_as_written, with_guards
from halocline.policy.shell.hazards import find_extended, find_hazard, matches_hidden, splits_oddly
from halocline.policy.shell.listed_names import names_behind, names_found
from halocline.policy.shell.named_places import judge_further_names, judge_named, judge_touching
from halocline.policy.shell.places import judge_listing
from halocline.policy.shell.programs import fed_programs
from halocline.policy.shell.programs.installed import runs_elsewhere
from halocline.policy.shell.programs.moving import MOVES, ground_after_moving, list_elsewhere
from halocline.policy.shell.programs.program import MILDER, judge_program
from halocline.policy.shell.programs.scripts import entries, files_named, reads_script, scripts_of
from halocline.policy.shell.programs.wrappers import FINDS, Wrapped, find_innermost, unwrap_command
from halocline.policy.shell.programs.xargs_and_find import LISTS, executed_form, fed_form, given_names
from halocline.policy.shell.redirects import judge_redirect
from halocline.policy.shell.spellings import AS_WRITTEN, UNREAD
from halocline.policy.shell.syntax.tree import Block, Node, Redirect, Simple, Word, inner, known_words, words_of
from halocline.policy.shell.texts import with_target, with_texts
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.name_patterns import OTHER_SHELLS
from halocline.policy.shell.values.printed_texts import NAME, fill_names, part_as_read
from halocline.policy.shell.values.variables import MOST_VALUES, READ_INPUT, UNKNOWN, Values, changed_by, is_fully_known
from halocline.protocol.permission_rules import Effect

_EFFECTS = {Rule.RIGHTS: Effect.WRITES_OUTSIDE, Rule.NETWORK: Effect.NETWORK}
"""Effects that a wrapper adds with its rule."""
_MILD_EFFECTS = (Effect.READ_ONLY, Effect.UNKNOWN)
_JUMPS = frozenset({"break", "continue", "return", "source", ".", "trap"})
"""Commands behind which the rest of a loop or a function may not run."""
MOST_WRAPPERS = 16
"""Programs that run each other in one command."""


class SimpleCommands(ABC):
    """Collects the findings of simple commands. `depth` counts nested scripts, `calls` are nested function calls.

    `jumps` are the grounds from which a loop or a function may end early.
    """

    def __init__(self, analysis: Analysis, depth: int) -> None:
        self.analysis = analysis
        self._depth, self._wrappers, self.rounds = depth, 0, 1
        self.calls, self.held, self.jumps = list[str](), tuple[str, ...](), list[Ground]()

    @abstractmethod
    def node(self, node: Node, ground: Ground) -> tuple[str | None, Ground]: ...

    @abstractmethod
    def script(self, text: str, ground: Ground, found: list[Finding]) -> tuple[str | None, Ground]: ...

    @abstractmethod
    def look_for_worst(self, text: str, ground: Ground) -> None: ...

    @abstractmethod
    def call(self, name: str, words: tuple[Word, ...] | None, ground: Ground) -> Ground: ...

    def simple(self, simple: Simple, ground: Ground) -> tuple[str | None, Ground]:
        """Return the form of a simple command if it only reads, and the ground after it."""
        if not (simple.words or simple.assignments or simple.redirects):
            return "", ground
        noted = len(ground.touches)
        forms = self.forms_within(simple, ground)
        expanded = expand_simple(simple, ground)
        scripts, self.analysis.scripts = self.analysis.scripts, {}
        self.note_segment(simple, expanded, ground)
        rendered = with_texts(expanded, forms, ground)
        if any(word.checked for word in rendered.words) and not judge_program(rendered, ground)[0].reads:
            rendered = expanded  # if it does more than read, it is judged by what its words may turn out to be
        fed = self.names_behind(expanded.redirects, ground) or ground.fed  # what it runs reads them: `eval bash <<< X`
        finding, after = self._judge_expanded(rendered, replace(ground, fed=fed), forms)
        after = replace(after, fed=ground.fed)
        own, self.analysis.scripts = self.analysis.scripts, scripts | self.analysis.scripts
        shows = _leaves_out(finding, expanded, ground, noted)
        redirects = [with_target(one, forms, ground) if finding.reads else one for one in expanded.redirects]
        before = len(ground.touches)
        found = [finding, *(judge_redirect(redirect, simple.source, ground) for redirect in redirects)]
        written = tuple(one for one in ground.touches[before:] if one.use is Use.CHANGE)
        made = (each for one in simple.assignments for word in one.values or () for each in expand_word(word, ground))
        listing = None if shows else judge_listing(simple.source, (*expanded.words, *made), ground)
        found += [one for one in (listing, judge_further_names(simple.source, expanded.words, finding, ground)) if one]
        found += [as_sent(one) for one in found if one.rule is Rule.SECRET and finding.rule is Rule.NETWORK]
        strictest = max(found, key=lambda one: STRICTNESS[one.rule])
        targets = tuple(dict.fromkeys(target for one in found for target in one.part.targets))
        forms_found = [one.canonical for one in found]
        form = None if None in forms_found else " ".join(str(one) for one in forms_found if one)
        part = make_part(simple.source, strictest.part.effect, strictest.part.reason, targets)
        floor = passes_floor(expanded, ground, finding) if rendered is not expanded and expanded.words else None
        rules = (rule_as_written(one, (*rendered.words, *words_of(expanded))) for one in (form, *forms_found))
        as_written = Rule.IGNORED if shows else floor.rule if floor else None
        as_written = _find_strictest((finding.as_written, as_written, *rules))
        rule = _find_strictest((strictest.rule, as_written if form is None else None)) or strictest.rule
        touches = tuple(dict.fromkeys(ground.touches[noted:]))
        why = floor.part.reason if floor else ""
        judged = Finding(part, rule, form, known_words(expanded), entries(own), as_written, why, touches)
        self.analysis.findings.append(self._with_program(judged, finding, simple, written))
        return form, self._ground_after(expanded, after)

    def _with_program(self, judged: Finding, finding: Finding, simple: Simple, written: tuple[Touch, ...]) -> Finding:
        """Return a judged command with what is known of its program alone, and what its redirections change."""
        alone = finding.canonical if finding.reads and not simple.assignments else None
        words = " ".join(word.source for word in simple.words)
        judged = replace(judged, opened=finding.opened, is_opened=finding.is_opened, redirects=written)
        return replace(judged, top=not self._depth, words=words, form_alone=alone)

    def _ground_after(self, simple: Simple, after: Ground) -> Ground:
        """Return the ground after the command, with the variables that it set."""
        read = part_as_read(simple, self.names_behind(simple.redirects, after) or after.fed)
        if len(read) >= MOST_VALUES and simple.program in READ_INPUT:  # of many, those count that lead to what is kept
            read = tuple(sorted(read, key=lambda one: not (after.may_begin(one) and after.hides_text(one))))
        if simple.words and simple.words[0].text == "set":
            simple = replace(simple, words=with_names(simple.words, after))
        after = after.with_variables(changed_by(simple, after.variables, read))
        if splits_oddly(simple):
            after = replace(after, splits_oddly=True)
        return replace(after, matches_hidden=True) if matches_hidden(simple) else after

    def forms_within(self, node: Simple | Block, ground: Ground) -> dict[int, str | None]:
        """Return the forms of the commands in words and redirections. What `>( )` reads is not known."""
        unread = replace(ground, fed=(UNKNOWN,))
        return {id(one): self.node(one, unread if reads else ground)[0] for one, reads in inner(node)}

    def names_behind(self, redirects: Iterable[Redirect], ground: Ground) -> Values:
        """Return the names that come from redirections of command output or text."""
        names = names_behind(redirects, ground, expand_simple)
        return (*self.held, *names) if names else ()

    def note_segment(self, simple: Simple, expanded: Simple, ground: Ground) -> None:
        """Record the words of a command for matching rules."""
        assigned = (f"{one.name}={one.value.source}" for one in simple.assignments)
        raw = " ".join((*assigned, *(word.source for word in simple.words)))
        words = tuple(word.source if word.dynamic else word.text for word in expanded.words)
        self.analysis.segments.append((raw, " ".join(words)))
        self.analysis.words.append(words)
        self.analysis.scripts |= scripts_of(words, ground)
        if reads_script(words):
            read = (one.target for one in expanded.redirects if one.operator == "<")
            self.analysis.scripts |= files_named(tuple(word.text for word in read if word), ground)
        self.analysis.redirects |= any(redirect.operator not in (">&", "<&") for redirect in simple.redirects)

    def _judge_expanded(self, simple: Simple, ground: Ground, forms: Forms) -> tuple[Finding, Ground]:
        if why := find_hazard(simple):
            return unknown_finding(simple.source, why, Rule.LEADS_ANYWHERE), ground
        if not simple.words:
            return judge_assignments(simple, ground, forms), ground
        name = simple.words[0].value
        self.analysis.stood |= dict.fromkeys(ground.starts)
        if name is None or name in _JUMPS or self.analysis.traps:
            self.jumps.append(ground)
        finding, after = self._by_name(name, simple, ground, forms)
        if name and finding.rule in (Rule.READS, *MILDER) and (why := runs_elsewhere(name, ground)):
            finding = Finding(make_part(simple.source, finding.part.effect, why, finding.part.targets), Rule.OUTSIDE)
        if name in self.analysis.functions:
            after = after.merge(self.call(str(name), simple.words[1:], ground))
            rule = Rule.SHELL if finding.rule in (Rule.READS, Rule.UNKNOWN) else finding.rule
            finding = replace(finding, canonical=None, rule=rule)
        return with_assignments(simple, passes_floor(simple, ground, finding) or finding), after

    def _by_name(self, name: str | None, simple: Simple, ground: Ground, forms: Forms) -> tuple[Finding, Ground]:
        if name == "trap" and len(simple.words) > 2:
            return self._judge_trap(simple, ground)
        if name in ("test", "[") and (tested := judge_brackets(name, simple, forms, ground)):
            return tested, ground
        if name == "read" and (read := judge_read(simple)):
            return read, ground
        if fed_programs.runs_unread(simple, ground.fed):
            self.analysis.words.append(AS_WRITTEN if any(word.checked for word in simple.words) else UNREAD)
            texts, before = [word.text for word in simple.words[1:] if word.value], len(self.analysis.findings)
            self.look_for_worst("\n".join((*texts, " ".join(texts).partition(" run ")[2])), ground)
            worst = (one for one in self.analysis.findings[before:] if one.rule not in (Rule.READS, *MILDER))
            self.analysis.findings[before:] = worst
        wrapped = unwrap_command(simple)
        if not wrapped and (wrapped := fed_programs.unwrap_input(simple, ground.fed)):
            ground = replace(ground, fed=(*ground.fed, UNKNOWN))  # a program in it reads what is left, once
        if wrapped and name == "xargs" and (form := fed_form(simple, ground)):
            finding, _ = self._judge_wrapped(wrapped, simple, ground)
            reads = Finding(make_part(simple.source, Effect.READ_ONLY), Rule.READS, form)
            return reads if finding.rule in MILDER else finding, ground
        if wrapped and name == "find" and not ground.rebinds and (form := executed_form(simple, ground)):
            return Finding(make_part(simple.source, Effect.READ_ONLY), Rule.READS, form), ground
        if wrapped:
            touching = judge_touching(wrapped.list_own(simple), ground, Use.READ) if name not in FINDS else None
            return (touching, ground) if touching else self._judge_wrapped(wrapped, simple, ground)
        if ground.fed and (named := judge_touching(fed_programs.list_names_read(simple, ground.fed), ground)):
            return named, ground
        finding, after = judge_program(simple, ground)
        if not finding.reads and (form := given_names(simple, forms, ground)):
            finding = Finding(make_part(simple.source, Effect.READ_ONLY), Rule.READS, form)
        return finding, ground_after_moving(simple, ground) if name in MOVES else after

    def _judge_trap(self, simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
        """Judge a text that runs later, perhaps in another folder. Between commands, it may change theirs."""
        found: list[Finding] = []
        words = [word for at, word in enumerate(simple.words[1:]) if at or word.value != "--"]
        text = words[0].value if words else ""
        if text is None:
            return unknown_finding(simple.source, "what it runs later is not known", Rule.NOT_ANALYSED), ground
        if text not in ("", "-"):
            _, after = self.script(text, ground, found)
            self.analysis.traps.append(text)
            if any(word.value not in ("EXIT", "0") for word in words[1:]):
                ground = ground.with_folders((*ground.starts, *after.starts))
        found = as_written_findings(found)
        strictest = max(found, key=lambda one: STRICTNESS[one.rule], default=None)
        rule = strictest.rule if strictest and strictest.rule is not Rule.READS else Rule.SHELL
        effect = strictest.part.effect if strictest else Effect.UNKNOWN
        targets = strictest.part.targets if strictest else ()
        return Finding(make_part(simple.source, effect, "it runs text as a command later", targets), rule), ground

    def _judge_wrapped(self, wrapped: Wrapped, simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
        """Judge a command within a command; the wrapper adds its own rule."""
        if self._wrappers >= MOST_WRAPPERS:
            return unknown_finding(simple.source, "it is nested too deeply", Rule.LEADS_ANYWHERE), ground
        finds, names = simple.words[0].text in FINDS, None
        if wrapped.feeds:
            names = names_found(simple, ground) if finds else fed_programs.list_names_fed(wrapped, ground.fed)
            sure = not finds and all(map(is_fully_known, names))
            self.analysis.words += [] if sure or not fed_programs.runs_given(wrapped) else [UNREAD]
            ground = ground.with_variables(ground.variables.with_value("@", (*names, "")).with_value(NAME, names))
            wrapped = replace(wrapped, words=fed_programs.with_slots_filled(wrapped))
        if wrapped.script is None:
            fed = None if names is None else fed_programs.word_for(wrapped, names)
            found, canonical, after = self._judge_words(wrapped, simple, fed, ground)
            for other in list_elsewhere(wrapped.folder, ground):
                found = found + self._judge_words(wrapped, simple, fed, other)[0]
            if fed and (text := fed_programs.complete_wrapper(wrapped, names or ())):
                found = found + self._judge_text(text, simple, ground)[0]
        else:
            quoted = map(shlex.quote, names or ()) if wrapped.reason.startswith("parallel") else names or ()
            filled = wrapped.script if names is None else fill_names(wrapped.script, wrapped.slot, quoted)
            found, canonical, after = self._judge_text(filled, simple, ground)
        found = found if wrapped.form and canonical else as_written_findings(found)
        as_written = _find_strictest(one.as_written for one in found)
        strictest = max(found, key=lambda one: STRICTNESS[one.rule])
        rule, reason, effect = strictest.rule, strictest.part.reason, strictest.part.effect
        if wrapped.rule is not None and STRICTNESS[wrapped.rule] > STRICTNESS[rule]:
            rule, reason = wrapped.rule, wrapped.reason
            effect = _EFFECTS.get(rule, Effect.UNKNOWN) if effect in _MILD_EFFECTS else effect
        targets = tuple(target for one in found for target in one.part.targets)
        form = wrapped.form(canonical) if wrapped.form and canonical and rule is Rule.READS else None
        judged = Finding(make_part(simple.source, effect, reason, targets), rule, form, as_written=as_written)
        if wrapped.rule in (None, Rule.SHELL):
            opened = found[0].opened or known_words(Simple("", wrapped.words)) or () if wrapped.script is None else ()
            judged = replace(judged, opened=opened, is_opened=wrapped.script is not None or found[0].is_opened)
        judged = judge_named(wrapped.list_own(simple), ground, judged) if wrapped.script is None else judged
        return judged, after if wrapped.stays else ground

    def _judge_text(self, text: str, simple: Simple, ground: Ground) -> tuple[list[Finding], str | None, Ground]:
        """Judge a script that a wrapper runs; return its findings, its form and the ground after it."""
        if NAME in text and NAME not in ground.variables.known:
            self.analysis.words.append(UNREAD)
        found = [*find_extended(text)] if simple.program in OTHER_SHELLS else list[Finding]()
        ground = replace(ground, matches_oddly=ground.matches_oddly or simple.program in OTHER_SHELLS)
        form, after = self.script(text, ground, found)
        return found, None if form is None else with_guards(form, ground), after

    def _judge_words(
        self, wrapped: Wrapped, simple: Simple, fed: Word | None, ground: Ground
    ) -> tuple[list[Finding], str | None, Ground]:
        """Judge a command that a wrapper runs, perhaps with words that it is fed; return the same."""
        within = Simple(wrapped.source, wrapped.words, redirects=simple.redirects)
        self._wrappers += 1
        finding, after = self._judge_expanded(within, ground, {})
        self._wrappers -= 1
        rules = finding.as_written, rule_as_written(finding.canonical, within.words)
        found = [replace(finding, as_written=_find_strictest(rules))]
        noted = within if fed is None else replace(within, words=wrapped.with_fed(fed))
        self.note_segment(noted, noted, ground)
        if fed is not None and wrapped.words:
            floor = fed_floor(find_innermost(Simple(wrapped.source, noted.words)), fed, ground, found[0])
            found += [one for one in (floor, judge_touching(noted, ground)) if one]
        # A program cannot run our functions; `time` is a keyword.
        hands_on = (finding.canonical or "").startswith(HANDS_ON) and simple.words[0].text != "time"
        return found, None if hands_on else finding.canonical, after


def _leaves_out(finding: Finding, simple: Simple, ground: Ground, noted: int) -> bool:
    """Return True for a form that leaves out hidden names; of its words, the pattern that matches them is not noted."""
    if not str(finding.canonical).removeprefix("time ").startswith(LISTS):
        return False
    del ground.touches[noted:]
    return not judge_touching(replace(simple, words=simple.words[:-1]), ground)


def _find_strictest(rules: Iterable[Rule | None]) -> Rule | None:
    return max((one for one in rules if one), key=STRICTNESS.__getitem__, default=None)
