"""The corpus: cases by hand, and cases made from samples, written down in the ways in which models get lines wrong."""

import codecs
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.edits.edit import Edit, UnplacedEdits
from halocline.edits.formats import blocks, exact, patch
from halocline.edits.matching.similarity import folded_trimmed
from halocline.edits.matching.strategies import How
from halocline.edits.plan import all_or_none
from halocline.edits.text import EditError, TextFile, decode_text, encode_text

CORPUS = Path(__file__).parent / "corpus"
HAND = [
    case for path in sorted(CORPUS.glob("*.toml")) for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
]
SAMPLES = {path.name.removesuffix(".txt"): path.read_text(encoding="utf-8") for path in CORPUS.glob("samples/*.txt")}
CHANGED = "  # CHANGED"
Lines = Sequence[str]


def edits_of(case: dict) -> list[Edit]:
    if "blocks" in case:
        return blocks.parse_blocks(case["blocks"])
    if "patch" in case:
        (section,) = patch.parse_patch(f"*** Begin Patch\n*** Update File: f\n{case['patch']}*** End Patch\n")
        return list(section.edits)
    return exact.parse_exact(case["old"], case["new"], everywhere=case.get("all", False))


@for_each("case", HAND)
def test_a_case_by_hand(case: dict):
    file = TextFile(case["file"])
    if "refuses" in case:
        with pytest.raises(EditError, match=case["refuses"]):
            all_or_none(file, edits_of(case))
        return
    after, report = (found := all_or_none(file, edits_of(case))).file, found.applied
    assert after.text == case["gives"]
    if "how" in case:
        assert [one.how for one in report] == [case["how"]] * len(report)


def test_cases_have_names_of_their_own():
    names = [case["name"] for case in HAND]
    assert [name for name in names if names.count(name) > 1] == []


def as_blocks(search: Lines, replace: Lines) -> list[Edit]:
    return blocks.parse_blocks("\n".join(["------- SEARCH", *search, "=======", *replace, "+++++++ REPLACE"]))


def as_patch(search: Lines, replace: Lines) -> list[Edit]:
    lines = []
    for old, new in zip(search, replace, strict=True):
        lines += [f" {old}"] if old == new else [f"-{old}", f"+{new}"]
    return edits_of({"patch": "\n".join(["@@", *lines]) + "\n"})


def as_exact(search: Lines, replace: Lines) -> list[Edit]:
    return exact.parse_exact("\n".join(search) + "\n", "\n".join(replace) + "\n")


FORMS = {"blocks": as_blocks, "patch": as_patch, "exact": as_exact}


def dedented(lines: Lines) -> list[str]:
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return [line[margin:] for line in lines]


def indented(lines: Lines) -> list[str]:
    blank = "\t" if any(line.startswith("\t") for line in lines) else "    "
    return [f"{blank}{line}" if line.strip() else line for line in lines]


def retabbed(lines: Lines) -> list[str]:
    """Spaces for tabs, or tabs for the unit of spaces."""
    if any(line.startswith("\t") for line in lines):
        return [re.sub(r"^\t+", lambda found: "    " * len(found[0]), line) for line in lines]
    sizes = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    unit = 4 if all(size % 4 == 0 for size in sizes) else 2
    return [re.sub("^ +", lambda found: "\t" * (len(found[0]) // unit), line) for line in lines]


def every(old: str, new: str) -> Callable[[Lines], list[str]]:
    return lambda lines: [line[: len(line) - len(line.lstrip())] + line.lstrip().replace(old, new) for line in lines]


def together(*steps: Callable[[Lines], list[str]]) -> Callable[[Lines], list[str]]:
    def drift(lines: Lines) -> list[str]:
        for step in steps:
            lines = step(lines)
        return list(lines)

    return drift


QUOTES, DASHES, BLANKS, NOTHING = every("'", "’"), every("-", "–"), every(" ", "\u00a0"), every("e", "e\u200b")
DRIFTS: dict[str, Callable[[Lines], list[str]]] = {
    "as it is": list,
    "blanks at line ends": lambda lines: [f"{line}  " for line in lines],
    "tabs at line ends": lambda lines: [f"{line}\t" for line in lines],
    "less indentation": dedented,
    "more indentation": indented,
    "other indentation": retabbed,
    "less of other indentation": together(retabbed, dedented),
    "curly quotes": QUOTES,
    "long dashes": DASHES,
    "hard blanks": BLANKS,
    "characters of no width": NOTHING,
    "curly quotes and less indentation": together(QUOTES, dedented),
    "long dashes and blanks at line ends": together(DASHES, lambda lines: [f"{line} " for line in lines]),
}


@dataclass(frozen=True)
class Made:
    """Lines `first` up to `end` of a sample, of which `line` is to be changed."""

    sample: str
    first: int
    end: int
    line: int

    @property
    def text(self) -> list[str]:
        return SAMPLES[self.sample].split("\n")

    @property
    def search(self) -> list[str]:
        return self.text[self.first : self.end]

    @property
    def replace(self) -> list[str]:
        at = self.line - self.first
        return [*self.search[:at], self.search[at] + CHANGED, *self.search[at + 1 :]]

    @property
    def expected(self) -> list[str]:
        return [*self.text[: self.line], self.text[self.line] + CHANGED, *self.text[self.line + 1 :]]


MADE = [
    Made("shop.py", 12, 16, 14),
    Made("shop.py", 28, 34, 31),
    Made("shop.py", 36, 40, 38),
    Made("server.go", 14, 19, 16),
    Made("server.go", 23, 30, 26),
    Made("widget.js", 13, 18, 15),
    Made("widget.js", 20, 28, 24),
    Made("notes.md", 6, 11, 9),
    Made("notes.md", 17, 22, 19),
    Made("config.yaml", 12, 17, 14),
    Made("config.yaml", 17, 22, 20),
]
CASES = [(made, drift, form) for made in MADE for drift in DRIFTS for form in FORMS]


def ids(value: object) -> str:
    return f"{value.sample}:{value.first}" if isinstance(value, Made) else str(value)


@for_each("made, drift, form", CASES)
def test_lines_that_were_written_a_little_differently_are_found_and_nothing_else_changes(made, drift, form):
    search, replace = DRIFTS[drift](made.search), DRIFTS[drift](made.replace)
    after = all_or_none(TextFile("\n".join(made.text)), FORMS[form](search, replace)).file
    got = after.text.split("\n")
    # What is added to the changed line is as the model wrote it; everything else keeps its bytes.
    assert got[: made.line] == made.text[: made.line]
    assert got[made.line + 1 :] == made.text[made.line + 1 :]
    assert got[made.line].startswith(made.text[made.line])
    assert replace[made.line - made.first].strip().endswith(got[made.line].removeprefix(made.text[made.line]).strip())
    assert folded_trimmed(got[made.line]) == folded_trimmed(made.expected[made.line])


@for_each("made, form, eol, bom", [*product(MADE, FORMS, ("\r\n", "mixed"), (b"", codecs.BOM_UTF8))])
def test_endings_and_marks_survive(made, form, eol, bom):
    endings = ["\r\n" if eol == "\r\n" or i % 3 else "\n" for i in range(len(made.text))]
    before = bom + "".join(map("".join, zip(made.text, endings, strict=True))).encode()
    after = bom + "".join(map("".join, zip(made.expected, endings, strict=True))).encode()
    assert encode_text(all_or_none(decode_text(before), FORMS[form](made.search, made.replace)).file) == after


@for_each("made, drift", [*product(MADE, DRIFTS)])
def test_lines_that_stand_twice_are_refused(made, drift):
    doubled = TextFile("\n".join([*made.text, *made.search, ""]))
    with pytest.raises(UnplacedEdits, match="appears 2 times"):
        all_or_none(doubled, as_blocks(DRIFTS[drift](made.search), DRIFTS[drift](made.replace)))


@for_each("made", MADE)
@for_each("form", FORMS)
def test_a_changed_line_that_is_not_in_the_file_is_refused_and_shown(made, form):
    at = made.line - made.first
    other = "zzz " + made.search[at].strip()[::-1]
    search = [*made.search[:at], other, *made.search[at + 1 :]]
    replace = [*made.search[:at], other + CHANGED, *made.search[at + 1 :]]
    with pytest.raises(UnplacedEdits) as failed:
        all_or_none(TextFile("\n".join(made.text)), FORMS[form](search, replace))
    assert f"Line {made.line + 1}: it is `{made.text[made.line].strip()}`, you wrote `{other}`." in failed.value.text


@pytest.mark.parametrize("made", MADE, ids=ids)
def test_a_line_around_that_was_misremembered_does_not_matter_and_is_kept(made):
    around = next(i for i in range(1, len(made.search) - 1) if made.first + i != made.line)
    search, replace = made.search, made.replace
    if len(search) < 5 or len(search[around].strip()) < 8:
        pytest.skip("too short to tell")
    wrong = search[around].replace("e", "E", 1) if "e" in search[around] else search[around] + "x"
    search[around] = wrong
    replace = [*replace[:around], wrong, *replace[around + 1 :]]
    after, (report,) = (
        (found := all_or_none(TextFile("\n".join(made.text)), as_blocks(search, replace))).file,
        found.applied,
    )
    assert after.text.split("\n") == made.expected
    assert report.how == How.ANCHORED


@pytest.mark.parametrize("made", MADE, ids=ids)
def test_reversing_an_edit_restores_the_bytes(made):
    before = TextFile("\r\n".join(made.text))
    after = all_or_none(before, as_blocks(made.search, made.replace)).file
    assert after != before
    assert all_or_none(after, as_blocks(made.replace, made.search)).file == before


def test_the_corpus_is_large():
    assert len(HAND) >= 300
    assert len({str({**case, "name": ""}) for case in HAND}) == len(HAND)
