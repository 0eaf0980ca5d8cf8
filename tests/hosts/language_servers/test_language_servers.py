"""Language servers as they come: well-behaved in each way that is in use, misbehaved in each way we thought of."""

import asyncio
import json
import time

import pytest
from tests.hosts.test_processes import linux, runs

from halocline.ports.diagnostics import EditedText

pytestmark = pytest.mark.slow

WELL_BEHAVED = ["versioned", "unversioned", "pull", "stale"]
DEADLY = ["dies", "rubbish", "boasts", "floods"]


async def late(servers):
    async with asyncio.timeout(20):
        while not (found := servers.late()):
            await asyncio.sleep(0.01)
    return [(problem.line, problem.text) for problem in found]


@pytest.mark.parametrize("mode", WELL_BEHAVED)
async def test_only_what_an_edit_brought_in_is_told(site, mode):
    site.install(mode)
    servers = await site.warm(site.servers(), "BAD = 1\nx = 2\n")
    assert await site.edit(servers, "BAD = 1\nx = 2\n", "y = 0\nBAD = 1\nx = BAD\nODD = 3\n") == [(3, "x = BAD")]


@pytest.mark.parametrize("mode", WELL_BEHAVED)
async def test_what_an_edit_mended_is_not_told_and_may_come_again(site, mode):
    site.install(mode)
    servers = await site.warm(site.servers())
    assert await site.edit(servers, "", "BAD\n") == [(1, "BAD")]
    assert await site.edit(servers, "BAD\n", "good\n") == []
    assert await site.edit(servers, "good\n", "good\nBAD\n") == [(2, "BAD")]


async def test_a_server_that_says_nothing_when_nothing_is_different_is_understood(site):
    site.install("silent once known")
    servers = await site.warm(site.servers())
    assert await site.edit(servers, "", "fine\n") == []


async def test_a_cold_server_is_not_waited_for_and_its_answer_comes_late(site):
    site.install("versioned")
    servers = site.servers()
    began = time.monotonic()
    assert await site.edit(servers, "old\n", "BAD\n") == []
    assert time.monotonic() - began < 10
    assert await late(servers) == [(1, "BAD")]
    assert servers.late() == ()


async def test_an_edit_waits_no_longer_than_the_settings_say_and_the_rest_comes_late(site):
    site.install("late")
    servers = await site.warm(site.servers(wait=0.1))
    assert await site.edit(servers, "", "BAD\n") == []
    assert await late(servers) == [(1, "BAD")]


async def test_a_late_answer_that_is_no_longer_true_is_not_told(site):
    site.install("late")
    servers = await site.warm(site.servers(wait=0.1))
    assert await site.edit(servers, "", "BAD\n") == []
    assert await site.edit(servers, "BAD\n", "good\n") == []
    async with asyncio.timeout(20):
        while (await servers.current([])) is None or servers.is_busy:
            await asyncio.sleep(0.01)
    assert servers.late() == ()


@pytest.mark.parametrize("mode", DEADLY)
async def test_a_server_that_cannot_be_borne_is_given_up_and_started_at_most_twice_more(site, mode):
    site.install(mode)
    servers = site.servers()
    async with asyncio.timeout(300):
        while servers.knows(site.path("a.py")):
            await site.warm(servers)
            assert await site.edit(servers, "", "BAD\n") == []
    assert await site.edit(servers, "", "BAD\n") == []
    assert site.starts == 3
    assert not servers.knows(site.path("a.py"))


async def test_a_server_that_hangs_costs_an_edit_the_wait_and_no_more(site):
    site.install("hangs")
    servers = await site.warm(site.servers(wait=0.05))
    for _ in range(2):
        assert await site.edit(servers, "", "BAD\n") == []


async def test_a_server_that_hangs_is_killed_and_started_at_most_twice_more(site):
    site.install("hangs")
    servers = site.servers(patience=2.0)
    for _ in range(3):
        await site.warm(servers)
        pid = int((site.folder / "pid").read_text())
        assert await site.edit(servers, "", "BAD\n") == []
        async with asyncio.timeout(20):
            while runs(pid):
                await asyncio.sleep(0.01)
    assert site.starts == 3
    assert not servers.knows(site.path("a.py"))


async def test_a_server_that_never_gets_ready_is_never_waited_for(site):
    site.install("never ready")
    servers = site.servers()
    assert await site.edit(servers, "", "BAD\n") == []
    assert servers.late() == ()


async def test_files_of_one_patch_are_judged_together(site):
    site.install("versioned")
    servers = await site.warm(site.servers())
    moved = [
        EditedText(site.path("a.py"), "BAD one\n", "\n"),
        EditedText(site.path("b.py"), None, "BAD one\nBAD two\n"),
        EditedText(site.path("c.py"), "BAD three\n", None),
        EditedText(site.path("readme.md"), None, "BAD"),
    ]
    found = await servers.introduced(moved)
    assert [(problem.path.name, problem.line, problem.text) for problem in found] == [("b.py", 2, "BAD two")]


async def test_files_without_a_server_start_nothing(site):
    site.install("versioned")
    servers = site.servers()
    servers.expect(site.path("readme.md"))
    assert await site.edit(servers, "", "BAD", "readme.md") == []
    assert await site.edit(servers, "", "BAD", "../outside.py") == []
    assert not servers.knows(site.path("main.rs"))
    assert site.starts == 0


async def test_a_server_in_the_project_is_not_started_without_leave(site):
    site.install("versioned", site.workspace / ".venv" / "bin")
    assert not site.servers().knows(site.path("a.py"))
    assert site.servers(project_programs=True).knows(site.path("a.py"))


async def test_a_server_in_the_project_is_not_started_by_way_of_path_or_a_link_either(site):
    site.install("versioned", site.workspace / "bin")
    path = str(site.workspace / "bin")
    assert not site.servers(env={"PATH": path}).knows(site.path("a.py"))
    site.programs.mkdir()
    (site.programs / "pyright-langserver").symlink_to(site.workspace / "bin" / "pyright-langserver")
    assert not site.servers(env={"PATH": str(site.programs)}).knows(site.path("a.py"))


async def test_a_server_sees_no_keys_and_no_folder_of_the_project_on_its_path(site):
    site.install("versioned")
    env = {"PATH": f"{site.workspace}:{site.programs}:relative:/usr/bin:/bin", "SECRET_KEY": "sk-1"}
    await site.warm(site.servers(env=env, hidden=frozenset({"SECRET_KEY"})))
    seen = json.loads((site.folder / "environment").read_text())
    assert "SECRET_KEY" not in seen
    assert seen["PATH"] == f"{site.programs}:/usr/bin:/bin"


async def test_all_errors_of_what_was_read_are_there_when_asked_for(site):
    site.install("versioned")
    servers = await site.warm(site.servers(), "BAD\n")
    site.path("b.py").write_text("fine\nBAD too\nODD\n")
    found = await servers.current([site.path("b.py"), site.path("gone.py"), site.path("notes.md")])
    assert [(problem.path.name, problem.line) for problem in found] == [("b.py", 2), ("a.py", 1)]


@pytest.mark.parametrize("by", ["settings", "editor"])
async def test_a_file_is_read_in_its_declared_encoding(site, by):
    site.install("versioned")
    servers = await site.warm(site.servers(encodings={"*.py": "cp500"} if by == "settings" else {}))
    if by == "editor":
        site.path(".editorconfig").write_text("[*.py]\ncharset = cp500\n")
    site.path("b.py").write_bytes("BAD".encode("cp500"))
    found = await servers.current([site.path("b.py")])
    assert [(problem.path.name, problem.line) for problem in found] == [("b.py", 1)]


async def test_all_errors_include_those_of_a_file_that_was_read_just_now(site):
    site.install("versioned")
    servers = site.servers()
    site.path("b.py").write_text("BAD\n")
    servers.expect(site.path("b.py"))
    assert [(problem.path.name, problem.line) for problem in await servers.current([])] == [("b.py", 1)]


async def test_all_errors_are_those_on_disk_now(site):
    site.install("pull")
    servers = await site.warm(site.servers(), "BAD\n")
    site.path("a.py").write_text("mended\n")
    assert await servers.current([]) == ()


async def test_nobody_knows_of_errors_where_there_is_no_server(site):
    assert await site.servers().current([site.path("a.py")]) is None


async def test_files_that_git_says_were_changed_are_asked_about(site):
    site.install("versioned")
    site.path("sub").mkdir()
    site.path("sub/new.py").write_text("BAD\n")
    git = await asyncio.create_subprocess_exec("git", "init", "-q", cwd=site.workspace)
    await git.wait()
    found = await site.servers().current([])
    assert [problem.path for problem in found] == [site.path("sub/new.py")]


async def test_only_the_latest_files_are_kept_open(site):
    site.install("versioned")
    servers = await site.warm(site.servers())
    for first in range(0, 60, 10):  # an answer about a new file is waited for longer
        edits = [EditedText(site.path(f"m{first + number}.py"), None, "fine\n") for number in range(10)]
        assert await servers.introduced(edits) == ()
    assert site.heard().count("textDocument/didClose") == 11


@linux
async def test_a_server_ends_with_the_task(site):
    site.install("versioned")
    servers = await site.warm(site.servers())
    pid = int((site.folder / "pid").read_text())
    assert runs(pid)
    await servers.close()
    assert not runs(pid)
    assert not servers.knows(site.path("a.py"))


@linux
async def test_a_server_that_hangs_ends_with_the_task_as_well(site):
    site.install("hangs")
    servers = await site.warm(site.servers(wait=0.05))
    await site.edit(servers, "", "BAD\n")
    await servers.close()
    assert not runs(int((site.folder / "pid").read_text()))


async def test_an_edit_that_is_interrupted_leaves_the_answer_for_later(site):
    site.install("late")
    servers = await site.warm(site.servers())
    edit = asyncio.create_task(site.edit(servers, "", "BAD\n"))
    await asyncio.sleep(0.1)
    edit.cancel()
    await asyncio.wait([edit])
    assert await late(servers) == [(1, "BAD")]
