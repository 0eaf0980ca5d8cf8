"""Floors inside the packages: their rooms (modules and folders) import downwards, also through `lazy_modules`."""

from graphlib import CycleError, TopologicalSorter

from tests.architecture.imported import PACKAGE, arrows_between_rooms, full_name
from tests.architecture.sources import parse_modules

KNOTTED = {"halocline.checkpoints", "halocline.surfaces.cli", "halocline.surfaces.tui"}
"""Packages whose rooms still import one another in a circle. It only gets smaller."""


def find_circle(package: str) -> list[str]:
    """Return rooms of a package that import one another in a circle; empty if there are none."""
    try:
        TopologicalSorter(arrows_between_rooms(package)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_rooms_of_a_package_import_one_another_in_no_circle() -> None:
    packages = {full_name(path) for path in parse_modules() if path.endswith("__init__.py")} - {PACKAGE}
    circles = {package: circle for package in packages if (circle := find_circle(package))}
    assert {*circles} == KNOTTED, circles
