"""Finds the claims about tests and builds in the last words of a model, by a small table, in English. Pure.

What must stay true: a sentence is only a claim if it plainly says that something passes now. A wish, a condition, a
plan and a report of a failure are none. With a new row come true and false sentences in the test's corpus.
"""

import re
from collections.abc import Iterator, Mapping

from halocline.protocol.patterns import compile_later
from halocline.protocol.state.evidence.commands import Check
from halocline.protocol.values import Value

_END = (
    r"(?=\W*$|\s*[^\w\s'’]|\s+(?:now|again|too|locally|successfully|cleanly|fine|and|after|as well|on all|\d+/\d+"
    r"|with(?:out| no| zero| 0) (?:any )?(?:errors?|failures?|problems?|issues?|warnings?|regressions?))\b)"
)
_NOW = r"(?: now| still| again| also| both| all| successfully| have| has| are| is| were| was| been)*"
_KIND = r"(?:unit |integration |regression |e2e |existing |new |updated |relevant |whole |full |entire |complete )*"
_PASS = rf"{_NOW} (?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green){_END}"
_WORKS = rf"{_NOW} (?:works|pass(?:es|ed|ing)|succeeds|succeeded|successful|clean|green){_END}"
_THING = r"(?:project|code|app|application|crate|package|program|everything|it)"
CLAIMS: Mapping[Check, re.Pattern[str]] = {
    Check.TEST: compile_later(
        rf"(?i)\b{_KIND}(?:tests?|specs?|test suite)(?: suites?| cases?)?{_PASS}"
        rf"|\btests?: (?:all )?(?:pass(?:ed|ing)?|green){_END}|`[^`]*\b(?:py)?test\b[^`]*`{_PASS}"
        rf"|\btests? (?:were|was) (?:run|executed) and{_PASS}"
        rf"|\b(?:ran|run) (?:all )?(?:the )?{_KIND}tests?(?: suite)?,? and (?:they|it|everything){_PASS}"
    ),
    Check.BUILD: compile_later(
        rf"(?i)\b(?:build|compilation){_WORKS}|`[^`]*\bbuild\b[^`]*`{_WORKS}"
        rf"|\b{_THING}{_NOW} (?:builds|compiles){_END}"
    ),
}
"""The forms of sentences that say that something passes."""
SUBJECTS = ("test", "spec", "build", "compil")
"""One of these is in each such sentence. Most last words have none, and need none of the patterns."""
_DOUBTS = (
    "should would will might may could can must needs? ought hope\\w* expect\\w* assum\\w* likely probably presumably "
    "ensures? until unless once if when whenever whether before please todo require\\w* not never none neither except "
    "only some most many few subset previous\\w* already original\\w* pre-?existing skip\\w* br[eo]ke\\w* but however "
    "although though while partial\\w* earlier ci upstream stale claim\\w* let remain\\w* goal criteri\\w* want\\w* "
    "wish\\w* suppos\\w*"
)
_NO_CLAIM = compile_later(
    rf"\b(?:{_DOUBTS.replace(' ', '|')}|mak(?:e|ing) sure|so that|in order|to[ -]do|next steps?|last time)\b"
    r"|\b(?:verify|check|confirm|see) (?:that|if|whether)\b|\w+n['’]t\b|^\W*\[ \]|\?\W*$|[\"“”]"
    r"|\bno (?!errors?|failures?|regressions?|warnings?|issues?|problems?)"
    r"|(?<!\bno )(?<!\b0 )\bfail(?:s|ed|ures?)?\b|\b(?:still|are|is|keeps?) failing\b",
    re.IGNORECASE,
)
"""Words that make a sentence no claim."""
_PLAIN = compile_later(
    r"\b(?:(?:could|can|did|have|has|was|were|do|am|is|are)(?: ?n['’]t| not) (?:\w+ ){0,3}"
    r"(?:run|ran|execute\w*|verif\w*|test\w*|confirm\w*|able)|cannot (?:run|execute|verify)|unable to"
    r"|without (?:running|testing)|untested|unverified|not (?:run|tested|verified)"
    r"|(?:still|known|unrelated|pre-?existing) fail\w*|[1-9]\d* (?:tests? )?fail\w*)\b",
    re.IGNORECASE,
)
"""Words that say plainly what failed or was not run: then no sentence beside them is held against the model."""
_NARROW = compile_later(
    r"(?i)\b(?:new|existing|updated|relevant|regression|unit|integration|e2e|both|test|spec)\b(?! suite|s?:)"
)


_MARKUP = compile_later(
    r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|^[ \t]*>.*?$|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)"
)
LONGEST, SENTENCE = 20_000, 400
"""Most characters of last words that are read, and of a sentence."""


class Claim(Value, frozen=True):
    """A sentence that says that something passes; a `narrow` one may speak of some tests only."""

    check: Check
    text: str
    narrow: bool = False


def find_claims(said: str) -> tuple[Claim, ...]:
    """Return the first claim of each kind in a model's last words."""
    said = said[-LONGEST:]
    if not any(subject in said.casefold() for subject in SUBJECTS) or _PLAIN.search(said):
        return ()
    claims: dict[Check, Claim] = {}
    for sentence in _sentences(said):
        if _NO_CLAIM.search(sentence):
            continue
        for check, words in CLAIMS.items():
            if check not in claims and (found := words.search(sentence)):
                narrow = check is Check.TEST and bool(_NARROW.search(found[0]))
                claims[check] = Claim(check, sentence.strip(" -#>|"), narrow)
    return tuple(claims.values())


def _sentences(said: str) -> Iterator[str]:
    """Yield the sentences, without emphasis, quotations and blocks of code."""
    prose = _MARKUP.sub(" ", said)
    for part in re.split(r"(?<=[.!?;])\s+|\n+|; ", prose):
        if part.strip() and len(part) <= SENTENCE:
            yield " ".join(part.split())
