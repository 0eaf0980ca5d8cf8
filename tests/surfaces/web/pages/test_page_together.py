"""The edits of one reply are decided in one card, all or each, and only as they were shown."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call
from tests.surfaces.web.pages.screen import SILENCE

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def edit(path, old, new):
    return call("replace_in_file", path=path, diff=f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE")


THREE = [edit("a.txt", "one", "ONE"), edit("b.txt", "one", "uno"), edit("a.txt", "two", "TWO")]


async def asked(server, opened, *edits, b="one\ntwo\n", **more):
    """A page on which the first of these edits waits."""
    (server.halo.folder / "a.txt").write_text("one\ntwo\n")
    (server.halo.folder / "b.txt").write_text(b)
    reads = [call("read_file", path="a.txt"), call("read_file", path="b.txt")]
    server.model({"call": reads}, {"call": list(edits)}, {"text": "So be it."})
    await server.start()
    screen = await opened(**more)
    await screen.say("Change them.")
    await screen.page.locator(".edits-ahead").wait_for()
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").wait_for()
    return screen


def read(server):
    return [(server.halo.folder / name).read_text() for name in ("a.txt", "b.txt")]


async def test_all_edits_of_a_reply_are_approved_by_one_button(server, opened):
    screen = await asked(server, opened, *THREE)
    await screen.sees("3 edits in 2 files", ".edits-ahead")
    assert await screen.barriers() == []
    await screen.page.locator(".card.asks").get_by_role("button", name="Approve all 3").click()
    await screen.ended()
    assert read(server) == ["ONE\nTWO\n", "uno\ntwo\n"]


async def test_by_a_key_too_once_they_were_shown(server, opened):
    screen = await asked(server, opened, *THREE, height=1200)
    await screen.page.locator(".log").focus()
    await screen.page.wait_for_timeout(SILENCE)
    await screen.page.keyboard.press("s")
    await screen.ended()
    assert read(server) == ["ONE\nTWO\n", "uno\ntwo\n"]


async def test_each_is_decided_for_itself(server, opened):
    screen = await asked(server, opened, *THREE)
    second = screen.page.locator(".edit-ahead").first
    await second.get_by_role("button", name="Reject").click()
    await second.get_by_text("Rejected").wait_for()
    await screen.page.locator(".card.asks").get_by_role("button", name="Approve the 2 left").click()
    await screen.ended()
    assert read(server) == ["ONE\nTWO\n", "one\ntwo\n"]


async def test_the_first_is_rejected_without_the_others(server, opened):
    screen = await asked(server, opened, *THREE[:2])
    second = screen.page.locator(".edit-ahead").first
    await second.get_by_role("button", name="Approve").click()
    await second.get_by_text("Approved").wait_for()
    await screen.page.locator(".card.asks").get_by_role("button", name="Reject…").click()
    await screen.page.keyboard.press("Enter")
    await screen.ended()
    assert read(server) == ["one\ntwo\n", "uno\ntwo\n"]


async def test_one_that_would_do_something_else_by_then_is_asked_about_again(server, opened):
    screen = await asked(server, opened, *THREE[:2])
    (server.halo.folder / "b.txt").write_text("zero\none\ntwo\n")
    await screen.page.locator(".card.asks").get_by_role("button", name="Approve all 2").click()
    await screen.page.locator(".card.asks", has_text="b.txt").locator(".approves:enabled").wait_for()
    assert read(server) == ["ONE\ntwo\n", "zero\none\ntwo\n"]
    await screen.page.locator(".card.asks .approves").click()
    await screen.ended()
    assert read(server)[1] == "zero\nuno\ntwo\n"


async def test_what_was_not_in_view_is_shown_before_it_is_approved(server, opened):
    long = "".join(f"{number}\n" for number in range(90))
    screen = await asked(server, opened, THREE[0], call("write_to_file", path="b.txt", content=long))
    button = screen.page.locator(".card.asks").get_by_role("button", name="Approve all 2")
    await button.click()
    await screen.sees("89", ".edit-ahead .diff")
    assert read(server)[0] == "one\ntwo\n"
    await screen.page.wait_for_timeout(SILENCE)
    await button.click()
    await screen.ended()
    assert read(server) == ["ONE\ntwo\n", long]


async def test_an_edit_that_was_rejected_is_not_approved_by_a_page_that_did_not_see_it(server, opened):
    screen = await asked(server, opened, *THREE)
    other = await opened()
    await other.page.goto(screen.page.url)
    await other.page.locator(".edits-ahead").wait_for()
    second = screen.page.locator(".edit-ahead").first
    await second.get_by_role("button", name="Reject").click()
    await second.get_by_text("Rejected").wait_for()
    await other.page.wait_for_timeout(SILENCE)
    await other.page.locator(".card.asks").get_by_role("button", name="Approve all 3").click()
    await other.page.locator(".edit-ahead").first.get_by_text("Rejected").wait_for()
    assert read(server) == ["one\ntwo\n", "one\ntwo\n"]
    await other.page.locator(".edit-ahead").first.get_by_role("button", name="Approve").click()
    await other.page.locator(".edit-ahead").first.get_by_text("Approved").wait_for()
    await other.page.wait_for_timeout(SILENCE)
    await other.page.locator(".card.asks").get_by_role("button", name="Approve the 2 left").click()
    await other.ended()
    assert read(server) == ["ONE\nTWO\n", "uno\ntwo\n"]
