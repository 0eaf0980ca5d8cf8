"""The folder of the next task: what is typed is taken, what is worked in is kept, and what it lacks is said before."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_typed_folder_is_the_one_that_is_used_and_a_wrong_one_is_refused(server, opened):
    (wanted := server.halo.folder / "inside").mkdir()
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    folder, use = screen.page.locator("#folder"), screen.page.get_by_role("button", name="Use this folder")
    await folder.select_option(label="Another folder…")
    typed = screen.page.get_by_label("Path", exact=True)
    await screen.page.get_by_text("inside").wait_for()
    await typed.fill(f"{wanted}-not")
    await use.click()
    await screen.sees("does not exist", "dialog [role=alert]")
    await typed.fill(str(wanted))
    await use.click()
    await typed.wait_for(state="detached")
    assert await folder.input_value() == str(wanted)


async def test_a_path_is_typed_from_the_folder_listed_and_what_is_none_lists_nothing(server, opened):
    (wanted := server.halo.folder / "inside" / "deep").mkdir(parents=True)
    (server.halo.folder / "notes.txt").write_text("")
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    await screen.page.locator("#folder").select_option(label="Another folder…")
    typed, lists = screen.page.get_by_label("Path", exact=True), screen.page.get_by_label("Folders", exact=True)
    await lists.get_by_text("inside").wait_for()
    for wrong, said in (("notes.txt", "is a file, not a folder"), ("nowhere", "does not exist")):
        await typed.fill(wrong)
        await typed.press("Enter")
        await screen.sees(said, "dialog [role=alert]")
        assert await lists.count() == 0
    await screen.page.get_by_role("button", name="Back to").click()
    await lists.get_by_text("inside").wait_for()
    for path, listed in (("inside", "deep"), ("deep/..", "deep"), ("./deep", "No folders here")):
        await typed.fill(path)
        await typed.press("Enter")
        await lists.get_by_text(listed).wait_for()
    await typed.fill("../deep")
    await screen.page.get_by_role("button", name="Use this folder").click()
    await screen.page.locator(f"#folder[title='{wanted}']").wait_for()


async def test_the_folder_chosen_last_is_kept_by_a_reload_and_by_a_new_page(server, opened):
    (wanted := server.halo.folder / "inside").mkdir()
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    folder = screen.page.locator("#folder")
    await folder.select_option(label="Another folder…")
    await screen.page.locator(".folder", has_text="inside").click()
    await screen.page.get_by_role("button", name="Use this folder").click()
    await screen.page.reload()
    await screen.page.locator(f"#folder[title='{wanted}']").wait_for()
    other = await screen.context.new_page()
    await other.goto(server.address)
    await other.locator(f"#folder[title='{wanted}']").wait_for()


async def test_a_task_that_is_looked_at_gives_its_folder_to_the_next_and_to_instructions(server, opened):
    (wanted := server.halo.folder / "inside").mkdir()
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    await screen.page.locator("#folder").select_option(label="Another folder…")
    await screen.page.locator(".folder", has_text="inside").click()
    await screen.page.get_by_role("button", name="Use this folder").click()
    await screen.say("Go.")
    await screen.ended()
    address = screen.page.url
    fresh = await opened()
    await fresh.page.goto(address)
    await fresh.page.locator(".turn-end").wait_for()
    await fresh.page.get_by_role("button", name="New task").click()
    await fresh.page.locator(f"#folder[title='{wanted}']").wait_for()
    await fresh.go("rules")
    place = fresh.page.get_by_label("Folder", exact=True).last
    await place.wait_for()
    assert await place.input_value() == str(wanted)


async def test_a_text_that_waits_to_be_sent_stays_with_its_folder_while_a_task_of_another_is_looked_at(server, opened):
    (wanted := server.halo.folder / "inside").mkdir()
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    await screen.say("Go.")
    await screen.ended()
    task = screen.page.url
    await screen.page.get_by_role("button", name="New task").click()
    await screen.page.locator("#folder").select_option(label="Another folder…")
    await screen.page.locator(".folder", has_text="inside").click()
    await screen.page.get_by_role("button", name="Use this folder").click()
    await screen.composer.fill("For inside.")
    await screen.page.goto(task)
    await screen.page.locator(".turn-end").wait_for()
    await screen.page.get_by_role("button", name="New task").click()
    await screen.page.locator(f"#folder[title='{wanted}']").wait_for()
    assert await screen.composer.input_value() == "For inside."


async def test_a_folder_that_was_deleted_is_marked_once_the_person_is_back_or_sends(server, opened):
    (gone := server.halo.folder / "inside").mkdir()
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    await screen.page.locator("#folder").select_option(label="Another folder…")
    await screen.page.locator(".folder", has_text="inside").click()
    await screen.page.get_by_role("button", name="Use this folder").click()
    marked = screen.page.locator("#folder[aria-invalid=true]")
    for notice in ("focus", "send"):
        await screen.page.locator("#folder[aria-invalid=false]").wait_for()
        gone.rmdir()
        if notice == "focus":
            await screen.page.evaluate("dispatchEvent(new Event('focus'))")
        else:
            await screen.say("Go.")
        await marked.wait_for()
        await screen.sees("does not exist. Choose another folder.", ".standing.warn")
        assert await marked.locator("option:checked").inner_text() == f"{gone} (unavailable)"
        gone.mkdir()
        await screen.page.evaluate("dispatchEvent(new Event('focus'))")


async def test_a_folder_without_checkpoints_is_said_to_be_so_before_a_task_begins(server, opened):
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    await screen.page.locator("#folder").select_option(label="Another folder…")
    await screen.page.get_by_label("Path", exact=True).fill("~")
    await screen.page.get_by_role("button", name="Use this folder").click()
    await screen.sees("contains your whole home folder", ".standing.warn")
    assert await screen.barriers() == []
