"""Compare lines leniently, and describe how they differ.

Folding is for comparing only: folded text is never written to a file (`kept_text` keeps the file's own).
"""

import re
from itertools import pairwise

from halocline.protocol.patterns import compile_later

_SINGLE, _DOUBLE = "'‘’‚‛′‵`´", '"“”„‟″‶«»'
_DASHES = "-‐‑‒–—―−﹘﹣－"
_NOTHING = "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0e\ufe0f"
FOLDS = {
    **dict.fromkeys(map(ord, _SINGLE), "'"),
    **dict.fromkeys(map(ord, _DOUBLE), '"'),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _NOTHING), None),
    ord("…"): "...",
}
_BLANKS = compile_later(r"[^\S\n]")
_SHOWN = 120


def as_is(line: str) -> str:
    """Return the line itself."""
    return line


def fold_line(line: str) -> str:
    """Return the line without invisible differences: kinds of quotes, dashes, blanks and composed accents."""
    if line.isascii() and "`" not in line:
        return line.rstrip()
    indent = len(line) - len(line.lstrip("\t "))
    return line[:indent] + _fold_text(line)[indent:].rstrip()


def _fold_text(text: str) -> str:
    import unicodedata  # only needed for text that is not plain

    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text.translate(FOLDS)))


def fold_by_character(line: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """Return the folded line, folded character by character, and where in the line its positions begin and end.

    A character is folded with the marks behind it. A position is long where the line has what folding drops.
    """
    import unicodedata

    marks = [i for i, char in enumerate(line) if unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"]
    starts = {0, *range(len(line))}.difference(i for i in marks if i and line[i] not in _NOTHING)
    plain, places = "", {0: (0, 0)}
    for start, end in pairwise([*sorted(starts), len(line)]):
        first = places[len(plain)][0]
        folded = _fold_text(line[start:end])
        plain += folded
        places[len(plain)] = (end if folded else first, end)
    size = len(plain.rstrip())
    return plain[:size], {at: place for at, place in places.items() if at <= size}


def folded_trimmed(line: str) -> str:
    """Return the folded line without outer whitespace."""
    return fold_line(line).strip()


def indent_of(line: str) -> str:
    """Return the whitespace that a line starts with."""
    return line[: len(line) - len(line.lstrip())]


def describe_difference(found: str, wanted: str) -> str:
    """Say, as a clause, how a line of the file differs from the one that was written; empty if it does not."""
    if found == wanted:
        return ""
    if found.rstrip() == wanted.rstrip():
        return _at_the_end(found, wanted)
    if found.strip() == wanted.strip():
        return f"it starts with {_name_blanks(indent_of(found))} where you wrote {_name_blanks(indent_of(wanted))}"
    if folded_trimmed(found) == folded_trimmed(wanted):
        return _describe_lookalikes(found.strip(), wanted.strip())
    return f"it is `{_cut_line(found.strip(), wanted.strip())}`, you wrote `{_cut_line(wanted.strip(), found.strip())}`"


def _at_the_end(found: str, wanted: str) -> str:
    return "it has " + " where you wrote ".join(
        f"{_name_blanks(line[len(line.rstrip()) :])} at its end" for line in (found, wanted)
    )


def _name_blanks(blanks: str) -> str:
    """Describe blanks as in `2 tabs and 4 spaces`."""
    runs = [run[0] for run in re.finditer(r"(.)\1*", blanks)]
    names = [{" ": "space", "\t": "tab"}.get(run[0], f"U+{ord(run[0]):04X}") for run in runs]
    counted = [f"{len(run)} {name}{'s' * (len(run) > 1)}" for run, name in zip(runs, names, strict=True)]
    return " and ".join(counted) or "nothing"


def _describe_lookalikes(found: str, wanted: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b), min(len(found), len(wanted)))
    return f"it has {_name_character(found[at : at + 1])} where you wrote {_name_character(wanted[at : at + 1])}"


def _name_character(char: str) -> str:
    if not char:
        return "nothing"
    return f"`{char}`" if char.isascii() else f"`{char}` (U+{ord(char):04X})"


def _cut_line(line: str, other: str) -> str:
    """Return the line; if it is long, only the part where it starts to differ."""
    if len(line) <= _SHOWN:
        return line
    at = next((i for i, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), 0)
    begin = max(0, min(at - _SHOWN // 3, len(line) - _SHOWN))
    return ("…" if begin else "") + line[begin : begin + _SHOWN] + ("…" if begin + _SHOWN < len(line) else "")
