"""The site of docs/: every page is in its navigation, links lead somewhere, and it loads nothing from elsewhere."""

import os.path
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from docs.site.build import ROOT, Site, locate
from playwright.async_api import Browser, Page, async_playwright
from tests.docs.test_reference import list_anchors
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.conftest import PROGRAM

LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("use", "href")}
"""Attributes that make a browser load something by itself."""
SEEN = ("index.html", "guide/models.html", "guide/sdk.html", "guide/migrate/cline.html", "comparison.html")
"""The start page, wide tables and long lines."""
WIDTHS = (320, 390, 1100)


@dataclass
class Parsed(HTMLParser):
    """What a page of the site leads to, loads and can be led to."""

    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in LOADS:
                self.loads.add(value or "")
            elif name == "href":
                self.links.add(value or "")
            elif name == "id":
                self.ids.append(value or "")


@pytest.fixture(scope="module")
def site() -> Site:
    return Site()


@pytest.fixture(scope="module")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site.write(folder)
    return folder


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, Parsed]:
    parsed = {}
    for path in folder.rglob("*.html"):
        parsed[str(path.relative_to(folder))] = page = Parsed()
        page.feed(path.read_text(encoding="utf-8"))
    return parsed


def test_every_page_of_docs_is_in_the_navigation_once(site: Site) -> None:
    ours = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    assert sorted(file for file in site.listed if file.startswith("docs/")) == ours
    assert len(set(site.listed)) == len(site.listed)


def test_every_link_and_anchor_of_the_site_leads_somewhere(folder: Path, pages: dict[str, Parsed]) -> None:
    broken = []
    for name, page in pages.items():
        for link in page.links | page.loads:
            path, _, anchor = link.partition("#")
            if re.match(r"https?:|mailto:", link):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not (folder / target).is_file() or (anchor and anchor not in pages[target].ids):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_an_anchor_is_the_same_in_the_site_as_where_the_repository_is_read(
    site: Site, pages: dict[str, Parsed]
) -> None:
    read = [file for file in site.documents if file.endswith(".md")]
    different = {file: list_anchors(ROOT / file) - set(pages[locate(file)].ids) for file in read}
    assert {file: anchors for file, anchors in different.items() if anchors} == {}
    assert [name for name, page in pages.items() if len(set(page.ids)) != len(page.ids)] == []


def test_a_page_loads_only_what_lies_beside_it_and_forbids_the_rest(folder: Path, pages: dict[str, Parsed]) -> None:
    assert [
        (name, one) for name, page in pages.items() for one in page.loads if ":" in one or one.startswith("/")
    ] == []
    assert [one for one in folder.glob("*.css") if re.search(r"@import|url\(|https?:", one.read_text())] == []
    assert [name for name in pages if "default-src 'self'" not in (folder / name).read_text(encoding="utf-8")] == []


def test_the_list_for_models_names_every_page_of_the_navigation(site: Site, folder: Path) -> None:
    listed = re.findall(r"^- \[[^]]+\]\(([^)]+)\)$", (folder / "llms.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [locate(file) for file in site.listed]


def test_the_same_pages_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    Site().write(tmp_path / "again")
    made = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.*")}
        for root in (folder, tmp_path / "again")
    ]
    assert made[0] == made[1]


async def in_browser(folder: Path, look: Callable[[Browser], object]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        await look(browser)
        await browser.close()


async def open_page(browser: Browser, problems: list[str], **how: object) -> Page:
    page = await (await browser.new_context(**how)).new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    return page


@needs_chromium
@pytest.mark.slow
@pytest.mark.process
async def test_no_page_scrolls_sideways(folder: Path) -> None:
    problems: list[str] = []

    async def look(browser: Browser) -> None:
        page = await open_page(browser, problems)
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 800})
            for name in SEEN:
                await page.goto((folder / name).as_uri())
                if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    problems.append(f"{name} at {width}")

    await in_browser(folder, look)
    assert problems == []


@needs_chromium
@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1100, "light")])
async def test_a_page_keeps_no_one_out(folder: Path, width: int, scheme: str) -> None:
    problems: list[str] = []

    async def look(browser: Browser) -> None:
        how = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "bypass_csp": True}
        page = await open_page(browser, problems, **how)
        for name in ("index.html", "guide/first-task.html"):
            await page.goto((folder / name).as_uri())
            await page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
            found = await page.evaluate("axe.run({preload: false, resultTypes: ['violations']})")
            nodes = [(rule["id"], node["target"]) for rule in found["violations"] for node in rule["nodes"]]
            problems.extend(f"{name}: {rule} {target}" for rule, target in nodes[:5])

    await in_browser(folder, look)
    assert problems == []


@needs_chromium
@pytest.mark.slow
@pytest.mark.process
async def test_a_search_finds_pages_and_leads_to_the_part(folder: Path) -> None:
    problems: list[str] = []

    async def look(browser: Browser) -> None:
        page = await open_page(browser, problems)
        for words, title in (
            ("approval modes", "Approvals"),
            ("bubblewrap", "Sandbox"),
            ("HALOCLINE_HOME", "variables"),
        ):
            await page.goto((folder / "guide/board.html").as_uri())
            await page.keyboard.press("/")
            await page.keyboard.type(words)
            await page.locator(".found a", has_text=title).first.wait_for()
        await page.get_by_role("searchbox").fill("approval modes")
        await page.locator(".found a", has_text="Approvals › Approval modes").wait_for()
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/guide/approvals.html#approval-modes")
        await page.get_by_role("searchbox").fill("xyzzy plugh")
        await page.get_by_text("Nothing found.").wait_for()

    await in_browser(folder, look)
    assert problems == []


@needs_chromium
@pytest.mark.slow
@pytest.mark.process
async def test_the_colors_that_a_person_chose_stay_and_the_menu_opens_on_a_narrow_screen(folder: Path) -> None:
    problems: list[str] = []

    async def look(browser: Browser) -> None:
        page = await open_page(browser, problems, viewport={"width": 320, "height": 800}, color_scheme="light")
        await page.goto((folder / "index.html").as_uri())
        await page.get_by_role("button", name="Colors").click()
        await page.get_by_role("button", name="Colors").click()
        await page.get_by_role("button", name="Menu").click()
        await page.get_by_role("link", name="Your first task", exact=True).first.click()
        await page.wait_for_url("**/guide/first-task.html")
        assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert not await page.locator("nav").is_visible()

    await in_browser(folder, look)
    assert problems == []
