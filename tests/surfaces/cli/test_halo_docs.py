import re

from tests.architecture.sources import ROOT, SOURCE

from halocline.surfaces.cli.commands.docs import find_pages, read_pages

PAGES = {
    "guide/hooks": "# Hooks\nTrust a folder.\n",
    "guide/mcp": "# MCP\nTrust. Trust a folder.",
    "reference/keys": "# Keys",
}


def test_a_page_is_found_by_its_name_or_by_the_words_in_it():
    assert find_pages(PAGES, ["hooks"]) == find_pages(PAGES, ["guide/hooks"]) == ["guide/hooks"]
    assert find_pages(PAGES, ["trust", "Folder"]) == ["guide/mcp", "guide/hooks"]
    assert find_pages(PAGES, ["nonsense"]) == []
    assert find_pages(PAGES, []) == list(PAGES)


def test_every_page_of_the_guide_and_the_reference_is_there():
    assert set(read_pages()) == {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for folder in ("guide", "reference")
        for path in (ROOT / "docs" / folder).rglob("*.md")
    }


def test_what_halo_says_names_pages_as_an_installed_wheel_has_them():
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    files = [(path.name, line) for path, text in texts.items() for line in re.findall(r"^.*see docs/.*$", text, re.M)]
    named = {word for text in texts.values() for word in re.findall(r"halo docs ([a-z][\w/-]+)", text)}
    assert files == []
    assert {len(find_pages(read_pages(), [word])) for word in named} == {1}
