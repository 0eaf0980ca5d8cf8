"""What the guide says is supported is what the tests try."""

import re
import tomllib

from scripts.single_file_start import PYTHONS
from tests.architecture.sources import ROOT

PAGE = ROOT / "docs/guide/support.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
][2:]


def row(name: str) -> list[str]:
    (found,) = (cells for cells in ROWS if cells[0].startswith(name))
    return found


def test_each_row_that_says_tested_names_its_proof_and_that_is_there() -> None:
    assert len(ROWS) >= 10
    for name, tested, _, _, proof in ROWS:
        links = re.findall(r"\]\(([^)]+)\)", proof)
        assert bool(tested) == bool(proof), name
        assert all((PAGE.parent / link).is_file() for link in links), name


def test_the_pythons_are_those_of_the_package_and_of_the_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: 3."
    said = {one.removeprefix(prefix) for one in project["classifiers"] if one.startswith(prefix)}
    assert {version.partition(".")[2] for version in PYTHONS} == said
    assert set(re.findall(r"3\.(\d+)", row("Python")[1])) == said
    assert project["requires-python"] == ">=3.11"
