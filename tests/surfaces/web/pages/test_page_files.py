"""Diffs with colors, marked words and more lines, and files that are opened from what the agent says."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call
from tests.surfaces.web.pages.screen import Screen, Server

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FILE = "\n".join(["import time", "", *(f"def number_{n}():\n    return {n}\n" for n in range(60))])
EDITED = FILE.replace("return 20\n", "return 21\n").replace("return 50\n", "return 51\n")
KEY = "sk-ant-api03-" + "Ab1" * 31 + "AA"
SAID = "See `net/a.py:63`, `missing.py`, `.env`, `keys.py` and [the file](net/a.py#L3)."


async def edited(server: Server, opened, *more, **size: int | str) -> Screen:
    """A page on which an edit of `net/a.py` waits."""
    (server.halo.folder / "net").mkdir()
    (server.halo.folder / "net" / "a.py").write_text(FILE)
    (server.halo.folder / ".env").write_text("A=1\n")
    (server.halo.folder / "keys.py").write_text(f"one\nkey = '{KEY}'\n")
    write = call("write_to_file", path="net/a.py", content=EDITED)
    server.model({"call": [call("read_file", path="net/a.py")]}, {"call": [write]}, *more, {"text": SAID})
    await server.start()
    screen = await opened(**size)
    await screen.say("Change it.")
    await screen.page.locator(".card.asks [data-hunk]").first.wait_for()
    return screen


async def approved(server: Server, opened, *more, **size: int | str) -> Screen:
    screen = await edited(server, opened, *more, **size)
    await screen.page.locator(".primary:enabled", has_text="Approve").first.click()
    await screen.ended()
    return screen


async def test_words_that_changed_are_marked_and_code_is_colored(server, opened):
    screen = await edited(server, opened)
    marks = screen.page.locator(".card.asks .word")
    await marks.first.wait_for()
    assert await marks.all_inner_texts() == ["20", "21", "50", "51"]
    await screen.page.locator(".card.asks .hljs-keyword").first.wait_for()


async def test_lines_that_begin_within_a_text_or_a_comment_are_colored_as_what_follows_it(server, opened):
    await server.start()
    screen = await opened()
    pieces = {
        ("python", '    """\n    merged = []'): '"""\n',
        ("python", 'x = """\n    merged'): "",
        ("python", '    """One line."""\n    x = 1'): "",
        ("java", " * The end.\n */\nint x;"): "/*\n",
        ("javascript", "const all = '**/*.js'"): "",
    }
    find = "async ([text, file]) => (await import(early.base + 'static/js/lib/code.js')).openedBefore(text, file)"
    found = {key: await screen.page.evaluate(find, [key[1], key[0]]) for key in pieces}
    assert found == pieces


PLACES = """() => ['removed', 'added'].map((kind) =>
  document.querySelector(`.card.asks .line.${kind}`).getBoundingClientRect().toJSON())"""


@pytest.mark.parametrize(("width", "is_beside"), [(390, False), (1099, False), (1100, True), (1600, True)])
async def test_old_and_new_stand_side_by_side_where_there_is_room(width, is_beside, server, opened):
    screen = await edited(server, opened, width=width)
    await screen.page.locator(".card.asks .line.added").first.wait_for()
    old, new = await screen.page.evaluate(PLACES)  # both at once: the page may scroll in between
    assert (old["y"] == new["y"], old["x"] < new["x"]) == (is_beside, is_beside)
    assert not await screen.scrolls_sideways()
    assert await screen.barriers() == []


async def test_lines_around_an_edit_are_read_when_a_person_asks_for_them(server, opened):
    screen = await edited(server, opened)
    card = screen.page.locator(".card.asks")
    before = await card.locator(".line:not(.twin)").count()
    await card.get_by_role("button", name="↓ 20 more lines").first.click()
    await card.locator(".around").first.wait_for()
    assert await card.locator(".line:not(.twin)").count() == before + 20
    await card.get_by_role("button", name="Whole file").click()
    await screen.sees("def number_59():", ".card.asks .around")
    numbers = await card.locator(".line:not(.twin):not(.removed) .no").all_inner_texts()
    assert numbers == [str(number) for number in range(1, EDITED.count("\n") + 1)]


async def test_no_lines_are_offered_beyond_the_end_of_a_file(server, opened):
    (server.halo.folder / "add.py").write_text("def add(a, b):\n    return a - b\n")
    edit = call("write_to_file", path="add.py", content="def add(a, b):\n    return a + b\n")
    server.model({"call": [call("read_file", path="add.py")]}, {"call": [edit]}, {"text": "Done."})
    await server.start()
    screen = await opened()
    await screen.say("Change it.")
    card = screen.page.locator(".card.asks")
    await card.get_by_role("button", name="Whole file").wait_for()
    assert await card.locator(".gap button").all_inner_texts() == ["Whole file", "Open file"]


async def test_lines_around_a_finished_edit_are_those_it_left_behind(server, opened):
    screen = await approved(server, opened)
    (server.halo.folder / "net" / "a.py").write_text("all is different\n")
    await screen.page.locator(".call.kind-edit .call-line").click()
    await screen.page.get_by_role("button", name="Whole file").click()
    await screen.sees("def number_59():", ".around")


async def test_a_file_that_a_reply_names_opens_at_its_line(server, opened):
    screen = await approved(server, opened)
    links = screen.page.locator(".md a.file-name")
    await links.nth(2).wait_for()
    assert await links.all_inner_texts() == ["net/a.py:63", "keys.py", "the file"]
    await links.first.click()
    line = screen.page.locator(".file-line.here")
    await line.wait_for()
    assert "return 21" in await screen.page.locator(".file-lines").inner_text()
    assert await line.locator(".no").inner_text() == "63"
    assert await screen.barriers() == []


async def test_keys_in_a_file_are_not_shown(server, opened):
    screen = await approved(server, opened)
    await screen.page.locator(".md a.file-name", has_text="keys.py").click()
    await screen.sees("Keys in this file are hidden here.", "dialog")
    assert KEY not in await screen.page.locator("dialog").inner_text()


async def test_the_tree_marks_what_the_task_changed_and_is_used_with_keys(server, opened):
    screen = await approved(server, opened)
    await screen.page.locator(".task-head").get_by_role("button", name="Files").click()
    tree = screen.page.get_by_role("tree")
    await tree.locator(".changed", has_text="net").wait_for()
    await tree.locator("[data-item]", has_text="net").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        await screen.page.keyboard.press(key)
        await tree.locator(".changed", has_text="a.py").wait_for()
    await screen.sees("def number_0", ".file-lines")
    assert await screen.barriers() == []


async def test_a_link_leads_to_the_persons_editor_if_one_is_set(server, opened):
    screen = await approved(server, opened)
    await screen.go("settings/This page")
    await screen.page.get_by_label("Open files in").select_option(label="VS Code")
    await screen.page.go_back()
    link = screen.page.locator(".md a.file-name").first
    await link.wait_for()
    assert await link.get_attribute("href") == f"vscode://file{server.halo.folder}/net/a.py:63"


@pytest.mark.parametrize("width", [320, 390])
async def test_a_file_and_the_tree_fit_a_phone(width, server, opened):
    screen = await approved(server, opened, width=width, theme="dark")
    await screen.page.locator(".md a.file-name").first.click()
    await screen.page.locator(".file-line.here").wait_for()
    assert not await screen.scrolls_sideways()
    await screen.page.get_by_role("button", name="All files").click()
    await screen.page.get_by_role("tree").locator("[data-item]").first.wait_for()
    assert await screen.barriers() == []


async def test_an_output_has_its_colors_and_links_to_what_it_names(server, opened):
    said = "printf '\\033[31mnet/a.py:3: bad\\033[0m\\n'"
    screen = await approved(server, opened, {"call": [call("execute_command", command=said)]})
    card = screen.page.locator(".card.call", has_text="printf")
    await card.locator(".call-line").click()
    await card.locator(".fg-red").wait_for()
    await card.locator(".fg-red a.file-name").wait_for()
    ended = [event for event in server.halo.log() if isinstance(event, ev.ToolCallEnded)][-1]
    assert "\x1b" not in str(ended.result)
