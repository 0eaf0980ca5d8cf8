"""What a stranger reads first stays short."""

import re

import pytest
from tests.docs.claims import ROOT

LONGEST = {"README.md": 90, "docs/architecture.md": 300}
"""Lines; `tests/architecture/test_shape.py` measures AGENTS.md."""
WORDS = 20
"""In a cell of the map."""


@pytest.mark.parametrize("page", LONGEST)
def test_a_page_that_is_read_first_is_short(page):
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= LONGEST[page]


def test_each_package_has_a_short_line_in_the_map():
    text = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) > 20
    assert [name for name, cell in rows if len(cell.split()) > WORDS] == []
