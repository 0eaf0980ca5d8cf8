"""Programs that are fed: texts that shells and others run, and names for what `xargs` and the like run.

What is fed may be known only when it runs: what then runs is not read in full.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from halocline.policy.shell import spellings
from halocline.policy.shell.findings import Rule
from halocline.policy.shell.named_places import LANGUAGES
from halocline.policy.shell.programs.embedded_scripts import runs_commands
from halocline.policy.shell.programs.mutating import SHELLS
from halocline.policy.shell.programs.wrappers import FED, HERE, Wrapped, find_innermost, split_flags, unwrap_command
from halocline.policy.shell.syntax.tree import Piece, Simple, Word, literal
from halocline.policy.shell.values.kept_places import INSIDE
from halocline.policy.shell.values.printed_texts import fill_names, fill_slot
from halocline.policy.shell.values.variables import UNKNOWN, Values, is_fully_known
from halocline.policy.word_tables import read_lines, read_pairs, read_words
from halocline.protocol.patterns import compile_later

_LINES, _SHELLS_TOO = read_lines(__file__), frozenset(read_words(__file__)["shell without a command"])
_RUN_TEXT = frozenset({*SHELLS, "source", ".", "parallel", *_SHELLS_TOO})
_RUNS_TEXT, _READS_NAMES = read_pairs(_LINES["runs text"]), read_pairs(_LINES["reads names"])
_DESCRIPTOR = compile_later(r"/+dev/+(stdin|fd/)|/+proc/.*/fd/")
_OF_PROGRAM = compile_later(r"(?s)-(?:[nErsuz]*f|-file|([nErsuz]*e|-expression=?))(.*)")


def unwrap_input(simple: Simple, fed: Values) -> Wrapped | None:
    """Unwrap a shell that reads these texts through a pipe; None for any other program, and if they are not known."""
    if not fed or not _reads_input(simple) or not all(map(is_fully_known, fed)):
        return None
    script = "\n".join(fed).replace("\\n", "\n")  # as `printf` prints it
    return Wrapped(simple.source, script=script, rule=Rule.DYNAMIC, reason="a shell runs the text it is given")


def runs_unread(simple: Simple, fed: Values) -> bool:
    """Return True if a program runs a text that is not read: it is piped, a command prints it, or an option has it."""
    name = simple.program
    words = [*(f"{one.name}=" for one in simple.assignments), *(word.text or word.source for word in simple.words[1:])]
    if name in _RUNS_TEXT and re.search(_RUNS_TEXT[name], "\n".join(words), re.MULTILINE):
        return True
    if name in LANGUAGES:
        return any(runs_commands(name, text) for text in _list_programs(name, simple))
    if name not in _RUN_TEXT:
        return False
    targets = [(one.operator, one.target) for one in simple.redirects if one.target]
    if any(word.scripts for word in (*simple.words[1:], *(word for _, word in targets))):
        return True
    if not (_reads_input(simple) or (name == "parallel" and not unwrap_command(simple))):
        return False
    is_file = name != "parallel" and any(sign == "<" and not _DESCRIPTOR.match(word.text) for sign, word in targets)
    is_read = is_file if not fed else all(map(is_fully_known, fed))
    return not is_read or any(sign == "<&" and word.text != "-" for sign, word in targets)


def list_names_read(simple: Simple, fed: Values) -> Simple:
    """Return a program with the names that it reads from its input, as its words."""
    reads = re.search(_READS_NAMES.get(simple.program, "(?!)"), "\n".join(one.text for one in simple.words[1:]), re.M)
    return Simple(simple.source, (simple.words[0], *map(literal, filter(is_fully_known, fed if reads else ()))))


def _list_programs(name: str, simple: Simple) -> Iterator[str]:
    """Yield the programs of `sed`, or all words of another one, that they may turn out to be."""
    words = [*simple.words[1:]]
    if name.endswith("sed"):
        found = [(_OF_PROGRAM.match(word.text or word.source), behind) for word, behind in pairwise((*words, HERE))]
        given = [literal(flag[2]) if flag[2] else behind for flag, behind in found if flag and flag[1]]
        first = [word for word in words if word.dynamic or not word.text.startswith("-")][:1]
        words = given if any(flag for flag, _ in found) else first
    yield from (one.text for word in words for one in word.possible or (literal(UNKNOWN),))


def _reads_input(simple: Simple) -> bool:
    """Return True if a shell reads its script from its standard input."""
    if simple.program in _SHELLS_TOO:
        return unwrap_command(simple) is None
    flags, rest = split_flags(simple)
    is_asked = not rest or any(re.fullmatch(r"-[a-z]*s[a-z]*|-", flag) for flag in flags)
    reads = is_asked or _DESCRIPTOR.match(rest[0].text)
    return bool(reads) and not {"--version", "--help"} & {*flags} and simple.program in _RUN_TEXT


def list_names_fed(wrapped: Wrapped, fed: Values) -> Values:
    """Return the names that a wrapper passes to what it runs, of those that it reads itself."""
    names = fed or (UNKNOWN,)
    parts = (part for name in names for part in name.split(wrapped.parts_by)) if wrapped.parts_by else ()
    return (*names, *filter(None, parts))


def word_for(wrapped: Wrapped, names: Values) -> Word:
    """Return one word for all that a wrapped command may get: the names, or the words in which they are filled in."""
    slot = wrapped.slot
    texts = [word.text for word in wrapped.words if slot and slot in word.text]
    # Behind letters, a harmless name may become any other.
    below = [(text, text.startswith(slot) or f"/{slot}" in text) for text in texts]
    named = [(text, UNKNOWN if name == INSIDE and not is_below else name) for text, is_below in below for name in names]
    filled = [text.replace(slot, name) for text, name in named] or names
    could = tuple(Word(name, (Piece(name),)) for name in filled)
    return Word(spellings.FED, dynamic=FED, parts=(Piece(spellings.FED),), could=could)


def complete_wrapper(wrapped: Wrapped, names: Values) -> str:
    """Return the text that a wrapper or a shell runs only now, as in `xargs env`; empty if it has its command."""
    if runs_given(wrapped):
        return fill_names("", "", names)
    program = find_innermost(Simple(wrapped.source, wrapped.words)) if wrapped.words else Simple("", ())
    if not program.words or unwrap_command(program):
        return ""
    text, given = " ".join(word.source for word in program.words), (*program.words, HERE)
    return fill_names(text, UNKNOWN, names) if unwrap_command(replace(program, words=given)) else ""


def runs_given(wrapped: Wrapped) -> bool:
    """Return True if a shell runs as its script what it is given, as in `xargs sh -c`."""
    texts = [word.text for word in wrapped.words]
    at = next((at for at, text in enumerate(texts) if re.fullmatch(r"-\w*c", text)), 0)
    return at > 0 and texts[0].rpartition("/")[2] in SHELLS and texts[at + 1 : at + 2] in ([], [wrapped.slot])


def with_slots_filled(wrapped: Wrapped) -> tuple[Word, ...]:
    """Return the words of a shell with names filled in for the placeholder in its script."""
    words, slots = wrapped.words, ("{}", wrapped.slot or "{}")
    if not words or words[0].text.rpartition("/")[2] not in SHELLS:
        return words
    return tuple(word if word.text in slots else fill_slot(fill_slot(word, "{}"), slots[1]) for word in words)
