"""Judge reading, writing, overwriting and deleting by the kind of place that paths lead to."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec.structs import replace

from halocline.policy.commands import CAREFUL, NEVER, Use
from halocline.policy.holding import is_of_system, is_of_tools
from halocline.policy.paths import LONGEST_PATH
from halocline.policy.sensitive_names import GIT_STORE
from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.syntax.tree import Piece, Simple, Word, home_of
from halocline.policy.shell.values.ground import DEVICE, Found, Ground
from halocline.policy.shell.values.kept_places import has_unknown
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.ports.shell_facts import ShellFacts
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

_GIT_STORE = compile_later(rf"/{GIT_STORE}(/|$)")
LANGUAGES = frozenset({"sed", "gsed", "awk", "gawk", "mawk", "nawk"})
_NAMED = compile_later(r"(?<=[rRwW])\s*([^\s;}]+)|\"([^\"\s]+)\"")
"""A file in a program: behind `r` or `w` of `sed`, or between the quotes of `awk`."""
OWN = "tools may not touch Halocline's own files"


def _first_of(found: Sequence[Found], place: Place) -> Found | None:
    return next((one for one in found if one.place is place), None)


def judge_reading(
    source: str, found: Sequence[Found], form: str | None, ground: Ground, *, names_only: bool = False
) -> Finding:
    """Judge a command that only reads these paths."""
    ground.note(found, Use.READ)
    contents = () if names_only else found
    if one := _first_of(found, Place.OWN_STATE):
        rule, reason = Rule.OWN_STATE, OWN
    elif one := _first_of(found, Place.IGNORED):
        return _ignored_finding(source, Effect.READ_ONLY, one)
    elif one := _first_of(contents, Place.SECRET):
        rule, reason = Rule.SECRET, f"{one.shown} may hold secrets"
    elif one := next((one for one in contents if one.linked and ground.hides), None):
        rule, reason = Rule.SECRET, f"{one.shown} is a hard link, and an ignore file may hide its other name"
    elif one := next((one for one in contents if _GIT_STORE.search(one.path)), None):
        rule, reason = Rule.SECRET, f"git keeps all versions of files in {one.shown}, also of hidden ones; use git show"
    elif one := next(filter(_is_outside, found), None):
        rule, reason = Rule.OUTSIDE, f"{one.path} is outside the workspace"
    else:
        return Finding(make_part(source, Effect.READ_ONLY), Rule.READS, form)
    return Finding(make_part(source, Effect.READ_ONLY, reason, (one.shown,)), rule)


def judge_listing(source: str, words: Sequence[Word], ground: Ground) -> Finding | None:
    """Return the finding for patterns that make the shell list a sensitive folder; None if there is none."""
    patterns = [one for word in words for one in word.possible if one.is_pattern]
    if any(has_unknown(folder_of(one).text) for one in patterns):
        return unknown_finding(source, "it lists a folder that is known only when it runs", Rule.DYNAMIC)
    found = [place for one in patterns for place in (*ground.targets(one), *ground.targets(folder_of(one)))]
    finding = judge_reading(source, found, None, ground, names_only=True)
    return None if finding.rule is Rule.READS else finding


def judge_further_names(source: str, words: Sequence[Word], finding: Finding, ground: Ground) -> Finding | None:
    """Return the finding for what words name if their unknown parts are empty, and for names in programs of `sed`.

    None if nothing keeps tools from any of it.
    """
    unsure = (one for word in words if word.dynamic for one in word.could if UNKNOWN in one.text != UNKNOWN)
    named = [tuple(replace(each, text=each.text.replace(UNKNOWN, "")) for each in one.pieces) for one in unsure]
    if any(word.text.rpartition("/")[2] in LANGUAGES for word in words):
        files = (one for word in words[1:] for one in _NAMED.finditer(word.text))
        named += [(Piece(text),) for one in files for text in one.groups("") if text]
    found = [place for pieces in named for place in _find_named(Word("", pieces), ground)]
    for use in (Use.READ,) if finding.part.effect is Effect.READ_ONLY else Use:
        ground.note(found, use)
    judged = judge_reading(source, found, None, ground)
    return replace(judged, rule=Rule.LEADS_ANYWHERE) if judged.rule in (Rule.OWN_STATE, Rule.IGNORED) else None


def folder_of(pattern: Word) -> Word:
    """Return the folder before the first active piece of a pattern."""
    plain = list(takewhile(lambda piece: not piece.active, pattern.pieces))
    head = "".join(piece.text for piece in plain).rpartition("/")
    return Word("", (Piece(f"{head[0]}{head[1]}" or "."),), quoted=pattern.quoted)


def _ignored_finding(source: str, effect: Effect, hidden: Found) -> Finding:
    reason = f"{hidden.shown} is hidden by an ignore file, which only the user may change"
    return Finding(make_part(source, effect, reason, (hidden.shown,)), Rule.IGNORED)


def _is_outside(one: Found) -> bool:
    if one.place is Place.SECRET:
        return one.shown == one.path
    return one.place is Place.OUTSIDE and one.path != "/dev/null"


def judge_writing(source: str, found: Sequence[Found], does: str, ground: Ground) -> Finding:
    """Judge a command that changes these paths."""
    ground.note(found, Use.CHANGE)
    targets = tuple(dict.fromkeys(one.shown for one in found))
    effect = Effect.WRITES_INSIDE
    if any(DEVICE.match(one.path) for one in found):
        effect, rule, reason = Effect.DESTRUCTIVE, Rule.FLOOR, "it writes to a device"
    elif _first_of(found, Place.OWN_STATE):
        effect, rule, reason = Effect.WRITES_OUTSIDE, Rule.OWN_STATE, OWN
    elif one := _first_of(found, Place.IGNORED):
        return _ignored_finding(source, effect, one)
    elif one := next(filter(_is_outside, found), None):
        effect, rule, reason = Effect.WRITES_OUTSIDE, Rule.OUTSIDE, f"it {does} {one.path}, outside the workspace"
    elif one := _first_of(found, Place.SECRET):
        rule, reason = Rule.SECRET, f"{one.shown} may hold secrets"
    elif one := _first_of(found, Place.RUNS_LATER):
        rule, reason = Rule.LATER, f"other programs run {one.shown} or read it as configuration"
    else:
        rule, reason = Rule.WRITES, f"it {does} {', '.join(targets[:3])}"
    return Finding(make_part(source, effect, reason, targets), rule)


def judge_overwriting(source: str, found: Sequence[Found], facts: ShellFacts) -> Finding | None:
    """Judge a command that overwrites files; None if none of them exists."""
    over = [one for one in found if facts.is_overwritten(one.path)]
    if not over:
        return None
    targets = tuple(dict.fromkeys(one.shown for one in over))
    reason = f"it overwrites {', '.join(targets[:3])}"
    return Finding(make_part(source, Effect.DESTRUCTIVE, reason, targets), Rule.DESTROYS)


_OF_ENTRIES = frozenset({"rm", "rmdir", "unlink", "mv"})
"""Programs that delete a link that they are given, and not what it leads to."""


def judge_deleting(simple: Simple, words: list[Word], does: str, ground: Ground) -> Finding:
    """Judge a deletion. Some deletions are never allowed."""
    is_of_entries = simple.program in _OF_ENTRIES
    found = [one for word in words for one in (ground.entries(word) if is_of_entries else ground.targets(word))]
    whole = [one for word in words for one in ground.base(word)]
    workspace = ground.find(str(ground.workspace))[0].path if ground.folders else ""
    ground.note(found, Use.DELETE)
    unlisted = [one for one in found if not ground.note_below(one, Use.DELETE)]
    precious = [one for one in found if ground.is_precious(one.path)]
    precious += [one for one in whole if ground.is_precious(one.path) and one.path != workspace]
    shown = tuple(dict.fromkeys([one.shown for one in found] or [word.source for word in words]))
    judged = judge_writing(simple.source, found, does, ground) if found and not precious else None
    if judged and judged.rule in NEVER:
        return judged
    if precious:
        rule, reason = Rule.FLOOR, f"it {does} {precious[0].path}"
    elif any(ground.holds_own_state(one.path) for one in found):
        rule, reason = Rule.OWN_STATE, OWN
    elif unlisted:
        rule, reason = Rule.LEADS_ANYWHERE, f"it {does} too many files to tell whether a rule guards one of them"
    else:
        rule, reason = Rule.DESTROYS, f"it {does} {', '.join(shown[:3])}" if shown else f"it {does}"
    return Finding(make_part(simple.source, Effect.DESTRUCTIVE, reason, shown), rule)


def judge_touching(simple: Simple, ground: Ground, use: Use = Use.READ) -> Finding | None:
    """Return the finding for a program with a word that leads to what no tool may touch; None for any other."""
    for word in simple.words[1:]:
        found = _find_named(word, ground)
        ground.note(found, use)
        finding = judge_reading(simple.source, found, None, ground)
        if finding.rule in (Rule.OWN_STATE, Rule.IGNORED):
            text = word.text.partition("=")[2] or word.text
            return Finding(make_part(simple.source, Effect.UNKNOWN, finding.part.reason, (text,)), finding.rule)
    return None


def _find_named(word: Word, ground: Ground) -> list[Found]:
    """Return where a word leads that is a path, or an option with one."""
    if word.dynamic:
        return [place for one in word.could for place in _find_named(one, ground)]
    texts = [home_of(word)]
    if word.text.startswith("-"):
        name, equals, value = word.text.partition("=")
        texts = [value] if equals else [] if name.startswith("--") else [name[2:]]
    else:
        texts += [word.text.partition(sign)[2] for sign in "=:" if sign in word.text]  # `if=FILE`, `HEAD:FILE`
    plain = [text for text in texts if text and "\0" not in text and len(text) <= LONGEST_PATH]
    matched = ground.targets(word) if word.is_pattern else []
    matched = [one for one in matched if one.place is not Place.OWN_STATE]  # `floors` judge patterns that lead there
    return [*matched, *(one for text in plain for one in ground.find(text))]


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
