import re
from pathlib import Path

import pytest
from docs.generate import FOLDER, PAGES
from tests.tables import for_each

from halocline.surfaces.cli.command_table import COMMANDS
from halocline.surfaces.cli.exit_codes import MEANINGS, ExitCode

ROOT = Path(__file__).parents[2]
CONTRIBUTING = sorted((ROOT / "docs" / "contributing").glob("*.md"))


@for_each("name", PAGES)
def test_a_reference_page_says_what_its_registry_says(name):
    assert (FOLDER / name).read_text() == PAGES[name](), "run: make docs"


def test_every_exit_code_has_a_meaning():
    assert set(MEANINGS) == set(ExitCode)


def test_the_guide_names_every_command():
    guide = (ROOT / "docs" / "guide" / "README.md").read_text()
    assert [name for name in COMMANDS if f"halo {name}" not in guide] == []


def test_the_tour_lists_every_page_behind_it():
    tour = (ROOT / "docs" / "architecture.md").read_text()
    assert [page.name for page in (ROOT / "docs" / "design").glob("*.md") if f"](design/{page.name})" not in tour] == []


@pytest.mark.parametrize("page", CONTRIBUTING, ids=lambda page: page.stem)
def test_a_page_on_adding_something_is_short_and_linked_and_a_test_follows_it(page: Path):
    assert len(page.read_text().splitlines()) <= 25
    for name in ("AGENTS.md", "docs/architecture.md"):
        assert f"contributing/{page.name})" in (ROOT / name).read_text()
    tests = Path(__file__).with_name("test_contributing.py").read_text()
    assert re.search(rf"test_an?_{page.stem.replace('-', '_')}_that_is_added", tests)


def list_anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_in_the_docs_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = []
    for page in pages:
        for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", page.read_text()):
            target = page.parent / link if link else page
            if not target.exists() or (anchor and anchor not in list_anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link}#{anchor}")
    assert broken == []


def test_every_dependency_has_its_reason():
    import tomllib

    names = [
        re.split(r"[<>=]", line)[0]
        for line in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    ]
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    assert [name for name in names if f"`{name}`" not in reasons] == []
