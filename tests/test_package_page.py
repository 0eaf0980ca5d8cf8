"""What a package says of itself: its page, its parts of others and their licences."""

import json
import re

from scripts.build_version import VENDORED, list_parts
from scripts.package_page import describe_package
from scripts.vendor import LINE
from tests.architecture.sources import ROOT
from tests.tables import for_each

NOTICES = (ROOT / VENDORED).with_name("NOTICES.txt")
MANIFEST = json.loads((ROOT / VENDORED).read_text(encoding="utf-8"))


def test_the_page_of_the_package_has_no_link_into_the_tree_and_keeps_the_others():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = describe_package(readme)
    assert re.findall(r"\]\((?!https://)|src=\"(?!https://)", page) == []
    assert page.count("](https://") == readme.count("](https://")
    assert page.index("## Install") < page.index("\n## ", page.index("## Install"))


def test_every_package_in_the_wheel_has_a_notice_with_its_licence_and_no_other_has():
    _, *blocks = NOTICES.read_text(encoding="utf-8").split(LINE)
    noticed = {}
    for block in blocks:
        names, text = block.split("\n\n", 1)
        assert len(text) > 300 or "has no text of its licence" in text
        noticed |= dict.fromkeys(names.splitlines(), text)
    assert set(noticed) == {f"{row['package']} {row['version']}" for row in MANIFEST}
    silent = [name for name, text in noticed.items() if "has no text of its licence" in text]
    assert len(silent) * 10 < len(noticed)


@for_each("file", sorted({row["file"] for row in MANIFEST if row["file"].endswith(".js")}))
def test_what_a_file_says_it_was_made_of_has_a_notice(file):
    text = (ROOT / VENDORED).parent.joinpath(file).read_text(encoding="utf-8")
    held = {row["package"] for row in MANIFEST if row["file"] == file}
    named = {name.replace("+", "/") for name in re.findall(r"node_modules/\.pnpm/(@?[\w.+-]+?)@\d", text)}
    assert named - held == set()


def test_a_bundle_that_others_made_is_noticed_with_all_that_it_needs():
    rows = {row["package"] for row in MANIFEST if row["file"] == "mermaid.js"}
    assert rows >= {"@mermaid-js/tiny", "mermaid", "d3", "dagre-d3-es", "dompurify", "langium", "marked", "roughjs"}


def test_the_licence_of_the_wheel_names_those_of_all_its_parts():
    (said,) = re.findall(r'^license = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    parts = {one for row in MANIFEST for one in re.split(r" (?:AND|OR) ", row["licence"].strip("()"))}
    assert parts - set(said.split(" AND ")) - {"MPL-2.0"} == set()


def test_the_bill_of_materials_is_the_same_each_time_and_names_each_part_once():
    bill = list_parts(ROOT, "1.2.3")
    assert bill == list_parts(ROOT, "1.2.3")
    names = [(part["name"], part.get("version")) for part in bill["components"]]
    assert len(names) == len(set(names)) == len({(row["package"], row["version"]) for row in MANIFEST}) + 1
