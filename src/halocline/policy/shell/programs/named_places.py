"""Judge the places that the words of a program name, whatever the program does with them.

A word counts as each path that it may hold: itself, what follows `=` or `@`, and what is glued to a flag. So no table
of programs is needed to know what an upload sends (`curl -T FILE`, `-d@FILE`) or a flag replaces (`gcc -oFILE`).
"""

import re
from collections.abc import Iterator

from halocline.policy.commands import CAREFUL, Use
from halocline.policy.holding import is_of_system, is_of_tools
from halocline.policy.paths import LONGEST_PATH
from halocline.policy.shell.findings import Finding, Rule, make_part
from halocline.policy.shell.syntax.tree import Simple, Word
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

_URL = compile_later(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([^/:\s?#]+)|git@([\w.-]+):", re.I)
_HOST = compile_later(r"(?:[\w.-]+@)?([\w.-]+\.[a-z]{2,}):(?![\d:])", re.I)
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]", "0.0.0.0"})
_PATHLESS = compile_later(r"[\s'\"`;|&(){}<>]")
_UNKNOWN = frozenset({Rule.UNKNOWN, Rule.DYNAMIC})


def judge_named(simple: Simple, ground: Ground, finding: Finding) -> Finding:
    """Raise a finding to that of the gravest place that the words name."""
    if finding.rule is Rule.NETWORK:
        return _judge_sending(simple, ground, finding)
    if finding.rule is not Rule.WRITES and finding.rule not in _UNKNOWN:
        return finding
    wanted = tuple(CAREFUL) if finding.rule in _UNKNOWN else (Place.SECRET,)
    named = list(_list_places(simple, ground))
    for place in wanted:
        one = next((one for one in named if one.place is place and not _is_harmless(one)), None)
        if one and not (place is Place.RUNS_LATER and is_of_tools(one.path)):
            ground.note([one], Use.READ)
            rule, reason = CAREFUL[place]
            reason, targets = reason.format(shown=one.shown, path=one.path), (*finding.part.targets, one.shown)
            return Finding(make_part(simple.source, finding.part.effect, reason, targets), rule)
    if finding.rule in _UNKNOWN and (host := _find_host(simple)):
        shown = make_part(simple.source, Effect.NETWORK, f"it may contact {host}", finding.part.targets)
        return Finding(shown, Rule.NETWORK)
    return finding


def _judge_sending(simple: Simple, ground: Ground, finding: Finding) -> Finding:
    """Name the file that a program which uses the network is given, and the host: it may send one to the other."""
    named = [one for one in _list_places(simple, ground) if one.place in (Place.SECRET, Place.OUTSIDE, Place.IGNORED)]
    copied = (found[1] for word in simple.words[1:] if (found := _HOST.match(word.text)))
    host = _find_host(simple) or next(copied, "")
    one = next((one for one in named if one.place is not Place.OUTSIDE), None)
    if one is None:
        targets = (*finding.part.targets, *(one.shown for one in named if not _is_harmless(one)))
        reason = finding.part.reason + (f" ({host})" if host else "")
        return Finding(make_part(simple.source, Effect.NETWORK, reason, targets), Rule.NETWORK)
    ground.note([one], Use.READ)
    reason = f"it may send {one.shown}, which may hold secrets, to {host or 'another machine'}"
    return Finding(make_part(simple.source, Effect.NETWORK, reason, (one.shown,)), Rule.SENDS)


def _is_harmless(one: Found) -> bool:
    return one.place is Place.OUTSIDE and is_of_system(one.path)


def _find_host(simple: Simple) -> str:
    """Return the first host that the words name, other than this machine; empty if there is none."""
    texts = [word.text for word in simple.words[1:]]
    found = (one[1] or one[2] for text in texts if (one := _URL.search(text)))
    return next((host for host in found if host not in _LOCAL), "")


def _list_places(simple: Simple, ground: Ground) -> Iterator[Found]:
    for word in simple.words[1:]:
        if word.is_pattern or word.could:
            yield from ground.targets(word)
        for text in _list_texts(word) if not word.dynamic else ():
            try:
                yield from ground.find(text, quoted=word.quoted and text == word.text)
            except ToolFailure:
                continue


def _list_texts(word: Word) -> Iterator[str]:
    """Yield the texts in a word that may be paths, the shortest first: `.env` of `f=@.env`."""
    text = word.text if not word.text.startswith("--exclude") else ""
    texts = {text} if not text.startswith("-") else set()
    if text.startswith("-"):
        value = text.partition("=")[2]
        texts |= {value, *value.split(","), *re.split(r"[,=@]", text[2:])} if not text.startswith("--") else {value}
    elif "=" in text or "@" in text:
        texts |= {text.partition("=")[2], text.rpartition("@")[2], text.rpartition("<")[2]}
    for one in sorted(texts, key=lambda text: (len(text), text)):
        path = one.removeprefix("@").removeprefix("<")
        if path and len(path) <= LONGEST_PATH and not path.startswith("//") and not _PATHLESS.search(path):
            yield path
