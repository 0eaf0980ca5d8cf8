"""Judge git commands: those that only read, by the table of their words, and those that change the repository."""

import re

from msgspec.structs import replace

from halocline.policy.commands import Use
from halocline.policy.paths import is_within
from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.named_places import judge_touching
from halocline.policy.shell.places import judge_reading
from halocline.policy.shell.programs import mutating
from halocline.policy.shell.programs.fed_programs import runs_unread
from halocline.policy.shell.programs.git.operands import rewrite_words
from halocline.policy.shell.programs.git.read_only import LOOKS
from halocline.policy.shell.programs.reading import judge_by_spec
from halocline.policy.shell.syntax.tree import Simple, Word, literal, render
from halocline.policy.shell.values.ground import Ground
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

_SETS = compile_later(r"-c ((color\.\w+|core\.quotepath)=\w+|core\.pager=(cat)?)\Z", re.ASCII | re.I)
_MATCHES = compile_later(r"[*?\[]|^:")
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--config-env", "--namespace"})


def judge_reading_git(simple: Simple, ground: Ground) -> Finding:
    """Judge a git command by the table of those that only read."""
    words = list(simple.words[1:])
    folder, front = _take_git_options(words)
    if folder is not None:
        if any(word.is_pattern for word in words):
            return unknown_finding(simple.source, "git -C goes elsewhere than the shell expands the pattern; quote it")
        quoted, places = ground.find(folder.text, quoted=folder.quoted), ground.find(folder.text)
        moved = judge_reading(simple.source, quoted, "", ground, names_only=True)
        if not moved.reads:
            return moved
        if any(one.place is not Place.PROJECT for one in places):
            return unknown_finding(simple.source, "git -C leads to a folder of files that run later or configure tools")
        ground, front = ground.with_folders(one.path for one in places), f"{front}-C {render(folder)} "
    if not words or words[0].value is None:
        rule = Rule.DYNAMIC if words else Rule.UNKNOWN
        return unknown_finding(simple.source, "nothing is known about this form of git", rule)
    name, *rest = rewrite_words(tuple(words))
    if name.text.startswith("-"):
        return unknown_finding(simple.source, f"git's option {name.text} may change what it reads or runs")
    if name.text not in LOOKS:
        return unknown_finding(simple.source, f"git {name.text} may change the repository")
    finding = judge_by_spec(name.text, LOOKS[name.text], simple, tuple(rest), ground, git=True)
    if finding.rule is not Rule.READS:
        return finding
    doubt = next((doubt for place in ground.folders if (doubt := ground.facts.git_doubt(place))), "")
    form = f"{front}{str(finding.canonical).removeprefix('git ')}"
    finds = ground.hides is not None and ground.hides.key and any(_MATCHES.search(word.text) for word in rest)
    written = Rule.IGNORED if finds else finding.as_written  # a pattern of git, which may name what is hidden
    return unknown_finding(simple.source, doubt) if doubt else replace(finding, canonical=form, as_written=written)


def _take_git_options(words: list[Word]) -> tuple[Word | None, str]:
    """Remove `--no-pager`, harmless settings and `-C FOLDER` from the words; return the folder and the form so far."""
    folder, front = None, "git "
    while words and (words[0].value in ("--no-pager", "-P", "-C") or _SETS.match(" ".join(map(render, words[:2])))):
        if (flag := words.pop(0).text) == "-C":
            if folder or not words or not words[0].value or words[0].checked:
                words.insert(0, literal("-C"))
                return None, front
            folder = words.pop(0)
        elif flag == "-c":
            front += f"-c {render(words.pop(0))} "
    return folder, front


def judge_changing_git(simple: Simple, texts: list[str], ground: Ground) -> Finding | None:
    """Judge a git command that may change the repository; None if it names no sub-command."""
    rest, places = list(texts), [*ground.folders]
    while rest and rest[0].startswith("-"):
        flag, equals, value = rest.pop(0).partition("=")
        if flag in _VALUED and not equals and rest:
            value = rest.pop(0)
        places += [one.path for one in ground.find(value)] if flag in ("-C", "--work-tree") and value else []
    if not rest:
        return None
    set_by = [one.value.text for one in simple.assignments if one.name in ("GIT_WORK_TREE", "GIT_DIR")]
    named = [text for text in (*rest[1:], *set_by) if not text.startswith("-")]
    places += [one.path for text in named if rest[0] in ("clean", "rm") for one in ground.find(text)]
    far = (one for one in places if not any(is_within(one, at) for at in ground.real_roots))
    if rest[0] in ("clean", "rm") and (lost := next(filter(ground.is_precious, far), "")):
        return Finding(make_part(simple.source, Effect.DESTRUCTIVE, f"it deletes what is in {lost}"), Rule.FLOOR)
    if why := mutating.why_git_loses(rest, mutating.GIT_DESTROYS):
        return Finding(make_part(simple.source, Effect.DESTRUCTIVE, f"git {rest[0]} {why}"), Rule.DESTROYS)
    if why := mutating.why_git_loses(rest, mutating.GIT_DISCARDS):
        found = [one for text in rest[1:] if not text.startswith("-") for one in ground.find(text)]
        ground.note([one for one in found if ground.facts.is_overwritten(one.path)], Use.CHANGE)
        return Finding(make_part(simple.source, Effect.DESTRUCTIVE, f"git {rest[0]} {why}"), Rule.DISCARDS)
    if rest[0] in mutating.NETWORK_COMMANDS["git"].split() or rest[:2] in mutating.GIT_REACHES:
        return Finding(make_part(simple.source, Effect.NETWORK, f"git {rest[0]} uses the network"), Rule.NETWORK)
    if own := judge_touching(simple, ground):
        return own
    if rest[0] == "config" and runs_unread(simple, ()):
        return unknown_finding(simple.source, "it sets what git runs later", Rule.LATER)
    if rest[0] in mutating.GIT_SHOWS_NOTHING and " ".join(rest[:2]) not in ("stash show", "notes show"):
        return unknown_finding(simple.source, f"git {rest[0]} may change the repository")
    reason = f"git {rest[0]} may show versions of files that are hidden or hold secrets"
    return Finding(make_part(simple.source, Effect.READ_ONLY, reason), Rule.HISTORY)
