"""A small extension is packed, installed and used in a real VS Code."""

from pathlib import Path

import pytest
from editors.vscode.pack import pack
from tests.surfaces.vscode.code_server import in_vs_code
from tests.surfaces.vscode.editors import Tab
from tests.surfaces.vscode.tiny_extension import CONTAINER, ID, write_tiny_extension

pytestmark = in_vs_code


@pytest.fixture(scope="module")
def tiny(session_server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    session_server.install(pack(write_tiny_extension(folder / "source"), folder))


@pytest.fixture
def folder(tiny, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "before.txt").write_text("one\ntwo\n")
    (folder / "proposed.txt").write_text("one\n2\n")
    return folder


async def test_a_view_is_drawn_and_comes_back_when_the_window_is_reloaded(open_workbench, folder, tmp_path):
    workbench = await open_workbench(folder)
    await workbench.open_view(CONTAINER)
    view = workbench.view(ID)
    await view.locator("html[data-ready=yes]").wait_for()
    assert await view.locator("#line").text_content() == "in the side bar"
    await view.get_by_role("textbox", name="Say").fill("typed")
    await workbench.reload()
    await view.locator("html[data-ready=yes]").wait_for()
    assert await view.get_by_role("textbox", name="Say").input_value() == ""


async def test_a_command_of_an_extension_runs_and_its_messages_are_answered(open_workbench, folder):
    workbench = await open_workbench(folder)
    await workbench.run_command("Tiny: Greet")
    await workbench.answer_notification("Hello, you", "Again")
    await workbench.notification("Hello, again").wait_for()
    assert "Hello, again" in await workbench.list_status_bar()


async def test_what_an_extension_asks_is_answered(open_workbench, folder):
    workbench = await open_workbench(folder)
    await workbench.run_command("Tiny: Ask")
    await workbench.choose("green")
    await workbench.enter_text("How much?", "much")
    await workbench.status("Hello, green much").wait_for()


async def test_a_diff_is_changed_and_accepted_by_the_button_of_its_title(open_workbench, folder):
    workbench = await open_workbench(folder)
    editors = workbench.editors
    await workbench.run_command("Tiny: Propose Edit")
    await editors.wait_for_diff()
    assert (await editors.read(editors.original), await editors.read(editors.modified)) == ("one\ntwo\n", "one\n2\n")
    await editors.replace_text(editors.modified, "one\nmine\n")
    await editors.wait_for_text(editors.modified, "mine")
    assert await editors.list_tabs() == [Tab("before ↔ proposed", is_active=True, is_dirty=True)]
    await editors.save()
    await editors.press_title_button("Accept")
    await workbench.notification("Accepted one, mine").wait_for()
    assert await editors.list_tabs() == []


async def test_a_tab_of_an_extension_stands_beside_files(open_workbench, folder):
    workbench = await open_workbench(folder)
    await workbench.run_command("Tiny: Open Tab")
    assert await workbench.view_in_tab(ID).locator("#line").text_content() == "in a tab"
    await workbench.open_file("before.txt")
    await workbench.editors.wait_for_text(workbench.editors.text_editor, "two")
    assert await workbench.editors.read(workbench.editors.text_editor) == "one\ntwo\n"
    await workbench.editors.close_tab("Tiny tab")
    await workbench.editors.tab("Tiny tab").wait_for(state="detached")
    assert await workbench.editors.list_tabs() == [Tab("before.txt", is_active=True)]


async def test_a_view_takes_over_the_colours_of_a_theme(open_workbench, folder):
    workbench = await open_workbench(folder, width=800)
    await workbench.open_view(CONTAINER)
    for theme, kind in (("dark", "vscode-dark"), ("high contrast", "vscode-high-contrast"), ("light", "vscode-light")):
        await workbench.choose_theme(theme)
        await workbench.view(ID).locator(f"body.{kind}").wait_for()
