"""What a stranger reads first stays short."""

import re

import pytest
from tests.docs.claims import ROOT

LONGEST = {"README.md": 90, "AGENTS.md": 80, "docs/architecture.md": 300}
"""Lines."""
WORDS = 20
"""In a cell of the map."""


@pytest.mark.parametrize("page", LONGEST)
def test_a_page_that_is_read_first_is_short(page):
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= LONGEST[page]


def test_the_map_has_a_short_line_for_each_package():
    text = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", text, re.MULTILINE)
    assert [name for name, cell in rows if len(cell.split()) > WORDS] == []
    packages = {path.parent.name for path in (ROOT / "src" / "halocline").glob("*/__init__.py")}
    assert packages - {name.strip("/").split("/")[0] for name, _ in rows} == set()
