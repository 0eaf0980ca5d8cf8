"""The words that may follow those of a wider grant: names of files and tests, and options known to be harmless.

Options and assignments can make a runner run another program (`make SHELL=…`, `pytest -p …`, `npm test -- …`), so those
that are not listed in `runner_options.txt` ask.
"""

from collections.abc import Sequence

from halocline.policy.word_tables import read_lines, read_pairs
from halocline.protocol.patterns import compile_later

_LINES = read_lines(__file__)
OFFERED = {name: int(words) for name, words in read_pairs(_LINES["offered"]).items()}
"""Programs for which a grant wider than one exact command is offered, with how many first words it covers."""
HARMLESS = read_pairs(_LINES["harmless"])
ONE_TASK = frozenset({"make", "gmake", "gradle", "mvn", "just"})
"""Programs whose further operands are other tasks."""
_ASSIGNS = compile_later(r"[A-Za-z_][\w.]*[:+?!]*=")
_GLUED = compile_later(r"(-[a-zA-Z])\w+")


def is_operand(word: str) -> bool:
    """Return True if a word is an operand: not an option, an assignment or a response file (`@file`)."""
    return not (word.startswith(("-", "+", "@")) or _ASSIGNS.match(word))


def follows_harmlessly(words: Sequence[str], begun: int) -> bool:
    """Return True if the words after the first `begun` ones only say what the command works on."""
    program, rest = words[0].rpartition("/")[2], list(words[begun:])
    harmless, takes_tasks = HARMLESS.get(program, "").split(), program not in ONE_TASK
    while rest:
        word = rest.pop(0)
        if is_operand(word):
            if not takes_tasks:
                return False
            continue
        flag = word.partition("=")[0]
        glued = _GLUED.fullmatch(word)
        if flag not in harmless and not (glued and glued[1] in harmless and glued[1] in ("-j", "-n", "-k")):
            return False
        if not takes_tasks and rest and rest[0].isdecimal():
            rest.pop(0)  # `-j 4`
    return True
