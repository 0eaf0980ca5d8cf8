"""Names that `find` gives to a program that reads: through a pipe to `xargs`, or by `-exec`.

In the form that runs, `find` gives plain files only, none that hold secrets, and hands names on so that no blank in one
of them makes two of it.
"""

import re
from itertools import pairwise

from halocline.policy.shell.exclusions import FOR_FIND, names_secret
from halocline.policy.shell.findings import Rule
from halocline.policy.shell.ground import Ground
from halocline.policy.shell.program import judge_program
from halocline.policy.shell.readers import READERS
from halocline.policy.shell.render import render
from halocline.policy.shell.tree import Piece, Simple, Word

_PRINTS = frozenset({"-print", "-print0", "-printf", "-ls", "-quit"})
_SHOWS_LITTLE = frozenset({"grep", "egrep", "fgrep", "wc", "file", "md5sum", "sha1sum", "sha256sum"})
_COUNT = re.compile(r"\d{1,4}")


def piped(find: Simple, xargs: Simple, ground: Ground) -> tuple[str, str] | None:
    """The forms of both ends of `find … | xargs PROGRAM …`; None when one of them may do more than read."""
    if ground.hides_files or find.redirects or xargs.redirects or find.assignments or xargs.assignments:
        return None
    words = list(xargs.words[1:])
    flags: list[str] = []
    ends_in_zero = find.words[-1].value == "-print0"
    while words and words[0].source.startswith("-"):
        flag = words.pop(0).source
        if flag == "-n" and words and _COUNT.fullmatch(words[0].source):
            flags += [flag, words.pop(0).source]
        elif flag in ("-r", "-0", "--null", "--no-run-if-empty"):
            flags += ["-r"] if flag in ("-r", "--no-run-if-empty") else []
            if flag in ("-0", "--null") and not ends_in_zero:
                return None
        else:
            return None
    if ends_in_zero:
        find = Simple(find.source, find.words[:-1])
    names, program = _names(find, ground), _program(words, ground)
    if names is None or program is None or not _is_meant(find, words):
        return None
    return f"{names} -print0", " ".join(("xargs -0", *flags, program))


def executed(simple: Simple, ground: Ground) -> str | None:
    """The form of `find … -exec PROGRAM … {} +`."""
    texts = [word.text for word in simple.words]
    at = texts.index("-exec") if texts.count("-exec") == 1 else 0
    if ground.hides_files or not at or texts[-1] not in (";", "+") or texts.count("{}") != 1 or texts[-2] != "{}":
        return None
    find, words = Simple(simple.source, simple.words[:at]), list(simple.words[at + 1 : -2])
    names, program = _names(find, ground), _program(words, ground)
    return (
        None
        if names is None or program is None or not _is_meant(find, words)
        else f"{names} -exec {program} '{{}}' '{texts[-1]}'"
    )


def _names(find: Simple, ground: Ground) -> str | None:
    """A `find` that gives only plain files without secrets."""
    finding, _ = judge_program(find, ground)
    texts = [word.text for word in find.words]
    if finding.rule is not Rule.READS or _PRINTS & set(texts) or any(word.is_pattern for word in find.words):
        return None
    at = next((i for i, text in enumerate(texts[1:], 1) if text[:1] == "-" or text in ("(", "!")), len(texts))
    starts = [word.text for word in find.words[1:at]] or ["."]
    if any(ground.holds_own_state(one.path) for start in starts for one in ground.find(start)):
        return None
    tests = " ".join(render(word) for word in find.words[at:])
    condition = f"'(' {tests} ')' " if tests else ""
    return " ".join(("find", *map(render, find.words[1:at]), f"{condition}-type f {FOR_FIND}"))


def _program(words: list[Word], ground: Ground) -> str | None:
    """A program of which all but the last arguments are written out. What it is given stands behind `--`."""
    if not words or words[0].source not in READERS or not READERS[words[0].source].ends:
        return None
    spec = READERS[words[0].source]
    whole_folders = spec.recursive == "always" or (spec.added and _recurses(words))
    if spec.most < 1000 or spec.ordered or spec.program or whole_folders:
        return None
    here = Word("./-", (Piece("./-"),))
    finding, _ = judge_program(Simple(" ".join(word.source for word in words), (*words, here)), ground)
    form = finding.canonical if finding.rule is Rule.READS else None
    return form.removesuffix(" ./-") if form and form.endswith(" ./-") else None


def _is_meant(find: Simple, words: list[Word]) -> bool:
    """Whether no name asks for secrets, and a program that shows whole files is given files by name."""
    texts = [word.text for word in find.words]
    wanted = [value for test, value in pairwise(texts) if test in ("-name", "-iname")]
    secret = any(names_secret(pattern) for pattern in wanted)
    return not secret and (bool(wanted) or words[0].source in _SHOWS_LITTLE or READERS[words[0].source].names_only)


def _recurses(words: list[Word]) -> bool:
    return any(re.match(r"-\w*[rRd]|--rec|--dir", word.text) for word in words[1:])
