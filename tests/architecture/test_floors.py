"""Floors inside the packages: their rooms (modules and folders) import downwards, also through `lazy_modules`."""

from graphlib import CycleError, TopologicalSorter

from tests.architecture.imported import arrows_by_package


def find_circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return rooms that import one another in a circle; empty if there are none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_rooms_of_a_package_import_one_another_in_no_circle() -> None:
    circles = {package: circle for package, arrows in arrows_by_package().items() if (circle := find_circle(arrows))}
    assert circles == {}
