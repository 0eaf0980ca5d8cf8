"""The locks must be complete: `make setup` and `make demo` install what they name, and nothing that this needs."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.architecture.sources import ROOT

LOCK, RUN_LOCK = ((ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "run.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def versions(lock: str) -> dict[str, str]:
    return {canonicalize_name(name): found for name, found in re.findall(r"^([\w.-]+)==([^ ;]+)", lock, re.MULTILINE)}


LOCKED = versions(LOCK)
GROUPS = PROJECT["dependency-groups"]
NEEDED = [Requirement(text) for text in (*PROJECT["project"]["dependencies"], *GROUPS["build"])]
ALL_NEEDED = [*NEEDED, *(Requirement(text) for text in GROUPS["dev"] if isinstance(text, str))]


def needed_here(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def with_all_they_need(found: list[Requirement]) -> Iterator[Requirement]:
    """All requirements of these on this machine, each package with an extra once."""
    left, seen = [(one, "") for one in found], set[tuple[str, str]]()
    while left:
        requirement, asked_for = left.pop()
        if not needed_here(requirement, asked_for):
            continue
        yield requirement
        for extra in ("", *requirement.extras):
            if (name := canonicalize_name(requirement.name), extra) not in seen and name in LOCKED:
                seen.add((name, extra))
                left += [(Requirement(text), extra) for text in requires(name) or ()]


@pytest.mark.parametrize(("lock", "needed"), [(LOCK, ALL_NEEDED), (RUN_LOCK, NEEDED)], ids=["setup", "demo"])
def test_the_lock_has_all_that_its_packages_need_in_versions_that_they_take(lock: str, needed: list[Requirement]):
    found, locked = list(with_all_they_need(needed)), versions(lock)
    assert len(found) >= len(needed)
    assert [
        str(one) for one in found if not one.specifier.contains(locked.get(canonicalize_name(one.name), "0"), True)
    ] == []
    assert [str(one) for one in found if canonicalize_name(one.name) not in locked] == []


def test_the_demo_installs_the_very_files_that_the_tests_ran_with():
    one_package = re.compile(r"^[a-z].*?(?=^[a-z]|\Z)", re.MULTILINE | re.DOTALL)
    assert set(one_package.findall(RUN_LOCK)) - set(one_package.findall(LOCK)) == set()


def test_the_demo_needs_a_third_of_all_packages():
    assert 3 * len(versions(RUN_LOCK)) < 1.2 * len(LOCKED)
