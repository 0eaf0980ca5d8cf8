import re
from pathlib import Path

import pytest
from docs.generate import FOLDER, PAGES

from halocline.surfaces.cli.command_table import COMMANDS
from halocline.surfaces.cli.exit_codes import MEANINGS, ExitCode

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_says_what_its_registry_says(name):
    assert (FOLDER / name).read_text() == PAGES[name](), "run: make docs"


def test_every_exit_code_has_a_meaning():
    assert set(MEANINGS) == set(ExitCode)


def test_the_readme_names_every_command():
    readme = (ROOT / "README.md").read_text()
    assert [name for name in COMMANDS if f"halo {name}" not in readme] == []


def test_every_link_in_the_docs_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_every_dependency_has_its_reason():
    import tomllib

    names = [
        re.split(r"[<>=]", line)[0]
        for line in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    ]
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    assert [name for name in names if f"`{name}`" not in reasons] == []
