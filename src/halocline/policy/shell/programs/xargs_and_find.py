"""Build forms for `find` and `xargs` that pass names to a program that reads, through a pipe or by `-exec`.

In these forms, `find` returns plain files only, none that may hold secrets, and passes names so that blanks in them do
not split them.
"""

from collections.abc import Sequence
from itertools import pairwise

from halocline.policy.shell.findings import Forms
from halocline.policy.shell.guards import HANDS_ON, can_check_names
from halocline.policy.shell.places import folder_of
from halocline.policy.shell.programs.exclusions import names_secret
from halocline.policy.shell.programs.program import judge_program
from halocline.policy.shell.programs.reading import MOST_NAMES
from halocline.policy.shell.programs.specs import Role
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.syntax.tree import Expansion, Kind, Piece, Simple, Word, literal, render
from halocline.policy.shell.values.ground import Ground
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Place

LISTS = "printf '%s\\0'"
"""Begins a form that leaves out the hidden names which a pattern matches when it runs."""
_PRINTS = frozenset({"-print", "-print0", "-printf", "-ls", "-quit"})
_SHOWS_LITTLE = frozenset({"grep", "egrep", "fgrep", "wc", "file", "md5sum", "sha1sum", "sha256sum"})
_TEXTS_ONLY = frozenset({"echo", "printf", "basename", "dirname"})
"""Programs that read no files and have no harmful options."""
_SHELLS_OWN = frozenset({"cd", "type", "test", "true", "false", ":", *_TEXTS_ONLY})
_PARTED: dict[str, tuple[str, ...]] = {"quotes": (), "ends": ("-0",), "lines": ("-d", "'\\n'")}
_GLUED = compile_later(r"(-n|-I)(\d{1,4}|\{\}|[A-Z]+)")
_COUNT = compile_later(r"\d{1,4}")


def executed_form(simple: Simple, ground: Ground) -> str | None:
    """Return the form of `find … -exec PROGRAM … {} +`: the names go through the check; None if it may do more."""
    texts = [word.text for word in simple.words]
    at = texts.index("-exec") if texts.count("-exec") == 1 else 0
    if not at or texts[-1] not in (";", "+") or texts.count("{}") != 1 or texts[-2] != "{}":
        return None
    find = Simple(simple.source, simple.words[:at])
    finding, _ = judge_program(find, ground)
    words, each = [*simple.words[at + 1 : -2]], ["-n", "1"] if texts[-1] == ";" else []
    if not finding.reads or _PRINTS & set(texts) or asks_for_secrets(find.words) or not words:
        return None
    if words[0].source in _TEXTS_ONLY:
        shown = _printing_form(words, "ends", each, ground)
        return f"{finding.canonical} -print0 | {shown}" if shown else None
    name = words[0].source
    shows_little = name in _SHOWS_LITTLE or (name in READERS and READERS[name].names_only)
    # A program that shows whole files is meant for files selected by name.
    program = _handed_on(words, ground) if shows_little or _wanted_words(find.words) else None
    return " ".join((f"{finding.canonical} -print0 | {HANDS_ON} ends", *each, program)) if program else None


def fed_form(xargs: Simple, ground: Ground) -> str | None:
    """Return the form of `xargs PROGRAM …`, in which a program that reads gets only names that it may read."""
    words, flags, parted = list(xargs.words[1:]), list[str](), "quotes"
    placeholder = ""
    while words and (words[0].value or "").startswith("-"):
        flag = str(words.pop(0).value)
        if glued := _GLUED.fullmatch(flag):
            flag, words = glued[1], [literal(glued[2]), *words]
        match flag, words[0].value if words else None:
            case (("-0" | "--null"), _):
                parted = "ends"
            case (("-r" | "--no-run-if-empty"), _):
                flags.append("-r")
            case (("-n" | "-L"), str(count)) if _COUNT.fullmatch(count):
                flags += ["-n", words.pop(0).text]
            case "-d", "\\n" | "\n":
                parted = words.pop(0).text and "lines"
            case "-I", str(placeholder) if placeholder:
                parted = words.pop(0).text and "lines"
            case _:
                return None
    if placeholder:
        if [word.value for word in words].count(placeholder) != 1 or words[-1].value != placeholder:
            return None
        words, flags = words[:-1], ["-n", "1"]
    if not words or words[0].source in _TEXTS_ONLY:
        return _printing_form(words, parted, flags, ground)
    program = _handed_on(words, ground)
    return " ".join((HANDS_ON, parted, *flags, program)) if program else None


def _printing_form(words: list[Word], parted: str, flags: list[str], ground: Ground) -> str | None:
    """Return the form for a program that only prints its arguments, whatever they are."""
    simple = Simple("", (*(words or (literal("echo"),)), literal("name")))
    finding, _ = judge_program(simple, ground) if not ground.rebinds else (None, ground)
    if finding is None or not finding.reads or (words and words[0].source == "printf" and len(words) < 2):
        return None
    return " ".join(("xargs", *_PARTED[parted], *flags, str(finding.canonical).removesuffix(" name")))


def given_names(simple: Simple, forms: Forms, ground: Ground) -> str | None:
    """Return the form of `PROGRAM … $(…)`, if a command that only reads prints the last names, or of a pattern."""
    *words, last = simple.words
    begins = any(one.operator.startswith("<") or one.fd == "0" for one in simple.redirects)
    match last.parts:
        case (Expansion(kind=Kind.COMMAND, quoted=False, scripts=(script,)),) if not begins and words:
            form, program = forms.get(id(script)), _handed_on(words, ground)
            return f"{HANDS_ON} words {program} < <({form})" if form and program else None
        case _ if words and all(one.fd == "2" for one in simple.redirects) and (shown := shown_names(last, ground)):
            program = _handed_on(words, ground, shown)
            return f"{LISTS} {render(last)} | {HANDS_ON} ends {program}" if program else None
    return None


def shown_names(pattern: Word, ground: Ground) -> tuple[Word, ...]:
    """Return the names that a pattern matches in one folder of the project beside hidden ones; none if it does not."""
    folder, free, hides = folder_of(pattern), (Place.PROJECT, Place.RUNS_LATER), ground.hides
    far = not pattern.is_pattern or "/" in pattern.text.removeprefix(folder.text).rstrip("/")
    if far or hides is None or any(at.place is not Place.PROJECT for at in ground.targets(folder)):
        return ()
    found = {name: ground.places(name) for name in ground.names(pattern) or ()}
    hidden = {name for name, places in found.items() if any(hides(one.path, None) for one in places)}
    shown = [name for name in found if name not in hidden and all(one.place in free for one in found[name])]
    return tuple(literal(f"./{name}" if name.startswith("-") else name) for name in shown) if hidden else ()


def _handed_on(words: list[Word], ground: Ground, names: tuple[Word, ...] = ()) -> str | None:
    """Return the form, without the names, of a program that reads and takes names as its last words."""
    name = words[0].source
    if not can_check_names(ground) or name not in READERS or name in _SHELLS_OWN or READERS[name].most < MOST_NAMES:
        return None
    spec = READERS[name]
    last = names or (Word("names", (Piece("./-"),), quoted=True, verbatim=True, checked=True),)
    finding, _ = judge_program(Simple(" ".join(word.source for word in words), (*words, *last)), ground)
    end = " ".join(("", *map(render, names))) if names else ' "$(print_name names)"'
    form = str(finding.canonical) if finding.reads else ""
    return form.removesuffix(end) if spec.operands[-1] is Role.PATH and form.endswith(end) else None


def asks_for_secrets(words: Sequence[Word]) -> bool:
    """Return True if `find` looks for files that may hold secrets."""
    return any(names_secret(pattern) for pattern in _wanted_words(words))


def _wanted_words(words: Sequence[Word]) -> list[str]:
    return [value.text for test, value in pairwise(words) if test.text in ("-name", "-iname")]
