"""Every claim of the page on security, the table of modes and the README's promises names the tests that hold it."""

import json
import re

import pytest
from tests.docs.claims import ROOT, ROWS, claims_of, list_sources, list_tests, read_rows

PAGES = ("docs/security.md", "docs/guide/approvals.md", "docs/comparison.md", "README.md")
SAYS = ("description", "limit", "untested")
"""What a sentence is that no test can hold, or that no test holds yet."""
FIX = f"Add to {ROWS.relative_to(ROOT)}, below [{{page}}]: the tests that hold it, or what it says instead:\n{{rows}}"


def as_row(claim: str) -> str:
    key = json.dumps(claim, ensure_ascii=False)
    return f'{key} = ["tests/….py::test_…"]\n{key} = {{ says = "limit" }}'


@pytest.mark.parametrize("page", PAGES)
def test_every_claim_has_a_row(page):
    known = read_rows()[page]
    missing = [claim for claim in claims_of(page) if claim not in known]
    assert missing == [], FIX.format(page=json.dumps(page), rows="\n".join(map(as_row, missing)))


@pytest.mark.parametrize("page", PAGES)
def test_every_row_is_of_a_claim_that_stands_there(page):
    stands = claims_of(page)
    gone = [claim for claim in read_rows()[page] if claim not in stands]
    assert gone == [], f"{page} does not say this any more: take the rows out of {ROWS.relative_to(ROOT)}"


def test_every_named_test_exists():
    unknown = []
    for page, rows in read_rows().items():
        for claim, held in rows.items():
            for name in held if isinstance(held, list) else []:
                file, _, test = name.partition("::")
                if not (ROOT / file).is_file() or test not in list_tests(ROOT / file):
                    unknown.append(f"{page}: {claim[:60]}: {name}")
    assert unknown == []


def test_what_no_test_holds_says_what_it_is():
    wrong = [
        claim
        for rows in read_rows().values()
        for claim, held in rows.items()
        if not (held if isinstance(held, list) else held.get("says") in SAYS and set(held) <= {"says", "reason"})
    ]
    assert wrong == []


def test_what_is_said_of_other_programs_has_a_source_on_the_web():
    cells = list_sources("docs/comparison.md")
    assert len(cells) >= 32
    assert [cell for cell in cells if not re.fullmatch(r"\[[^]]+\]\(https://[^)]+\)", cell[2])] == []


def test_the_readme_compares_by_rows_of_the_comparison():
    def rows(page, start):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = re.findall(r"^\| you get \|.*?\n\n", text + "\n\n", re.MULTILINE | re.DOTALL)[0]
        return [re.sub(r"\]\((?!https:)", f"]({start}", row) for row in links.strip().splitlines()]

    ours = [row.replace("](docs/../", "](") for row in rows("docs/comparison.md", "docs/")]
    assert rows("README.md", "") == ours[:7]
