"""The brake on growth: how many lines and modules each package may have (`budget.toml`)."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest
from tests.architecture.sources import MODULES, SOURCE

BUDGET = tomllib.loads(Path(__file__).with_name("budget.toml").read_text(encoding="utf-8"))
PAGE = SOURCE / "surfaces" / "web"
ADVICE = "Remove something first, or add a [[raised]] row to budget.toml that says what for."


def measure_packages():
    """Yield the package, the lines of each module, and those of the page's scripts as the package `page`."""
    for path in MODULES:
        yield (path.relative_to(SOURCE).parts[0] if path.parent != SOURCE else "top"), path
    yield from (("page", path) for path in PAGE.rglob("*.js") if "node_modules" not in path.parts)


@pytest.fixture(scope="module")
def sizes():
    lines, modules = Counter(), Counter()
    for package, path in measure_packages():
        lines[package] += len(path.read_text(encoding="utf-8").splitlines())
        modules[package] += 1
    return {"lines": lines, "modules": modules}


@pytest.mark.parametrize("what", ["lines", "modules"])
def test_no_package_is_larger_than_its_budget(sizes, what):
    allowed = Counter({package: limits[what] for package, limits in BUDGET["packages"].items()})
    for row in BUDGET.get("raised", ()):
        allowed[row["package"]] += row.get(what, 0)
    over = {name: size - allowed[name] for name, size in sizes[what].items() if size > allowed[name]}
    assert over == {}, ADVICE


def test_every_raise_says_what_for():
    assert [row for row in BUDGET.get("raised", ()) if len(row.get("for", "").split()) < 3] == []


def test_no_budget_is_larger_than_its_package_needs(sizes):
    """What was removed stays removed: a budget is at most a hundred lines or five modules above its package."""
    slack = {"lines": 100, "modules": 5}
    raised = Counter()
    for row in BUDGET.get("raised", ()):
        for what in slack:
            raised[row["package"], what] += row.get(what, 0)
    loose = [
        (package, what)
        for package, limits in BUDGET["packages"].items()
        for what, most in slack.items()
        if limits[what] + raised[package, what] > sizes[what][package] + most
    ]
    assert loose == []
