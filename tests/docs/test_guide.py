import re
from pathlib import Path

import pytest
from tests.docs.guide_examples import PAGES, Session, console_blocks, matches, split_session

WITH_SESSION = [pytest.param(path, id=path.stem) for path in PAGES if "```console" in path.read_text()]


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_SESSION)
def test_halo_prints_what_the_page_shows(path: Path):
    page = path.read_text(encoding="utf-8")
    with Session.open(page) as session:
        for command, expected in (pair for block in console_blocks(page) for pair in split_session(block)):
            printed = session.run(command)
            assert matches(expected, printed), f"$ {command}\n" + "\n".join(printed)


def test_the_first_page_leads_to_every_other():
    links = set(re.findall(r"\]\((\w[\w-]*\.md)\)", (PAGES[0].parent / "README.md").read_text()))
    assert {path.name for path in PAGES} - {"README.md"} <= links


def test_an_ellipsis_stands_for_a_part_of_a_line_or_for_lines():
    assert matches(["a … c", "…", "d"], ["a b c", "x", "y", "d"])
    assert not matches(["a … c", "d"], ["a b c", "x", "d"])
