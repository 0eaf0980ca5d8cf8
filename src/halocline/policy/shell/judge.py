"""Every simple command of a command line, judged: in pipelines, lists, substitutions, loops, heredocs and wrappers.

The strictest finding holds. What only reads also gets the form in which it is run, made from the tree alone: whatever
the parser took a text for, that form does no more than what was judged.
"""

import re
import shlex

from halocline.policy.shell import wrappers
from halocline.policy.shell.feeding import executed, piped
from halocline.policy.shell.findings import Analysis, Finding, Rule, part
from halocline.policy.shell.ground import Ground
from halocline.policy.shell.ordinary_work import rule_of_variables
from halocline.policy.shell.parse import NotUnderstood, parse
from halocline.policy.shell.program import judge_program
from halocline.policy.shell.redirects import judge_redirect
from halocline.policy.shell.scripts import entries, scripts_of
from halocline.policy.shell.tree import Block, Chain, Node, Simple, inner
from halocline.protocol.rules import Effect

MOST_COMMANDS = 40
MOST_ANALYSED = 8_000
"""Characters that are taken apart at once: broken text takes the parser longer than its length."""
MOST_PIECES = 1_000
_DEEPEST = 8
_SAFE_VARIABLE = re.compile(r"LC_[A-Z]+|LANG|LANGUAGE|TERM|NO_COLOR|TZ|COLUMNS|LINES|FORCE_COLOR|CLICOLOR")
_SAFE_VALUE = re.compile(r"[A-Za-z0-9_.@+\-/:]*")
_CUT = re.compile(r"[\n;|&(){}`]+")
_GRAVE = re.compile(r"\b(rm|rmdir|unlink|shred|find|dd|mkfs|wipefs|mv|chmod|chown)\b|/dev/|\.halocline")
_STRICTNESS = {rule: number for number, rule in enumerate(Rule)}
_JOINTS = {"|": " | ", "|&": " |& ", "&&": " && ", "||": " || ", ";": "; ", "\n": "; ", "": ""}
_PIPES = frozenset({"|", "|&"})


def analyse(text: str, ground: Ground) -> Analysis:
    """Judge a command line. Never raises."""
    analysis = Analysis()
    if len(text) > MOST_ANALYSED:
        analysis.problem = "it is too long to be analysed"
        _look_for_worst(text, ground, analysis)
        return analysis
    try:
        tree = parse(text)
    except NotUnderstood as why:
        analysis.problem = str(why)
        for line in text.splitlines():
            _Judge(analysis, 0).try_line(line, ground)
        return analysis
    judge = _Judge(analysis, 0)
    analysis.canonical, _ = judge.node(tree, ground)
    if "\n" in text.strip() and analysis.canonical is not None and not _same_by_line(text, ground, analysis):
        analysis.canonical = None
        analysis.problem = "its lines mean something else together"
    return analysis


def _look_for_worst(text: str, ground: Ground, analysis: Analysis) -> None:
    """Of a text that is too long, only what looks as if no mode may allow it."""
    pieces = dict.fromkeys(piece.strip() for piece in _CUT.split(text) if _GRAVE.search(piece))
    judge = _Judge(analysis, 0)
    for piece in list(pieces)[:MOST_PIECES]:
        if len(piece) < MOST_ANALYSED:
            judge.try_line(piece, ground)


def _same_by_line(text: str, ground: Ground, whole: Analysis) -> bool:
    """Whether each line alone is understood, and as it was understood among the others."""
    apart = Analysis()
    judge = _Judge(apart, 0)
    try:
        for line in text.splitlines():
            if line.strip():
                judge.node(parse(line), ground)
    except NotUnderstood:
        return False
    return apart.segments == whole.segments


class _Judge:
    """Walks a tree and collects findings. `depth` counts texts within texts (`sh -c`, `eval`)."""

    def __init__(self, analysis: Analysis, depth: int) -> None:
        self._analysis = analysis
        self._depth = depth

    def try_line(self, line: str, ground: Ground) -> None:
        """Judge a line of a text that as a whole was not understood, as far as it goes."""
        try:
            self.node(parse(line), ground)
        except NotUnderstood:
            return

    def node(self, node: Node, ground: Ground) -> tuple[str | None, Ground]:
        """The form in which it may run, if it only reads; and where it leaves the shell when it succeeds."""
        match node:
            case Chain():
                return self._chain(node, ground)
            case Block():
                self._block(node, ground)
                return None, ground
            case Simple():
                return self._simple(node, ground)

    def _chain(self, chain: Chain, ground: Ground) -> tuple[str | None, Ground]:
        forms: list[str | None] = []
        anywhere, after, start, sure = ground, ground, ground, True
        places = zip(chain.items, ("", *chain.joints), chain.joints, strict=False)
        for number, (item, before, joint) in enumerate(places):
            if before in _PIPES:
                here = start
            elif before == "&&" and sure:
                here = after
            else:
                here = anywhere if before else ground
            sure = before == "&&" if not sure else before in ("", "&&", ";", "\n")
            sure = sure and before != "||"
            form, after = self._fed(forms, chain, number, here) or self.node(item, here)
            if before in _PIPES or joint in _PIPES:
                after = here
            start = here
            anywhere = (
                anywhere.moved((*anywhere.folders, *after.folders)) if anywhere.folders and after.folders else after
            )
            forms.append(form if joint in _JOINTS else None)
        if any(form is None for form in forms):
            return None, anywhere
        text = "".join(f"{form}{_JOINTS[joint]}" for form, joint in zip(forms, chain.joints, strict=True))
        return text.rstrip("; "), after if all(joint in ("&&", "") for joint in chain.joints) else anywhere

    def _fed(
        self, forms: list[str | None], chain: Chain, number: int, ground: Ground
    ) -> tuple[str | None, Ground] | None:
        """A program that reads what `find` gives it through `xargs`; the form of `find` changes with it."""
        find, user = chain.items[number - 1], chain.items[number]
        if (
            not number
            or chain.joints[number - 1] != "|"
            or not isinstance(find, Simple)
            or not isinstance(user, Simple)
        ):
            return None
        if [one.words[0].source for one in (find, user) if one.words] != ["find", "xargs"] or forms[-1] is None:
            return None
        both = piped(find, user, ground)
        if both is None:
            return None
        forms[-1] = both[0]
        self._note_segment(user, ground)
        self._analysis.findings.append(Finding(part(user.source, Effect.READ_ONLY), Rule.READS, both[1]))
        return both[1], ground

    def _block(self, block: Block, ground: Ground) -> None:
        if block.kind == "function" and _calls_itself(block):
            shown = part(block.source, Effect.DESTRUCTIVE, "it starts itself without end")
            self._analysis.findings.append(Finding(shown, Rule.FLOOR))
        unsure = ground
        for item in (*inner(block), *block.items):
            _, after = self.node(item, unsure)
            folders = (*unsure.folders, *after.folders) if unsure.folders and after.folders else ()
            unsure = unsure.moved(folders)
        for redirect in block.redirects:
            self._analysis.redirects = True
            found = judge_redirect(redirect, block.source, ground)
            if found.canonical is None:
                self._analysis.findings.append(found)

    def _simple(self, simple: Simple, ground: Ground) -> tuple[str | None, Ground]:
        for script in inner(simple):
            self.node(script, ground)
        scripts, self._analysis.scripts = self._analysis.scripts, {}
        self._note_segment(simple, ground)
        finding, after = self._judged(simple, ground)
        own, self._analysis.scripts = self._analysis.scripts, scripts | self._analysis.scripts
        found = [finding, *(judge_redirect(redirect, simple.source, ground) for redirect in simple.redirects)]
        strictest = max(found, key=lambda one: _STRICTNESS[one.rule])
        targets = tuple(dict.fromkeys(target for one in found for target in one.part.targets))
        forms = [one.canonical for one in found]
        form = None if None in forms else " ".join(str(form) for form in forms)
        shown = part(simple.source, strictest.part.effect, strictest.part.reason, targets)
        self._analysis.findings.append(Finding(shown, strictest.rule, form, _words(simple), entries(own)))
        return form, after

    def _note_segment(self, simple: Simple, ground: Ground) -> None:
        raw = " ".join(
            (*(f"{name}={word.source}" for name, word in simple.assignments), *(w.source for w in simple.words))
        )
        plain = " ".join(word.source if word.dynamic else word.text for word in simple.words)
        self._analysis.segments.append((raw, plain))
        words = tuple(word.text for word in simple.words)
        self._analysis.words.append(words)
        self._analysis.scripts |= scripts_of(words, ground)
        self._analysis.redirects |= any(redirect.operator not in (">&", "<&") for redirect in simple.redirects)

    def _judged(self, simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
        assigned = _assigned(simple)
        if not simple.words:
            reason = "it sets variables" if simple.assignments else ""
            rule = rule_of_variables(simple.assignments) if simple.assignments else Rule.READS
            return Finding(part(simple.source, Effect.UNKNOWN, reason), rule, None if reason else ""), ground
        wrapped = wrappers.unwrap(simple)
        if wrapped and simple.words[0].source == "find" and (form := executed(simple, ground)):
            return Finding(part(simple.source, Effect.READ_ONLY), Rule.READS, form), ground
        if wrapped:
            finding, after = self._wrapped(wrapped, simple, ground)
        else:
            finding, after = judge_program(simple, ground)
        if assigned is None:
            stricter = max((finding.rule, rule_of_variables(simple.assignments)), key=lambda rule: _STRICTNESS[rule])
            effect = Effect.UNKNOWN if finding.rule is Rule.READS else finding.part.effect
            mild = stricter is finding.rule and finding.part.reason
            reason = mild or "it sets variables for the program that may change what it does"
            return Finding(part(simple.source, effect, reason, finding.part.targets), stricter), after
        if finding.canonical is not None and assigned:
            finding = Finding(finding.part, finding.rule, f"{assigned}{finding.canonical}")
        return finding, after

    def _wrapped(self, wrapped: wrappers.Wrapped, simple: Simple, ground: Ground) -> tuple[Finding, Ground]:
        """The command within a command. What wraps it adds its own."""
        found: list[Finding] = []
        after = ground
        if wrapped.script is not None:
            canonical = self._script(wrapped.script, ground, found)
        else:
            finding, after = self._judged(Simple(wrapped.source, wrapped.words), ground)
            found.append(finding)
            canonical = finding.canonical
            self._note_segment(Simple(wrapped.source, wrapped.words), ground)
        strictest = max(found, key=lambda one: _STRICTNESS[one.rule])
        rule, reason, effect = strictest.rule, strictest.part.reason, strictest.part.effect
        if wrapped.rule is not None and _STRICTNESS[wrapped.rule] > _STRICTNESS[rule]:
            rule, reason = wrapped.rule, wrapped.reason
            effect = Effect.UNKNOWN if effect is Effect.READ_ONLY else effect
        targets = tuple(target for one in found for target in one.part.targets)
        form = wrapped.form(canonical) if wrapped.form and canonical is not None and rule is Rule.READS else None
        return Finding(part(simple.source, effect, reason, targets), rule, form), after if wrapped.stays else ground

    def _script(self, text: str, ground: Ground, found: list[Finding]) -> str | None:
        """A text that a shell is given. Its commands are findings of their own."""
        inside = Analysis()
        canonical: str | None = None
        try:
            if self._depth >= _DEEPEST:
                raise NotUnderstood("it is nested too deeply")
            judge = _Judge(inside, self._depth + 1)
            canonical, _ = judge.node(parse(text), ground)
            if "\n" in text:
                canonical = None
        except NotUnderstood as why:
            inside.findings.append(Finding(part(text, Effect.UNKNOWN, str(why)), Rule.NOT_ANALYSED))
        self._analysis.segments += inside.segments
        self._analysis.words += inside.words
        self._analysis.scripts |= inside.scripts
        self._analysis.redirects |= inside.redirects
        if canonical is None:
            self._analysis.findings += inside.findings
        found += inside.findings or [Finding(part(text, Effect.READ_ONLY), Rule.READS, "")]
        return canonical


def _words(simple: Simple) -> tuple[str, ...] | None:
    """The words of a command that sets no variables and holds nothing that is known only when it runs."""
    known = not simple.assignments and all(word.value is not None for word in simple.words)
    return tuple(word.text for word in simple.words) if known and simple.words else None


def _assigned(simple: Simple) -> str | None:
    """The assignments in front of a program, as they are run; None when one may change what the program does."""
    said = ""
    for name, word in simple.assignments:
        if not _SAFE_VARIABLE.fullmatch(name) or word.value is None or not _SAFE_VALUE.fullmatch(word.value):
            return None
        said += f"{name}={shlex.quote(word.value)} "
    return said


def _calls_itself(function: Block) -> bool:
    name = function.words[0].text if function.words else ""
    waiting: list[Node] = list(function.items)
    calls = 0
    while waiting:
        match waiting.pop():
            case Simple(words=words):
                calls += bool(words) and words[0].text == name
            case Chain(items=items) | Block(items=items):
                waiting += items
    return calls > 1
