"""What a package says of itself: its page, its parts of others and their licences."""

import json
import re

import pytest
from scripts.build_version import VENDORED, list_parts
from scripts.package_page import describe_package
from tests.architecture.sources import ROOT

MANIFEST = json.loads((ROOT / VENDORED).read_text(encoding="utf-8"))


def test_the_page_of_the_package_has_no_link_into_the_tree_and_keeps_the_others():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = describe_package(readme)
    assert re.findall(r"\]\((?!https://)|src=\"(?!https://)", page) == []
    assert page.count("](https://") == readme.count("](https://")
    assert page.index("## Install") < page.index("\n## ", page.index("## Install"))


@pytest.mark.parametrize("package", sorted({row["package"] for row in MANIFEST}))
def test_every_package_in_the_wheel_has_its_licence_there(package):
    kept = (ROOT / VENDORED).with_name("licences") / f"{package.strip('@').replace('/', '-')}.txt"
    assert len(kept.read_text(encoding="utf-8")) > 500


def test_the_licence_of_the_wheel_names_those_of_all_its_parts():
    (said,) = re.findall(r'^license = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    parts = {one for row in MANIFEST for one in re.split(r" (?:AND|OR) ", row["licence"].strip("()"))}
    assert parts - set(said.split(" AND ")) - {"MPL-2.0"} == set()


def test_the_bill_of_materials_is_the_same_each_time_and_names_each_part_once():
    bill = list_parts(ROOT, "1.2.3")
    assert bill == list_parts(ROOT, "1.2.3")
    names = [(part["name"], part.get("version")) for part in bill["components"]]
    assert len(names) == len(set(names)) == len({(row["package"], row["version"]) for row in MANIFEST}) + 1
