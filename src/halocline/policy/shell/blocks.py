"""Judge blocks: subshells, groups, conditions, loops, functions. Read-only ones get a form that is run.

A loop over known names is run unrolled, with each name written out.
"""

from msgspec.structs import replace

from halocline.policy.shell.conditions import judge_test
from halocline.policy.shell.expansion import expand_redirect, expand_value, expand_word, with_names
from halocline.policy.shell.findings import Finding, Forms, Rule, make_part, unknown_finding
from halocline.policy.shell.guards import HANDS_ON, OWN_VARIABLE, can_check_names, guard_arithmetic, rule_as_written
from halocline.policy.shell.hazards import hazard_of_words
from halocline.policy.shell.places import judge_listing
from halocline.policy.shell.programs.xargs_and_find import LISTS, shown_names
from halocline.policy.shell.redirects import judge_redirect
from halocline.policy.shell.simple import SimpleCommands
from halocline.policy.shell.syntax.tree import Block, Expansion, Kind, Simple, Word, every_node, render
from halocline.policy.shell.texts import render_text, with_target
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.variables import UNKNOWN, names_set, values_of
from halocline.protocol.permission_rules import Effect

MOST_ROUNDS = 50
MOST_CALLS = 250
MOST_MOVES = 8
"""Most rounds of a loop that are followed while each leads to another folder."""
_ROUND = "a round of a loop"
"""Stands for one among the calls; no function is called so."""
DEEPEST_CALL = 16
_AROUND = {"subshell": "( {} )", "group": "{{ {}; }}", "negation": "! {}", "time": "time {}"}


class Blocks(SimpleCommands):
    """Judges blocks by their kind."""

    def block(self, block: Block, ground: Ground) -> tuple[str | None, Ground]:
        """Return the form of a block if it only reads, and the state of the shell after it."""
        forms = self.forms_within(block, ground)
        if why := hazard_of_words(block.words):
            self.analysis.findings.append(unknown_finding(block.source, why, Rule.LEADS_ANYWHERE))
        redirects = [expand_redirect(one, ground) for one in block.redirects]
        fed = self.names_behind(redirects, ground) or ground.fed
        form, after = self._by_kind(block, replace(ground, fed=fed), forms)
        return self._apply_redirects(block, form, ground, forms), replace(after, fed=ground.fed)

    def _by_kind(self, block: Block, ground: Ground, forms: Forms) -> tuple[str | None, Ground]:
        match block.kind:
            case "function":
                simple = [node for node in every_node(block) if isinstance(node, Simple) and node.words]
                if sum(node.words[0].text == block.words[0].text for node in simple) > 1:
                    shown = make_part(block.source, Effect.DESTRUCTIVE, "it starts copies of itself without end")
                    self.analysis.findings.append(Finding(shown, Rule.FLOOR))
                return None, ground
            case "subshell" | "group" | "negation" | "time":
                return self._around(block, ground)
            case "condition":
                return self._condition(block, ground)
            case "loop" | "select" if block.name and block.name != "((":
                return self._each(block, ground, forms)
            case "loop":
                return self._while(block, ground)
            case "case":
                return self._case(block, ground, forms)
            case "arithmetic" if not block.items:
                after = ground.with_variables(ground.variables.before_loop(block))
                rendered = guard_arithmetic(block.words[0].source)
                return f"(({rendered}))" if rendered else None, after
            case "test":
                return self._test(block, ground, forms), ground
        for item in block.items:
            self.node(item, ground)
        return None, ground.with_variables(ground.variables.unsure_of(names_set(block)))

    def _apply_redirects(self, block: Block, form: str | None, ground: Ground, forms: Forms) -> str | None:
        for redirect in block.redirects:
            self.analysis.redirects |= redirect.operator not in (">&", "<&")
            target = with_target(expand_redirect(redirect, ground), forms, ground)
            found = judge_redirect(target, block.source, ground)
            found = replace(found, as_written=rule_as_written(found.canonical))
            if found.as_written or not found.reads:
                self.analysis.findings.append(found)
            form = f"{form} {found.canonical}" if form is not None and found.canonical is not None else None
        return form

    def _around(self, block: Block, ground: Ground) -> tuple[str | None, Ground]:
        form, after = self.node(block.items[0], ground)
        shown = None if not form else _AROUND[block.kind].format(form)
        if block.kind == "negation":  # what follows `&&` runs where it failed
            after = ground.merge(after)
        return shown, ground if block.kind == "subshell" else after

    def _condition(self, block: Block, ground: Ground) -> tuple[str | None, Ground]:
        rendered: list[str] = []
        ends: list[Ground] = []
        here = ground
        for head, item in zip(block.heads, block.items, strict=True):
            form, after = self.node(item, here)
            rendered.append(f"{head} {form}" if form else "")
            if head in ("if", "elif"):
                here = here.merge(after)
            else:
                ends.append(after)
        after = here.merge(*ends)
        return (f"{'; '.join(rendered)}; fi" if all(rendered) else None), after

    def _while(self, block: Block, ground: Ground) -> tuple[str | None, Ground]:
        jumped, here = len(self.jumps), ground.with_variables(ground.variables.before_loop(block))
        forms, after = self._round(block, here)
        rendered = [f"{head} {form}" if form and head else "" for head, form in zip(block.heads, forms, strict=True)]
        _, after = self._repeat(block, here, after)
        form = f"{'; '.join(rendered)}; done" if all(rendered) else None
        if block.name == "((" and form:
            form = _counted_form(block, form)
        return form, here.merge(after, *self.jumps[jumped:])

    def _case(self, block: Block, ground: Ground, forms: Forms) -> tuple[str | None, Ground]:
        found = [self.node(item, ground) for item in block.items]
        after = ground.merge(*(one for _, one in found))
        subject, *patterns = block.words
        expanded = expand_value(subject, ground)
        text = render(expanded) if not expanded.dynamic else render_text(expanded, forms, ground, splits=False)
        rendered: list[str] = []
        for (form, _), head in zip(found, block.heads, strict=True):
            some, patterns = patterns[: int(head or 0)], patterns[int(head or 0) :]
            if form is None or not some or any(one.dynamic or one.scripts for one in some):
                return None, after
            rendered.append(f"{'|'.join(render(one) for one in some)}) {form or ':'};;")
        return f"case {text} in {' '.join(rendered)} esac" if text and rendered else None, after

    def _each(self, block: Block, ground: Ground, forms: Forms) -> tuple[str | None, Ground]:
        words = [one for given in block.words for one in expand_word(given, ground)]
        if len(words) == 1 and shown_names(words[0], ground) and can_check_names(ground):
            form, after = self._each_unknown(block, [], ground, '"${NAMES[@]}"')
            if form:
                part, shown = make_part(block.source, Effect.READ_ONLY), f"{LISTS} {render(words[0])} | {HANDS_ON}"
                self.analysis.findings.append(Finding(part, Rule.READS, form, as_written=Rule.IGNORED))
                return f"{{ mapfile -d '' -t NAMES < <({shown} ends -r {LISTS}); {form}; }}", after
        if listed := judge_listing(block.source, words, ground):
            self.analysis.findings.append(listed)
        named = [ground.names(word) for word in words]
        names = [name for some in named for name in some or ()]
        if None in named or len(names) > min(MOST_ROUNDS, MOST_CALLS // self.rounds) or block.kind == "select":
            return self._each_unknown(block, words, ground, _listed_form(block, words, forms))
        rendered: list[str] = []
        here, around, jumped = ground, self.rounds, len(self.jumps)
        self.rounds *= len(names) or 1
        for name in names:
            before = len(self.analysis.findings)
            here = here.with_variables(here.variables.with_value(block.name, (name,)))
            (form,), after = self._round(block, here)
            here = after.with_folders((*here.starts, *after.starts))
            rendered.append(form or "")
            found = self.analysis.findings
            seen = {_core_of(one) for one in found[:before]}
            found[before:] = [one for one in found[before:] if _core_of(one) not in seen]
        self.rounds = around
        form = _unroll(rendered, ends_early=len(self.jumps) > jumped) if rendered and all(rendered) else None
        return form or (":" if not names else None), ground.merge(here, *self.jumps[jumped:])

    def _each_unknown(self, block: Block, words: list[Word], ground: Ground, listed: str) -> tuple[str | None, Ground]:
        could = tuple(value for word in words for value in values_of(word))
        variables = ground.variables.with_value(block.name, (*could, UNKNOWN)).before_loop(block)
        here = ground.with_variables(variables)
        (form,), after = self._round(block, here)
        if not set(after.starts) <= set(here.starts):
            form, after = self._repeat(block, here, after)
        runs = OWN_VARIABLE.fullmatch(block.name) and block.kind != "select" and not ground.rebinds
        if not (form and listed and runs):
            return None, here.merge(after)
        return f"{{ set -f; for {block.name} in {listed}; do set +f; {form}; done; set +f; }}", here.merge(after)

    def _repeat(self, block: Block, here: Ground, after: Ground) -> tuple[str | None, Ground]:
        """Judge further rounds of a loop until they lead to no other folder; after many, the folder is unknown.

        Return the form of the last round as well.
        """
        form: str | None = None
        for _ in range(MOST_MOVES):
            begin = here.merge(after)
            if set(begin.starts) <= set(here.starts) or not self._can_follow(_ROUND):
                return form, after
            here = begin
            (*_, form), after = self._round(block, here)
        return form, after.with_folders((*here.starts, *after.starts, UNKNOWN))

    def _round(self, block: Block, ground: Ground) -> tuple[list[str | None], Ground]:
        """Judge a round of a loop; return its forms and the ground after it, wherever `break` or the like ends it."""
        jumped, ends, forms = len(self.jumps), [ground], list[str | None]()
        for item in block.items:
            form, after = self.node(item, ends[-1])
            forms, ends = [*forms, form], [*ends, after]
        after = ends[-1].merge(*self.jumps[jumped:])
        self.jumps += [one for one in ends[1:-1] if one.starts != ground.starts]  # a condition ends the loop
        return forms, after

    def _test(self, block: Block, ground: Ground, forms: Forms) -> str | None:
        expanded = [expand_word(word, ground) for word in block.words]
        words = [one[0] if len(one) == 1 else word for one, word in zip(expanded, block.words, strict=True)]
        finding = judge_test("[[", tuple(words), block.source, forms, ground)
        if finding is None:
            finding = unknown_finding(block.source, "it uses a test that is not analyzed", Rule.SHELL)
        self.analysis.findings.append(replace(finding, as_written=rule_as_written(finding.canonical, words)))
        return finding.canonical if finding.reads else None

    def _can_follow(self, name: str) -> bool:
        """Count a call or a further round of a loop; return False, with a finding, if they are too many to judge."""
        self.analysis.called.append(name)
        if len(self.calls) <= DEEPEST_CALL and len(self.analysis.called) <= MOST_CALLS:
            return True
        reason = "its loops and functions run each other too often to follow"
        self.analysis.findings.append(unknown_finding(name, reason, Rule.LEADS_ANYWHERE))
        return False

    def call(self, name: str, words: tuple[Word, ...] | None, ground: Ground) -> Ground:
        """Judge a function as called with these words (None: nothing calls it); return the ground after it."""
        if not self._can_follow(name) or self.calls.count(name) > 1:
            return ground.with_variables(ground.variables.forgotten())
        given = with_names(words or (), ground)
        known = words is not None and all(word.value is not None for word in words)
        variables = replace(ground.variables, arguments=tuple(word.text for word in given) if known else None)
        if not known:
            variables = variables.perhaps(["@"], tuple(text for word in given for text in values_of(word)))
        self.calls.append(name)
        jumped, bodies = len(self.jumps), self.analysis.functions.get(name, [])
        ends = [self.node(block.items[0], ground.with_variables(variables))[1] for block in bodies]
        self.calls.pop()
        after = ground.merge(*ends, *self.jumps[jumped:])
        return after.with_variables(replace(after.variables, arguments=ground.variables.arguments))


def _unroll(rendered: list[str], *, ends_early: bool) -> str:
    """Return the rounds of a loop in sequence; as a numbered loop if a round may end early."""
    if not ends_early:
        return f"{{ {'; '.join(rendered)}; }}"
    numbered = " ".join(f"{number}) {form};;" for number, form in enumerate(rendered))
    return f"for ROUND in {' '.join(map(str, range(len(rendered))))}; do case $ROUND in {numbered} esac; done"


def _counted_form(block: Block, form: str) -> str | None:
    """Return the form of `for ((…; …; …))`, given the form of its body."""
    clauses = [one.strip() for one in block.words[0].source.split(";")]
    rendered = [guard_arithmetic(one) if one else "" for one in clauses]
    if len(clauses) != 3 or None in rendered or len(block.items) > 1:
        return None
    return f"for (({'; '.join(map(str, rendered))})); {form}"


def _listed_form(block: Block, words: list[Word], forms: Forms) -> str:
    """Return the form of a loop's words: known words and command output; empty if there is any other."""
    rendered: list[str] = []
    for word in words:
        match word.parts:
            case _ if not word.dynamic:
                rendered.append(render(word))
            case (Expansion(kind=Kind.COMMAND, quoted=False, scripts=(script,)),) if forms.get(id(script)):
                rendered.append(f"$({forms[id(script)]})")
            case _:
                return ""
    return " ".join(rendered)


def _core_of(finding: Finding) -> tuple[str, Rule, tuple[str, ...]]:
    return finding.part.text, finding.rule, finding.part.targets
