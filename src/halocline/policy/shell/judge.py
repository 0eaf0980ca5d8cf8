"""Judge every simple command of a command line: in pipelines, lists, substitutions, loops, heredocs and wrappers.

The strictest finding wins. A command that only reads also gets the form in which it is run, made from the tree alone:
even if the parser misread the text, that form does no more than what was judged.
"""

from msgspec.structs import replace

from halocline.policy.commands import Finding, Rule
from halocline.policy.shell import findings
from halocline.policy.shell.blocks import Blocks
from halocline.policy.shell.expansion import expand_simple
from halocline.policy.shell.findings import MOST_ANALYSED, TOO_LONG, Analysis, is_too_long, make_part
from halocline.policy.shell.guards import with_guards
from halocline.policy.shell.hazards import find_extended, find_steering, runs_subscripts
from halocline.policy.shell.listed_names import PIPES, find_echoed, names_printed
from halocline.policy.shell.places import judge_reading
from halocline.policy.shell.programs.moving import leads_to_folder
from halocline.policy.shell.programs.scripts import files_named, reads_script
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.programs.xargs_and_find import asks_for_secrets
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.policy.shell.syntax.tree import Block, Chain, Node, Simple, every_node
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.kept_places import kept_names_in
from halocline.policy.shell.values.printed_texts import split_text
from halocline.policy.shell.values.variables import UNKNOWN, Values
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect

MOST_COMMANDS = 40
_DEEPEST = 8
MOST_PIECES = 1_000
_CUT = compile_later(r"[\n;|&(){}`]+")
_CUT_COMMANDS = compile_later(r"[\n;()`]+|\|\|?&?|&&|(?<!>)&")
_CUT_PIPELINES = compile_later(r"[\n;(){}`]+|\|\||&&|(?<!\|)&")
_KEYWORDS = compile_later(r"^\s*(?:(?:if|then|elif|else|while|until|do|time|!)\s+)+")
_DELETERS = "rm|rmdir|unlink|shred|mv|truncate|rsync|zip|zstd|lzma|compress|gzip|gunzip|bzip2|bunzip2|xz|unxz"
_GRAVE = compile_later(rf"\b({_DELETERS}|find|dd|mkfs|wipefs|chmod|chown)\b|/dev/|\.halocline")
_DELETES = compile_later(rf"\b({_DELETERS}|find)\b")
_GIVES_NAMES = compile_later(r"\b(while|until|for|select|xargs|parallel)\b|-exec|-ok|\$\(|`")
_QUOTES = compile_later(r"[\\'\"]")
_MOVES = compile_later(r"\b(cd|pushd|popd)\b")
_JOINTS = {"|": " | ", "|&": " |& ", "&&": " && ", "||": " || ", ";": "; ", "\n": "; ", "": ""}
_HOLDS_ANYWHERE = frozenset({Rule.OWN_STATE, Rule.IGNORED})
"""Rules that forbid a command even if it may run in another folder than the one where it breaks them."""


def analyse_command(text: str, ground: Ground) -> Analysis:
    """Judge a command line. Never raises."""
    analysis = Analysis()
    ground = replace(ground, mentioned=kept_names_in(text, ground))
    if ground.matches_oddly:
        analysis.findings += find_extended(text)
    try:
        tree = None if is_too_long(text) else parse_command(text)
    except NotUnderstood as why:
        analysis.problem = str(why)
        Judge(analysis, 0).judge_partly(text, why.before, ground)
        return analysis
    if tree is None or is_too_long(text, tree):
        analysis.problem = TOO_LONG
        Judge(analysis, 0).look_for_worst(text, ground)
        return analysis
    form, _ = Judge(analysis, 0).whole(tree, ground)
    analysis.canonical = None if form is None else with_guards(form, ground)
    if analysis.canonical and len(analysis.canonical.encode(errors="replace")) > findings.LONGEST_FORM:
        reason = "it repeats so much that the form that would check it is too long to run"
        analysis.canonical = None
        analysis.findings.append(Finding(make_part(text, Effect.UNKNOWN, reason), Rule.LEADS_ANYWHERE))
    return analysis


class Judge(Blocks):
    """Walks a tree and collects findings. `depth` counts scripts within scripts (`sh -c`, `eval`)."""

    def whole(self, tree: Node, ground: Ground) -> tuple[str | None, Ground]:
        """Return the form of a whole text and the ground after it. Functions are collected first: any may be called."""
        for node in every_node(tree):
            if isinstance(node, Block) and node.kind == "function":
                self.analysis.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, Simple) and node.redirects and "exec" in {one.text for one in node.words[:2]}:
                self.held = self.names_behind(expand_simple(node, ground).redirects, ground) or self.held
                ground = replace(ground, fed=(*self.held, *ground.fed))
        if why := runs_subscripts(tree):
            self.analysis.findings.append(Finding(make_part(why, Effect.UNKNOWN, why), Rule.LEADS_ANYWHERE))
        steering = find_steering(tree)
        if self.analysis.functions or steering:
            ground = replace(ground, rebinds=True, functions=self.analysis.functions)
        form, after = self.node(tree, ground)
        if steering:
            form = None
            self.analysis.raise_finding(steering)
        traps, self.analysis.traps = self.analysis.traps, []
        for text in dict.fromkeys(traps):
            found: list[Finding] = []
            self.script(text, after.with_folders((*after.starts, *self.analysis.stood)), found)
            self.analysis.findings += findings.as_written_findings(found)
        for name in [name for name in self.analysis.functions if name not in self.analysis.called]:
            self.call(name, None, ground)
        if ground.links.are_lost and not self._depth:
            reason, form = "it makes too many links to follow", None
            self.analysis.findings.append(findings.unknown_finding("ln", reason, Rule.LEADS_ANYWHERE))
        return form, after

    def script(self, text: str, ground: Ground, found: list[Finding]) -> tuple[str | None, Ground]:
        """Judge a script given to a shell. Its commands become findings of their own. Return the ground after it."""
        inside = self.analysis.make_inner()
        canonical, after, unjudged = None, ground, ""
        try:
            unjudged = TOO_LONG if len(text) > MOST_ANALYSED else ""
            unjudged = "it is nested too deeply" if self._depth >= _DEEPEST else unjudged
            if unjudged:
                raise NotUnderstood(unjudged)
            judge = Judge(inside, self._depth + 1)
            judge.calls, judge.rounds, judge.held, judge.jumps = [*self.calls], self.rounds, self.held, self.jumps
            canonical, after = judge.whole(parse_command(text), ground)
        except NotUnderstood as why:
            self.jumps.append(ground)
            if not unjudged:
                Judge(inside, self._depth + 1).judge_partly(text, why.before, ground)
            rule = Rule.LEADS_ANYWHERE if unjudged else Rule.NOT_ANALYSED
            inside.findings.append(findings.unknown_finding(text, str(why), rule))
        self.analysis.segments += inside.segments
        self.analysis.words += inside.words
        self.analysis.scripts |= inside.scripts
        self.analysis.redirects |= inside.redirects
        self.analysis.traps += inside.traps
        if canonical is None:
            self.analysis.findings += inside.findings
        found += inside.findings or [Finding(make_part(text, Effect.READ_ONLY), Rule.READS, "")]
        return canonical, after

    def judge_partly(self, text: str, before: Node, ground: Ground) -> None:
        """Judge text that was not understood: the part before the problem, each line on its own, what looks worst."""
        self.whole(before, ground)
        seen = {finding.part.text for finding in self.analysis.findings}
        for line in text.splitlines():
            if line.strip() not in seen:
                self.try_line(line, ground)
        self.look_for_worst(text, ground)
        if _DELETES.search(text) and _GIVES_NAMES.search(text):
            why = "what it deletes is known only when it runs, and the command could not be fully parsed"
            self.analysis.findings.append(Finding(make_part(text, Effect.DESTRUCTIVE, why), Rule.LEADS_ANYWHERE))

    def look_for_worst(self, text: str, ground: Ground) -> None:
        """Judge parts of text not understood that no mode may allow; after a `cd` in it, in an unknown folder."""
        ground = ground.with_folders((*ground.starts, UNKNOWN)) if _MOVES.search(text) else ground
        cut = (*_CUT.split(text), *_CUT_PIPELINES.split(text), *_CUT_COMMANDS.split(text))
        pieces = dict.fromkeys(_KEYWORDS.sub("", piece).strip() for piece in cut if _GRAVE.search(piece))
        for piece in list(pieces)[:MOST_PIECES]:
            if len(piece) < MOST_ANALYSED:
                self.try_line(piece, ground)
                self.try_line(_QUOTES.sub("", piece), ground)  # it may be the end of a script in quotes

    def try_line(self, line: str, ground: Ground) -> None:
        """Judge one line, as far as it parses, of a text that was not understood as a whole."""
        try:
            self.whole(parse_command(line), ground)
        except NotUnderstood as why:
            self.whole(why.before, ground)

    def node(self, node: Node, ground: Ground) -> tuple[str | None, Ground]:
        """Return the form of a node if it only reads, and the ground after it if it succeeds."""
        if len(ground.starts) == 1 or UNKNOWN not in ground.starts:
            return self._node(node, ground)
        known = ground.with_folders(ground.folders)
        if self.analysis.is_beside:
            form, after = self._node(node, known)
            return form, after.with_folders((*after.starts, UNKNOWN))
        return self._node_in_doubt(node, known, ground.with_folders((UNKNOWN,)))

    def _node_in_doubt(self, node: Node, known: Ground, unknown: Ground) -> tuple[str | None, Ground]:
        """Judge a node in an unknown folder, and for what is hidden, in those that the shell may still be in."""
        before = len(self.analysis.findings)
        form, after = self._node(node, unknown)
        noted, self.analysis = self.analysis, self.analysis.make_inner()
        self.analysis.is_beside = True
        _, beside = self._node(node, known)
        found, self.analysis = findings.as_written_findings(self.analysis.findings), noted  # none runs in its form
        leaving_out = {one.words: one.form_alone for one in found}
        here = [replace(one, form_alone=leaving_out.get(one.words)) for one in noted.findings[before:]]
        noted.findings[before:] = [*here, *(one for one in found if one.rule in _HOLDS_ANYWHERE)]
        return form, after.merge(beside)

    def _node(self, node: Node, ground: Ground) -> tuple[str | None, Ground]:
        if isinstance(node, Chain):
            return self._chain(node, ground)
        return self.block(node, ground) if isinstance(node, Block) else self.simple(node, ground)

    def _chain(self, chain: Chain, ground: Ground) -> tuple[str | None, Ground]:
        forms: list[str | None] = []
        anywhere, after, start, sure, begin = ground, ground, ground, True, 0
        places = zip(chain.items, ("", *chain.joints), chain.joints, strict=False)
        for number, (item, before, joint) in enumerate(places):
            if before in PIPES:
                here = start
            elif before == "&&" and sure:
                here = after
            else:
                here = anywhere if before else ground
            certain = before in ("", ";", "\n", "&")
            sure = before == "&&" if not sure else before in ("", "&&", ";", "\n", *PIPES)
            sure = sure and before != "||"
            begin = begin if before in PIPES else number
            feeders = chain.items[begin:number]
            if feeders and isinstance(item, Simple):
                self._note_fed_secret(feeders[0], item, here)
            fed = (*self._names_fed(feeders, item, here), *self.held) if feeders else ground.fed
            form, after = self.node(item, replace(here, fed=fed))
            if feeders and isinstance(item, Simple) and reads_script(self._words(item, here)):
                self._note_piped_script([one for one in feeders if isinstance(one, Simple)], item, here)
            after = replace(after, fed=ground.fed)
            if before in PIPES or joint in PIPES or joint == "&":
                stays = joint not in (*PIPES, "&") and here.variables.lost  # perhaps by `shopt -s lastpipe`
                after = here.merge(after) if stays else here
            start = here
            merged = anywhere.merge(after)
            anywhere = merged.with_variables(after.variables) if certain else merged
            if ground.stops and certain and form and joint in (";", "\n", "") and leads_to_folder(item, after):
                form, anywhere = f"{form} || exit", after
            anywhere = anywhere.with_settings_of(after)
            forms.append(form if joint in _JOINTS else None)
        if any(form is None for form in forms):
            return None, anywhere
        text = "".join(f"{form}{_JOINTS[joint]}" for form, joint in zip(forms, chain.joints, strict=True))
        return text, after if all(joint in ("&&", "") for joint in chain.joints) else anywhere

    def _note_piped_script(self, feeders: list[Simple], reader: Simple, ground: Ground) -> None:
        """Record the script piped to an interpreter: the files that earlier commands in the pipeline name."""
        for item in feeders:
            self.analysis.scripts |= files_named(self._words(item, ground)[1:], ground)
        loads = any(item.program in ("curl", "wget") for item in feeders)
        why = f"{reader.program} runs what {'it downloads' if loads else 'comes through the pipe'}"
        for at, one in enumerate(self.analysis.findings):
            if one.rule is Rule.UNKNOWN and one.part.text == reader.source:
                self.analysis.findings[at] = replace(one, part=replace(one.part, reason=why))

    def _names_fed(self, feeders: tuple[Node, ...], reader: Node, ground: Ground) -> Values:
        """Return the names that come through a pipe to a program that may change them."""
        if isinstance(reader, Simple) and reader.program in READERS and not any(one.scripts for one in reader.words):
            return ()
        if text := find_echoed(feeders[-1], ground, expand_simple):
            return tuple(split_text(text))
        return names_printed(feeders, ground, expand_simple)

    def _note_fed_secret(self, feeder: Node, fed: Simple, ground: Ground) -> None:
        """Record a name written out before `xargs` that its program may not read without asking."""
        if not isinstance(feeder, Simple) or feeder.program not in ("echo", "printf", "find") or fed.program != "xargs":
            return
        words = expand_simple(feeder, ground).words
        printed = words[1:] if feeder.program != "find" else ()
        names = [".env"] if asks_for_secrets(words) else [text for word in printed for text in word.text.split()]
        found = judge_reading(fed.source, [one for name in names for one in ground.places(name)], "", ground)
        if not found.reads:
            self.analysis.findings.append(found)

    def _words(self, simple: Simple, ground: Ground) -> tuple[str, ...]:
        return tuple(word.source if word.dynamic else word.text for word in expand_simple(simple, ground).words)
