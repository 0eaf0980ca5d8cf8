"""Nobody else gets at anything below Halocline's home, however it was made and whatever the umask is."""

import asyncio
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, call, shell

HI = {"text": "Hello."}
SERVER = str(Path(__file__).parents[2] / "mcp" / "server.py")
LOOK = """#!{python}
# A hook that looks at every call what Halocline has in its home and among temporary files at that moment.
import os, stat, sys
sys.stdin.read()
for place in (os.environ["HALOCLINE_HOME"], os.environ["TMPDIR"]):
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            with open({seen!r}, "a") as seen:
                seen.write(f"{{stat.S_IMODE(mode):o}} {{int(stat.S_ISLNK(mode))}} {{path}}\\n")
"""
"""Between the listing and the look a file may go: then the hook fails, and says so in the log."""
WIDE = "a\n" * 60_000


def open_to_others(home: Path) -> list[str]:
    found = [home, *(Path(folder, name) for folder, folders, files in os.walk(home) for name in (*folders, *files))]
    return sorted(
        f"{path.relative_to(home)} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in found
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    )


async def whole_task(halo: Halo) -> None:
    (halo.folder / "a.txt").write_text("a\n")
    (halo.folder / "wide.txt").write_text(WIDE)
    todos = "- [x] one\n- [ ] two"
    model = halo.script(
        {"call": [call("update_todos", todos=todos), call("read_file", path="a.txt")]},
        {"call": [call("replace_in_file", path="a.txt", diff="------- SEARCH\na\n=======\nb\n+++++++ REPLACE")]},
        {"call": [call("write_to_file", path="new/b.txt", content="x\n"), shell("cat wide.txt; echo y > made")]},
        {"call": [shell("mkdir deep && echo z > deep/z"), call("remember", note="Run make check.")]},
        HI,
    )
    done = await halo.run("run", "-y", "-p", "-m", model, "--add-dir", str(halo.root / "other"), "say hello")
    assert done.code == 0, done.err
    assert (await halo.run("tasks", "list")).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o022], ids=["umask 000", "umask 022"])
@pytest.mark.parametrize("made", [True, False], ids=["made beforehand", "made by halo"])
async def test_a_whole_task_leaves_nothing_that_others_can_open(halo: Halo, umask: int, made: bool) -> None:
    (halo.root / "other").mkdir()
    before = os.umask(umask)
    try:
        if made:
            halo.home.mkdir(mode=0o755)
            (halo.home / "blobs").mkdir(mode=0o755)
        await whole_task(halo)
    finally:
        os.umask(before)
    assert {"blobs", "tasks", "checkpoints", "history.db"} <= {path.name for path in halo.home.iterdir()}
    assert open_to_others(halo.home) == []


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o022], ids=["umask 000", "umask 022"])
async def test_nobody_else_opens_what_servers_jobs_hooks_pages_and_the_web_leave_at_any_moment(
    halo: Halo, umask: int
) -> None:
    temporary, seen = halo.root / "temporary", halo.root / "seen"
    temporary.mkdir(mode=0o700)
    halo.env |= {"TMPDIR": str(temporary)}
    halo.home.mkdir(mode=0o700)
    entry = {"command": sys.executable, "args": [SERVER, "picture"]}
    (halo.home / "mcp.json").write_text(json.dumps({"mcpServers": {"test": entry}}))
    (halo.home / "mcp.json").chmod(0o600)
    (halo.home / "settings.toml").write_text("[mcp]\nwait = 20\n")
    (halo.home / "settings.toml").chmod(0o600)
    folder = halo.root / "Documents/Cline/Hooks"
    folder.mkdir(parents=True)
    for moment in ("PreToolUse", "PostToolUse"):
        (folder / moment).write_text(LOOK.format(python=sys.executable, seen=str(seen)))
        (folder / moment).chmod(0o755)
    (halo.folder / "a.txt").write_text("a\n")
    (halo.folder / "wide.txt").write_text(WIDE)
    server, address = await serve_page()
    model = halo.script(
        {"call": [call("test__echo", text="x"), call("web_fetch", url=address)]},
        {"call": [call("execute_command", command="cat wide.txt; sleep 60", background=True)]},
        {"call": [call("replace_in_file", path="a.txt", diff="------- SEARCH\na\n=======\nb\n+++++++ REPLACE")]},
        {"call": [call("search_files", regex="b"), shell("cat wide.txt wide.txt wide.txt")]},
        HI,
        HI,
        HI,
    )
    before = os.umask(umask)
    try:
        done = await halo.run("run", "-y", "-p", "-m", model, "say hello")
        assert done.code == 0, done.err
        web = await halo.start("web", "--no-open", "--port", "0")
        assert web.stdout is not None
        await web.stdout.readline()
        web.terminate()
        await web.wait()
    finally:
        os.umask(before)
        server.close()
    rows = [line.split(" ", 2) for line in seen.read_text().splitlines()]
    assert len({path for _, _, path in rows}) > 20
    assert {"mcp", "outputs", "blobs", "checkpoints"} <= {part for *_, path in rows for part in Path(path).parts}
    assert sorted({f"{mode} {path}" for mode, is_link, path in rows if is_link == "0" and int(mode, 8) & 0o077}) == []
    assert open_to_others(halo.home) == []
    assert open_to_others(temporary) == []


async def serve_page() -> tuple[asyncio.Server, str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b"<p>" + b"words " * 9_000
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
