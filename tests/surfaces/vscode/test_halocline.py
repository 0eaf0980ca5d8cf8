"""The extension in a real VS Code, as a person uses it. The model is the wire-level server."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from editors.vscode.pack import pack
from playwright.async_api import FrameLocator, expect
from tests.servers.model_server import ModelServer
from tests.surfaces.vscode.code_server import in_vs_code

from halocline.providers.scripted.script import Call, Turn

pytestmark = in_vs_code
ID = "halocline.halocline"
SOURCE = Path(__file__).parents[3] / "editors" / "vscode"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364600000000600023081d02f"
    "0000000049454e44ae426082"
)
REPLACE = Call("replace_in_file", {"path": "old.txt", "diff": "------- SEARCH\nb\n=======\nB\n+++++++ REPLACE\n"})
NOTEBOOK: dict[str, Any] = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "one",
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["3\n"]}],
            "source": ["x = 1\n", "y = 2"],
        },
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "two",
            "metadata": {},
            "outputs": [],
            "source": ["z = 3"],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
ASK = Call("ask_followup_question", {"question": "Which?", "options": ["tabs", "spaces"]})


@pytest.fixture(scope="module")
def extension(session_server, tmp_path_factory):
    session_server.install(pack(SOURCE, tmp_path_factory.mktemp("packed")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("a\nb\nc\n")
    return folder


class Model:
    """Sets up the person's home so that new tasks ask this model."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.server: ModelServer | None = None

    async def answers(self, *turns: Turn) -> ModelServer:
        self.server = await ModelServer(turns).__aenter__()
        self.home.mkdir(exist_ok=True)
        text = f'model = "openai/x"\nbase_url = "{self.server.url("openai")}"\n'
        (self.home / "settings.toml").write_text(text)
        return self.server


@pytest_asyncio.fixture(loop_scope="session")
async def model(extension: None, code_server: Any) -> AsyncIterator[Model]:
    code_server.change_settings({"halocline.command": [sys.executable, "-m", "halocline"]})
    model = Model(code_server.home / ".halocline")
    yield model
    if model.server:
        await model.server.__aexit__(None, None, None)


async def open_chat(workbench: Any) -> FrameLocator:
    await workbench.open_view("Halocline")
    view: FrameLocator = workbench.view(ID)
    await view.locator("[data-ready=open]").wait_for()
    return view


async def say(view: FrameLocator, text: str) -> None:
    await view.locator(".composer textarea").fill(text)
    await view.locator(".composer textarea").press("Enter")


async def sees(view: FrameLocator, text: str) -> None:
    await view.get_by_text(text).first.wait_for()


async def test_a_person_changes_an_edit_in_the_diff_editor_and_accepts_it(open_workbench, folder, model):
    server = await model.answers(Turn(text="I change it.", calls=(REPLACE,)), Turn(text="The letter is big."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Make b big")
    await workbench.editors.wait_for_diff()
    assert await workbench.editors.read(workbench.editors.original) == "a\nb\nc\n"
    assert await workbench.editors.read(workbench.editors.modified) == "a\nB\nc\n"
    await workbench.editors.replace_text(workbench.editors.modified, "a\nBee\nc\n")
    await workbench.editors.press_title_button("Accept Edit")
    await sees(view, "The letter is big.")
    assert (folder / "old.txt").read_text() == "a\nBee\nc\n"
    assert "+Bee" in str(server.requests[-1].body)
    await workbench.editors.tab("old.txt").wait_for(state="detached")
    await view.get_by_text("edited by you").wait_for()


async def test_an_edit_is_rejected_with_a_reason(open_workbench, folder, model):
    server = await model.answers(Turn(calls=(REPLACE,)), Turn(text="I see."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Make b big")
    await workbench.editors.wait_for_diff()
    await workbench.run_command("Halocline: Reject Edit with a Reason…")
    await workbench.enter_text("The model reads this", "Not this letter.")
    await sees(view, "I see.")
    assert "Not this letter." in str(server.requests[-1].body)
    assert (folder / "old.txt").read_text() == "a\nb\nc\n"
    await workbench.editors.tab("old.txt").wait_for(state="detached")


async def test_one_change_of_several_is_taken_back_before_the_edit_is_accepted(open_workbench, folder, model):
    (folder / "old.txt").write_text("".join(f"{number}\n" for number in range(1, 21)))
    blocks = "".join(f"------- SEARCH\n{n}\n=======\n{n} new\n+++++++ REPLACE\n" for n in (2, 18))
    await model.answers(Turn(calls=(Call("replace_in_file", {"path": "old.txt", "diff": blocks}),)), Turn(text="Done."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Change two lines")
    await workbench.editors.wait_for_diff()
    await workbench.editors.modified.get_by_text("18\xa0new").click()
    await asyncio.sleep(1)  # what the page still draws must not take the keys
    await workbench.page.keyboard.press("End")
    for _ in " new":
        await workbench.page.keyboard.press("Backspace")
    await workbench.page.keyboard.press("Control+Enter")
    await sees(view, "Done.")
    lines = (folder / "old.txt").read_text().splitlines()
    assert (lines[1], lines[17]) == ("2 new", "18")


async def test_an_edit_keeps_what_is_typed_in_an_editor_and_not_saved(open_workbench, folder, model):
    await model.answers(Turn(calls=(REPLACE,)), Turn(text="The letter is big."))
    workbench = await open_workbench(folder)
    await workbench.open_file("old.txt")
    await workbench.editors.replace_text(workbench.editors.text_editor, "typed\na\nb\nc\n")
    view = await open_chat(workbench)
    await say(view, "Make b big")
    await workbench.editors.wait_for_diff()
    assert await workbench.editors.read(workbench.editors.original) == "typed\na\nb\nc\n"
    await workbench.editors.press_title_button("Accept Edit")
    await sees(view, "The letter is big.")
    assert (folder / "old.txt").read_text() == "typed\na\nB\nc\n"
    assert [tab.is_dirty for tab in await workbench.editors.list_tabs()] == [False]


async def test_an_edit_of_an_open_notebook_keeps_unsaved_cells_and_outputs_and_is_undone(
    open_workbench, folder, model, code_server
):
    (folder / "sum.ipynb").write_text(json.dumps(NOTEBOOK, indent=1) + "\n")
    edit = Call("replace_in_file", {"path": "sum.ipynb", "old_text": '"y = 2"', "new_text": '"y = 20"'})
    server = await model.answers(Turn(text="I change it.", calls=(edit,)), Turn(text="It is better."))
    workbench = await open_workbench(folder)
    await workbench.open_file("sum.ipynb")
    await workbench.editors.cell_line("z").click()
    await workbench.page.keyboard.press("End")
    await workbench.page.keyboard.insert_text("33")
    await asyncio.to_thread(wait_until, lambda: "z = 333" in code_server.read_unsaved())
    await workbench.reload()
    view = await open_chat(workbench)
    await workbench.editors.cell_line("z").hover()
    await workbench.page.mouse.wheel(0, -2000)  # a reload may show the notebook from the cell in use on
    await workbench.editors.cell_line("y").click()
    await workbench.run_command("Halocline: Improve Jupyter Cell")
    await workbench.editors.wait_for_diff()
    await workbench.editors.press_title_button("Accept Edit")
    await sees(view, "It is better.")
    assert "Improve cell 1 of sum.ipynb:18-19:" in str(server.requests[0].body)
    first, second = json.loads((folder / "sum.ipynb").read_text())["cells"]
    assert (first["source"], first["outputs"]) == (["x = 1\n", "y = 20"], NOTEBOOK["cells"][0]["outputs"])
    assert second["source"] == ["z = 333"]
    await workbench.page.locator(".tabs-container .tab.active:not(.dirty)").first.wait_for()
    await workbench.editors.cell_line("y").click()
    await asyncio.sleep(1)  # what the page still draws must not take the keys
    await workbench.page.keyboard.press("Control+z")
    await expect(workbench.editors.cell_line("y")).to_have_text("y\xa0=\xa02", timeout=30_000)
    await workbench.run_command("Halocline: Generate Jupyter Cell…")
    await expect(view.locator(".composer textarea")).to_have_value("Below cell 1 of @sum.ipynb, add a cell that ")


async def test_errors_that_the_window_finds_after_an_edit_are_told_to_the_model(open_workbench, folder, model):
    (folder / "data.json").write_text('{"one": 1}\n')
    read = Call("read_file", {"path": "data.json"})
    spoil = Call("replace_in_file", {"path": "data.json", "old_text": '"one": 1', "new_text": '"one" 1'})
    slowly = Turn(text="Now. " * 20, pace=0.5, calls=(spoil,))  # until the window has a program that checks JSON
    server = await model.answers(Turn(calls=(read,)), slowly, Turn(text="Oh."))
    workbench = await open_workbench(folder)
    await workbench.open_file("data.json")
    view = await open_chat(workbench)
    await say(view, "Spoil it")
    await workbench.editors.wait_for_diff()
    await workbench.editors.press_title_button("Accept Edit")
    await sees(view, "Oh.")
    assert "Colon expected" in str(server.requests[-1].body)
    assert [tab.title for tab in await workbench.editors.list_tabs()] == ["data.json"]


async def test_the_problems_of_the_window_are_told_for_a_mention_of_them(open_workbench, folder, model):
    (folder / "data.json").write_text('{"a": 1,}\n')
    server = await model.answers(Turn(text="I see it."))
    workbench = await open_workbench(folder)
    await workbench.open_file("data.json")
    await workbench.page.locator(".squiggly-warning, .squiggly-error").first.wait_for()
    view = await open_chat(workbench)
    await say(view, "What is wrong? @problems")
    await sees(view, "I see it.")
    told = str(server.requests[-1].body)
    assert "The editor shows" in told
    assert 'data.json:1 | {"a": 1,}' in told


async def test_a_commit_message_is_stopped_and_keeps_what_has_come(open_workbench, folder, model):
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    await model.answers(Turn(text="Add a file. " * 200, pace=1.0))
    workbench = await open_workbench(folder)
    await workbench.open_view("Source Control")
    box = workbench.page.locator(".scm-view .scm-input")
    await box.wait_for()
    await workbench.run_command("Halocline: Generate Commit Message")
    await expect(box).to_contain_text("Add a file.")
    await workbench.run_command("Halocline: Stop Generating the Commit Message")
    await asyncio.sleep(1)  # what was on its way is there
    kept = await box.inner_text()
    await asyncio.sleep(1)
    assert "Add a" in kept.replace("\xa0", " ")
    assert await box.inner_text() == kept
    assert await workbench.page.locator(".notification-list-item").count() == 0


async def test_a_command_that_does_not_start_halocline_is_not_taken(open_workbench, folder, model, code_server):
    workbench = await open_workbench(folder)
    await workbench.run_command("Halocline: Choose the Command…")
    await workbench.enter_text("A program, or words such as", "/bin/echo")
    await workbench.enter_text("/bin/echo does not start Halocline.", f"{sys.executable} -m halocline")
    await workbench.quick_input.wait_for(state="hidden")
    view = await open_chat(workbench)
    assert await view.locator(".composer textarea").count() == 1


async def test_what_failed_in_a_terminal_of_the_window_is_told_to_the_model(open_workbench, folder, model):
    server = await model.answers(Turn(text="Ready."), Turn(text="I see."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Hello")
    await sees(view, "Ready.")
    await workbench.fail_in_terminal("cat no-such-file; sleep 0.5; (exit 7)")
    await say(view, "What failed? @terminal")
    await sees(view, "I see.")
    told = str(server.requests[-1].body)
    assert "cat no-such-file; sleep 0.5; (exit 7)" in told
    assert "No such file or directory" in told
    assert "exit code 7" in told


async def test_a_turn_is_stopped_a_question_answered_and_the_files_are_restored(open_workbench, folder, model):
    write = Call("write_to_file", {"path": "new.txt", "content": "one\n"})
    turns = [Turn(calls=(ASK,)), Turn(calls=(write,)), Turn(text="Written. " * 400, pace=0.2)]
    await model.answers(*turns)
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Begin")
    await view.locator("[data-decides]").get_by_role("button", name="spaces").click()
    await workbench.editors.wait_for_diff()
    await workbench.editors.press_title_button("Accept Edit")
    await sees(view, "Written.")
    assert (folder / "new.txt").exists()
    for _ in range(2):
        await view.locator(".composer textarea").press("Escape")
    await sees(view, "Stopped")
    await view.locator(".composer textarea").fill("/undo")
    await view.locator(".composer textarea").press("Enter")
    await view.get_by_role("dialog").get_by_text("first change").click()
    await view.get_by_role("dialog").get_by_role("button", name="Rewind", exact=True).click()
    await asyncio.to_thread(wait_until, lambda: not (folder / "new.txt").exists())


async def test_a_window_that_is_reloaded_in_mid_task_goes_on_where_it_was(open_workbench, folder, model):
    await model.answers(Turn(text="I change it.", calls=(REPLACE,)), Turn(text="The letter is big."))
    workbench = await open_workbench(folder)
    await say(await open_chat(workbench), "Make b big")
    await workbench.editors.wait_for_diff()
    await workbench.reload()
    view = await open_chat(workbench)
    await sees(view, "I change it.")
    await workbench.editors.wait_for_diff()
    await workbench.editors.press_title_button("Accept Edit")
    await sees(view, "The letter is big.")
    assert (folder / "old.txt").read_text() == "a\nB\nc\n"


async def test_a_command_that_runs_when_its_window_is_reloaded_is_said_to_have_been_stopped(
    open_workbench, folder, model
):
    ticks = "for i in $(seq 60); do echo tick $i; sleep 1; done; echo > ended"
    command = Call("execute_command", {"command": ticks, "requires_approval": True})
    server = await model.answers(Turn(text="I run it.", calls=(command,)), Turn(text="I see."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Run it")
    await view.locator(".approves:enabled").first.click()
    await sees(view, "tick 2")
    await workbench.reload()
    view = await open_chat(workbench)
    for text in ("Run it", "I run it.", "stopped"):
        await view.locator(".log").get_by_text(text, exact=True).first.wait_for()
    is_running = ["pgrep", "-f", "echo tick"]
    await asyncio.to_thread(wait_until, lambda: subprocess.run(is_running, check=False).returncode == 1)
    await view.get_by_role("button", name="Continue").click()
    await sees(view, "I see.")
    assert "Interrupted before this call ended." in str(server.requests[-1].body)
    assert not (folder / "ended").exists()


async def test_a_view_that_was_hidden_shows_all_that_happened_meanwhile(open_workbench, folder, model):
    await model.answers(Turn(text="First. " * 50, pace=0.05), Turn(text="Second."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Begin")
    await sees(view, "First.")
    await workbench.open_view("Explorer")
    await asyncio.sleep(3)
    view = await open_chat(workbench)
    await expect(view.locator(".transcript, main").first).to_contain_text(("First. " * 50).strip())
    await say(view, "Go on")
    await sees(view, "Second.")


async def test_two_windows_show_one_task(open_workbench, folder, model):
    await model.answers(Turn(calls=(REPLACE,)), Turn(text="The letter is big."))
    first = await open_workbench(folder)
    one = await open_chat(first)
    await say(one, "Make b big")
    await first.editors.wait_for_diff()
    second = await open_workbench(folder)
    other = await open_chat(second)
    await other.locator("main").get_by_text("Make b big").first.click()
    await second.editors.wait_for_diff()
    await second.editors.press_title_button("Accept Edit")
    for view in (one, other):
        await sees(view, "The letter is big.")
    await first.editors.tab("old.txt").wait_for(state="detached")


async def test_a_python_side_that_dies_starts_again_and_the_task_goes_on(open_workbench, folder, model):
    await model.answers(Turn(text="First."), Turn(text="Second."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Begin")
    await sees(view, "First.")
    found = subprocess.run(["pgrep", "-f", f"halocline editor -- {folder}"], capture_output=True, text=True, check=True)
    for number in found.stdout.split():
        os.kill(int(number), signal.SIGKILL)
    await view.locator("[data-ready=lost]").wait_for()
    await view.locator("[data-ready=open]").wait_for()
    await say(view, "Go on")
    await sees(view, "Second.")


async def test_a_selection_goes_into_the_chat_as_a_mention_of_its_lines(open_workbench, folder, model):
    await model.answers()
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await workbench.open_file("old.txt")
    await workbench.editors.text_editor.locator(".view-lines").click()
    await workbench.page.keyboard.press("Control+Home")
    await workbench.page.keyboard.press("Shift+ArrowDown")
    await workbench.page.keyboard.press("Shift+ArrowDown")
    await workbench.page.keyboard.press("Control+'")
    await expect(view.locator(".composer textarea")).to_have_value("@old.txt:1-2 ")


async def test_enter_in_a_view_of_the_editor_approves_no_command_that_may_let_a_secret_leave(
    open_workbench, folder, model
):
    (folder / ".env").write_text("KEY=value\n")
    command = Call("execute_command", {"command": "cp .env copied", "requires_approval": True})
    await model.answers(Turn(calls=(command,)), Turn(text="It is copied."))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Copy it")
    await view.locator("[data-decides] .approves:enabled").first.wait_for()
    for place in (".composer textarea", ".log", ".card.asks"):
        await asyncio.sleep(1)  # a key counts once nothing was pressed for a while
        await view.locator(place).first.press("Enter")
    await asyncio.sleep(1)
    assert not (folder / "copied").exists()
    await view.locator(".approves:enabled").first.click()
    await sees(view, "It is copied.")
    assert (folder / "copied").exists()


async def test_a_command_that_does_not_start_says_why_and_is_tried_again(open_workbench, folder, model, code_server):
    await model.answers()
    code_server.change_settings({"halocline.command": [sys.executable, "-c", "raise SystemExit('It is broken.')"]})
    workbench = await open_workbench(folder)
    await workbench.open_view("Halocline")
    view = workbench.view(ID)
    await sees(view, "It is broken.")
    code_server.change_settings({"halocline.command": [sys.executable, "-m", "halocline"]})
    await asyncio.sleep(2)  # until the window has the setting
    await view.get_by_role("button", name="Try Again").click()
    await view.locator("[data-ready=open]").wait_for()


async def test_in_restricted_mode_nothing_starts_until_the_person_trusts_the_folder(
    open_workbench, folder, model, code_server
):
    await model.answers()
    code_server.change_settings(
        {"security.workspace.trust.enabled": True, "security.workspace.trust.startupPrompt": "never"}
    )
    workbench = await open_workbench(folder)
    await workbench.open_view("Halocline")
    view = workbench.view(ID)
    await sees(view, "Restricted Mode: Halocline reads and runs nothing of this folder")
    await workbench.run_command("Halocline: Restart")
    await workbench.notification("Restricted Mode").wait_for()
    assert subprocess.run(["pgrep", "-f", f"halocline editor -- {folder}"], check=False).returncode == 1
    await view.get_by_role("button", name="Trust This Folder…").click()
    await workbench.page.locator(".workspace-trust-editor").get_by_role("button", name="Trust", exact=True).click()
    await view.locator("[data-ready=open]").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark", "high contrast"])
async def test_the_page_takes_the_colors_of_the_theme(open_workbench, folder, model, theme, tmp_path):
    await model.answers(Turn(text="I change it.", calls=(REPLACE,)), Turn(text="Done."))
    workbench = await open_workbench(folder)
    await workbench.choose_theme(theme)
    view = await open_chat(workbench)
    await say(view, "Make b big")
    await workbench.editors.wait_for_diff()
    kind = "light" if theme == "light" else "dark"
    await view.locator(f"html[data-theme={kind}]").wait_for()
    await view.get_by_role("button", name="Approve").first.wait_for()
    await workbench.screenshot(tmp_path / f"{theme}.png")
    assert await view.locator("html.high-contrast").count() == (theme == "high contrast")
    scrolls = await view.locator("html").evaluate("html => html.scrollWidth > html.clientWidth")
    assert not scrolls
    await workbench.editors.press_title_button("Reject Edit")
    await sees(view, "Done.")


async def test_a_diagram_is_drawn_in_a_view_of_the_editor(open_workbench, folder, model, tmp_path):
    await model.answers(Turn(text="```mermaid\nflowchart LR\n  A[Ask] --> B[Answer]\n```\n"))
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    await say(view, "Draw it")
    picture = view.locator("img.diagram-picture")
    await picture.wait_for(timeout=60_000)
    assert await picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 50
    await workbench.screenshot(tmp_path / "diagram.png")


async def test_a_picture_is_given_in_a_view_of_the_editor_and_shown_there(open_workbench, folder, model, tmp_path):
    server = await model.answers(Turn(text="It is one pixel."))
    with (model.home / "settings.toml").open("a") as settings:
        settings.write('image_models = ["openai/*"]\n')
    workbench = await open_workbench(folder)
    view = await open_chat(workbench)
    async with workbench.page.expect_file_chooser() as chooser:
        await view.get_by_role("button", name="Attach files").click()
    await (await chooser.value).set_files({"name": "a.png", "mimeType": "image/png", "buffer": PIXEL})
    await view.locator(".given").wait_for()
    await say(view, "What is it?")
    await sees(view, "It is one pixel.")
    assert "data:image/png;base64," in str(server.requests[-1].body)
    picture = view.locator(".pictures img").first
    assert await picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") == 1


def wait_until(is_true: Any) -> None:
    """Wait for a change on the disk, for at most 20 seconds."""
    import time

    end = time.monotonic() + 20
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.1)
