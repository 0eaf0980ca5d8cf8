"""What a task changed is committed from the page: the files that are chosen, by git, with its hooks."""

import re
import shutil
import subprocess

import pytest
from playwright.async_api import expect
from tests.hosts.chromium import needs_chromium
from tests.servers.model_server import Call, Fault, ModelServer, Turn

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def git(server, *words):
    return subprocess.run(["git", *words], cwd=server.halo.folder, check=True, capture_output=True, text=True).stdout


SEVEN = "------- SEARCH\n7\n=======\nseven\n+++++++ REPLACE\n"


async def test_files_of_a_task_are_chosen_and_committed_and_what_git_says_is_told(server, opened):
    git(server, "init", "--quiet", "-b", "main")
    git(server, "config", "user.name", "A")
    git(server, "config", "user.email", "a@example.org")
    for name in ("mine.txt", "staged.txt"):
        (server.halo.folder / name).write_text("mine\n")
    git(server, "add", "staged.txt")
    hook = server.halo.folder / ".git/hooks/commit-msg"
    hook.write_text("#!/bin/sh\ngrep -q Refs \"$1\" || { echo 'Name what it refers to.'; exit 1; }\n")
    hook.chmod(0o755)
    edit = {"tool": "write_to_file", "arguments": {"path": "a.txt", "content": "new\n"}}
    end = {"tool": "attempt_completion", "arguments": {"result": "The file is there.\n\nMore of it."}}
    server.settings(f'model = "{server.halo.script({"call": [edit]}, {"call": [end]})}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened(width=390)
    await screen.say("add a file. It is new")
    await screen.ended()
    await screen.page.locator(".turn-end").get_by_role("button", name="Commit…").press("Enter")
    sheet = screen.page.locator("dialog.sheet")
    message = sheet.get_by_label("Message")
    assert await message.input_value() == "Add a file. It is new\n\nThe file is there."
    assert await sheet.get_by_role("checkbox", checked=True).count() == 1
    await screen.sees("1 staged file not selected; it stays staged.", "dialog.sheet")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await message.press("Control+Enter")
    await screen.sees("Name what it refers to.", "dialog.sheet")
    assert git(server, "status", "--porcelain") == "A  staged.txt\n?? a.txt\n?? mine.txt\n"
    await message.fill("Add a file\n\nRefs 1")
    await message.press("Control+Enter")
    await screen.sees("1 file committed as", "dialog.sheet")
    await screen.page.keyboard.press("Enter")
    await sheet.wait_for(state="detached")
    assert git(server, "show", "--format=%s", "--name-only").split() == ["Add", "a", "file", "a.txt"]
    assert git(server, "status", "--porcelain") == "A  staged.txt\n?? mine.txt\n"


async def test_a_file_that_the_person_changed_before_the_task_or_since_is_said_to_be_theirs_too(server, opened):
    git(server, "init", "--quiet", "-b", "main")
    for name in ("before.txt", "task.txt", "since.txt", "mine.txt"):
        (server.halo.folder / name).write_text("1\n2\n3\n4\n5\n6\n7\n")
    git(server, "add", ".")
    git(server, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "One")
    (server.halo.folder / "before.txt").write_text("mine\n2\n3\n4\n5\n6\n7\n")
    edits = [
        {"tool": "replace_in_file", "arguments": {"path": name, "diff": SEVEN}}
        for name in ("before.txt", "task.txt", "since.txt")
    ]
    server.settings(f'model = "{server.halo.script({"call": edits}, {"text": "Done."})}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened(width=390, theme="dark")
    await screen.say("Edit them.")
    await screen.ended()
    for name in ("since.txt", "mine.txt"):
        text = (server.halo.folder / name).read_text()
        (server.halo.folder / name).write_text(text.replace("1\n", "mine\n"))
    await screen.page.locator(".turn-end").get_by_role("button", name="Commit…").press("Enter")
    await screen.page.locator(".commit-file").first.wait_for()
    files = screen.page.get_by_role("group", name="Changed by this task").locator(".commit-file")
    said = {
        (await one.locator(".commit-path").inner_text()): await one.locator(".badge").count()
        for one in await files.all()
    }
    assert said == {"before.txt": 1, "task.txt": 0, "since.txt": 1}
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()


async def test_the_model_writes_the_message_until_it_is_stopped_and_what_it_wrote_can_be_edited(server, opened):
    git(server, "init", "--quiet", "-b", "main")
    edit = {"tool": "write_to_file", "arguments": {"path": "a.txt", "content": "new text\n"}}
    texts = [Turn(text="Stop " * 400, pace=0.1), Turn(text="Add a text\n\nIt is new."), Turn(fault=Fault.AUTH)]
    async with ModelServer([Turn(calls=(Call(**edit),)), Turn(text="Done."), *texts]) as model:
        server.settings(f'model = "openai/x"\nbase_url = "{model.url("openai")}"\napproval_mode = "yolo"\n')
        server.halo.env["OPENAI_API_KEY"] = "k"
        await server.start()
        screen = await opened(width=390)
        await screen.say("add a file")
        await screen.ended()
        await screen.page.locator(".turn-end").get_by_role("button", name="Commit…").press("Enter")
        sheet = screen.page.locator("dialog.sheet")
        message = sheet.get_by_label("Message")
        write = sheet.get_by_role("button", name="Write it with the model")
        await write.click()
        await expect(message).to_have_value(re.compile("Stop Stop"))
        assert await sheet.get_by_role("button", name="Commit 1 file").is_disabled()
        await sheet.get_by_role("button", name="Stop writing").click()
        await write.wait_for()
        assert (await message.input_value()).startswith("Stop Stop")
        await write.click()
        await expect(message).to_have_value("Add a text\n\nIt is new.")
        await write.wait_for()
        assert await screen.barriers() == []
        assert not await screen.scrolls_sideways()
        await write.click()
        await screen.sees("key", "dialog.sheet [role=alert]")
        assert await message.input_value() == "Add a text\n\nIt is new."
        assert "+new text" in str(model.requests[-1].body)
    assert git(server, "status", "--porcelain") == "?? a.txt\n"


async def test_a_branch_is_pushed_after_its_commits_and_its_place_were_shown(server, opened, tmp_path):
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", remote], check=True)
    git(server, "init", "--quiet", "-b", "topic")
    git(server, "config", "user.name", "A")
    git(server, "config", "user.email", "a@example.org")
    git(server, "commit", "--quiet", "--allow-empty", "-m", "A first change")
    git(server, "remote", "add", "origin", str(remote))
    server.model({"text": "Done."})
    await server.start()
    screen = await opened(width=390)
    await screen.say("Look.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Changes:").click()
    await screen.page.get_by_role("button", name="Push…").click()
    sheet = screen.page.locator("dialog.sheet")
    await screen.sees("A first change", "dialog.sheet")
    await screen.sees(str(remote), "dialog.sheet")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    hook = server.halo.folder / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    await sheet.get_by_role("button", name="Push 1 commit").click()
    await screen.sees("The repository has changed meanwhile. Nothing was pushed.", "dialog.sheet")
    hook.unlink()
    await sheet.get_by_role("button", name="Push 1 commit").click()
    await screen.sees("Pushed: topic is at origin.", "dialog.sheet")
    assert git(server, "ls-remote", str(remote)).endswith("refs/heads/topic\n")


async def test_without_gh_the_page_says_what_a_pull_request_needs(server, opened, tmp_path):
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", remote], check=True)
    git(server, "init", "--quiet", "-b", "main")
    git(server, "config", "user.name", "A")
    git(server, "config", "user.email", "a@example.org")
    git(server, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    git(server, "push", "--quiet", str(remote), "main")
    git(server, "remote", "add", "origin", str(remote))
    git(server, "fetch", "--quiet", "origin")
    git(server, "checkout", "--quiet", "-b", "topic")
    git(server, "update-ref", "refs/remotes/origin/topic", "HEAD")
    git(server, "config", "remote.origin.url", "https://github.com/o/n.git")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git"))
    server.halo.env["PATH"] = str(programs)
    server.model({"text": "Done."})
    await server.start()
    screen = await opened(width=390)
    await screen.say("Look.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Changes:").click()
    await screen.page.get_by_role("button", name="Push…").click()
    await screen.sees("install GitHub's program gh", "dialog.sheet")
    link = screen.page.get_by_role("link", name="Open the form on GitHub")
    assert await link.get_attribute("href") == "https://github.com/o/n/compare/main...topic?expand=1"
    assert await screen.barriers() == []
