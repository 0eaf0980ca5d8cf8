"""Find the places that the words of any program name: what no tool may touch, what needs care, what may be sent."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from msgspec.structs import replace

from halocline.policy.commands import CAREFUL, Use
from halocline.policy.holding import is_of_system, is_of_tools
from halocline.policy.paths import LONGEST_PATH
from halocline.policy.sensitive_names import is_secret, runs_later
from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.places import judge_reading
from halocline.policy.shell.syntax.tree import Piece, Simple, Word, home_of
from halocline.policy.shell.values.ground import MOST_ABSENT, Found, Ground
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

LANGUAGES = frozenset({"sed", "gsed", "awk", "gawk", "mawk", "nawk"})
_NAMED = compile_later(r"(?<=[rRwW])(?=\s*([^\s;}]{1,4096}))|\"([^\"\s]+)\"")
"""A file in a program: behind `r` or `w` of `sed`, or between the quotes of `awk`."""
_FLAGS = compile_later(r"-[a-zA-Z]{1,12}")
_PARTS, _OF_TEXTS = compile_later(r"[=@<:,;#{}]"), compile_later(r"[=@<:,;#{}()|&`'\"\s]")
"""What parts a path from the rest of a word; and from the rest of a text, as what is sent may name it in any form."""
_MOST_RESTS, _MOST_NAMED = 64, 2**17
"""Rests of a text tried as paths, since they grow with its square; and letters of a program's names."""
_URL = compile_later(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([^/:\s?#]+)|git@([\w.-]+):", re.I)
_HOST = compile_later(r"\A(?:[\w.-]+@)?([\w.-]+\.[a-z]{2,}):(?![\d:])", re.I)
_FILE_URL = compile_later(r"\bfileb?://(localhost|127\.0\.0\.1)?", re.I)
_NO_PATH = compile_later(r"\0|://|^//(?!/)")
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]", "0.0.0.0"})
_PATHLESS = compile_later(r"[\s'\"`;|&(){}<>]")
_UNKNOWN = frozenset({Rule.UNKNOWN, Rule.DYNAMIC})


def judge_further_names(source: str, words: Sequence[Word], finding: Finding, ground: Ground) -> Finding | None:
    """Return the finding for what words name if their unknown parts are empty, and for names in programs of `sed`.

    None if nothing keeps tools from any of it.
    """
    unsure = (one for word in words for one in word.could if UNKNOWN in one.text != UNKNOWN)
    named = [tuple(replace(each, text=each.text.replace(UNKNOWN, "")) for each in one.pieces) for one in unsure]
    if any(word.text.rpartition("/")[2] in LANGUAGES for word in words):
        files = (one for word in words[1:] for one in _NAMED.finditer(word.text))
        texts = {text for one in files for text in one.groups("") if text}
        if sum(map(len, texts)) > _MOST_NAMED:
            return unknown_finding(source, "its program may name too many files to look at", Rule.LEADS_ANYWHERE)
        named += [(Piece(text),) for text in texts]
    found = [place for pieces in named for place in _find_named(Word("", pieces), ground)]
    for use in (Use.READ,) if finding.part.effect is Effect.READ_ONLY else Use:
        ground.note(found, use)
    judged = judge_reading(source, found, None, ground)
    if judged.rule is Rule.SECRET and not finding.reads:
        return judged
    return replace(judged, rule=Rule.LEADS_ANYWHERE) if judged.rule in (Rule.OWN_STATE, Rule.IGNORED) else None


def judge_touching(simple: Simple, ground: Ground, use: Use = Use.READ) -> Finding | None:
    """Return the finding for a program with a word that leads to what no tool may touch; None for any other."""
    for word in (*simple.words[1:], *(one.value for one in simple.assignments)):
        found = _find_named(word, ground)
        ground.note(found, use)
        finding = judge_reading(simple.source, found, None, ground)
        if finding.rule in (Rule.OWN_STATE, Rule.IGNORED):
            return replace(finding, part=replace(finding.part, effect=Effect.UNKNOWN))
    return None


def _find_named(word: Word, ground: Ground) -> list[Found]:
    """Return where a word leads that is a path, or has one in it."""
    if word.dynamic:
        return [place for one in word.could for place in _find_named(one, ground)]
    matched = ground.targets(word) if word.is_pattern else []
    matched = [one for one in matched if one.place is not Place.OWN_STATE]  # `floors` judge patterns that lead there
    return [*matched, *(one for text in _list_texts(home_of(word), _PARTS, ground) for one in ground.places(text))]


def judge_named(simple: Simple, ground: Ground, finding: Finding) -> Finding:
    """Raise a finding to that of the gravest place that the words name."""
    if finding.rule is Rule.NETWORK:
        return _judge_sending(simple, ground, finding)
    if finding.rule is not Rule.WRITES and finding.rule not in _UNKNOWN:
        return finding
    wanted = tuple(CAREFUL) if finding.rule in _UNKNOWN else (Place.SECRET,)
    named = list(_list_places(simple.words[1:], ground, _PARTS))
    for place in wanted:
        one = next((one for one in named if one.place is place and not _is_harmless(one)), None)
        if one and not (place is Place.RUNS_LATER and is_of_tools(one.path)):
            ground.note([one], Use.READ)
            rule, reason = CAREFUL[place]
            reason, targets = reason.format(shown=one.shown, path=one.path), (*finding.part.targets, one.shown)
            return Finding(make_part(simple.source, finding.part.effect, reason, targets), rule)
    if finding.rule not in _UNKNOWN or not _find_host(simple):
        return finding
    reason = "it may contact another machine"
    return _judge_sending(simple, ground, replace(finding, part=replace(finding.part, reason=reason)))


def _judge_sending(simple: Simple, ground: Ground, finding: Finding) -> Finding:
    """Name the file that a program which uses the network is given, and the host: it may send one to the other."""
    given = (*simple.words[1:], *(Word(one, (Piece(one),)) for one in ground.fed if UNKNOWN not in one))
    found = [*dict.fromkeys(_list_places(given, ground, _OF_TEXTS))]
    ground.note((one for one in found if one.identity or one.place in CAREFUL), Use.READ)
    host = _find_host(simple) or _find_host(simple, _HOST)
    one = next((one for one in found if one.place in (Place.SECRET, Place.IGNORED)), None)
    if one is None:
        outside = (one.shown for one in found if one.place is Place.OUTSIDE and not _is_harmless(one))
        reason = finding.part.reason + (f" ({host})" if host else "")
        part = make_part(simple.source, Effect.NETWORK, reason, (*finding.part.targets, *outside))
        return replace(finding, part=part, rule=Rule.NETWORK)
    holds = "may hold secrets" if one.place is Place.SECRET else "an ignore file hides"
    reason = f"it may send {one.shown}, which {holds}, to {host or 'another machine'}"
    rule = Rule.SENDS if one.place is Place.SECRET else Rule.LEADS_ANYWHERE
    return Finding(make_part(simple.source, Effect.NETWORK, reason, (one.shown,)), rule)


def _is_harmless(one: Found) -> bool:
    return one.place is Place.OUTSIDE and is_of_system(one.path)


def _find_host(simple: Simple, pattern: re.Pattern[str] = _URL) -> str:
    """Return the first host that the words name, other than this machine; empty if there is none."""
    found = ("".join(one.groups("")) for word in simple.words[1:] if (one := pattern.search(word.text)))
    return next((host for host in found if host not in _LOCAL), "")


def _list_places(words: Iterable[Word], ground: Ground, parts: re.Pattern[str]) -> Iterator[Found]:
    texts: dict[tuple[str, bool], None] = {}
    for word in words:
        if word.is_pattern or word.could:
            yield from ground.targets(word)
        for text in _list_texts(word.text, parts, ground) if not word.dynamic else ():
            if parts is _OF_TEXTS or not _PATHLESS.search(text):
                texts[text, word.quoted and text == word.text] = None
    for text, quoted in texts:
        if len(texts) <= MOST_ABSENT or ground.may_begin(text) or runs_later(text) or is_secret(text):
            yield from ground.places(text, quoted=quoted)


def _list_texts(text: str, parts: re.Pattern[str], ground: Ground) -> Iterator[str]:
    """Yield the texts in a word that may be paths, the shortest first: `.env` of `-sFf=@.env;type=x`."""
    text = unquote(_FILE_URL.sub(":", text)) if "://" in text else text
    flags = _FLAGS.match(text)
    found = {text[at:] for at in range(2, flags.end() + 1)} if flags else {text} - {f"--{text[2:]}"}
    if not text.startswith("--exclude="):
        begins = (one.end() for one in parts.finditer(text, max(0, len(text) - LONGEST_PATH)))
        rests = deque((text[at:] for at in begins if ground.may_begin(text, at)), _MOST_RESTS)
        found |= {*parts.split(text), *rests}
    for one in sorted(found, key=lambda text: (len(text), text)):
        if 0 < len(one) <= LONGEST_PATH and not _NO_PATH.search(one):
            yield one
