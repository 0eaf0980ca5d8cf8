"""No process that Halocline starts has a secret in its environment, whatever starts it: canaries, looked for in all."""

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.hosts.language_servers.conftest import Site

from halocline.hosts.documents.documents import ChildDocuments
from halocline.hosts.ripgrep import Ripgrep
from halocline.ports.documents import DocumentKind
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.secrets.keyring import SystemKeyring
from halocline.surfaces.cli.commands.memory import _edit_file
from halocline.surfaces.page_opener import open_page
from halocline.surfaces.terminal.composing.clipboard import read_image

SERVER = str(Path(__file__).parent.parent / "mcp" / "server.py")
YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)
DONE = Turn(text="done")
CANARY = "kanarienvogel-des-lotsen"
CANARIES = {
    "GH_TOKEN": CANARY,
    "AWS_SECRET_ACCESS_KEY": CANARY,
    "DATABASE_URL": f"postgres://me:{CANARY}@db.example.org/app",
    "HTTPS_PROXY": f"http://me:{CANARY}@127.0.0.1:9",
    "OPENAI_API_KEY": CANARY,
}
NOTES = "cat /proc/$$/environ >> '{seen}/{name}'; "
"""A program on the PATH that notes its own environment, as the kernel has it."""


@pytest.fixture
def seen(journey, tmp_path, monkeypatch):
    """The folder in which programs note their environments, by the name of the program."""
    folder, programs = tmp_path / "seen", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    for name in ("git", "rg", "xclip", "editor", "browser", "formatter"):
        real = shutil.which(name) if name in ("git", "rg") else None
        then = f'exec {real} "$@"' if real else "exit 1"
        (programs / name).write_text(f"#!/bin/sh\n{NOTES.format(seen=folder, name=name)}{then}\n")
        (programs / name).chmod(0o755)
    python = f"open({str(folder / 'python')!r}, 'ab').write(open('/proc/self/environ', 'rb').read())"
    (programs / "sitecustomize.py").write_text(python)
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(programs))
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("EDITOR", str(programs / "editor"))
    monkeypatch.setenv("BROWSER", str(programs / "browser"))
    journey.env = dict(os.environ) | {"HOME": str(tmp_path / "person")}
    return folder


def noted(seen: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in seen.iterdir()}


def assert_clean(seen: Path, *names: str) -> None:
    found = noted(seen)
    assert set(names) <= set(found)
    assert [name for name, environment in found.items() if CANARY.encode() in environment] == []


def note(seen: Path, name: str) -> str:
    return NOTES.format(seen=seen, name=name)


async def test_commands_jobs_and_the_keeper_above_them_have_no_canary(journey, seen):
    calls = (
        Call("execute_command", {"command": note(seen, "command")}, id="c1"),
        Call("execute_command", {"command": f"cat /proc/$PPID/environ > {seen}/keeper"}, id="c2"),
        Call("execute_command", {"command": f"{note(seen, 'job')} sleep 60", "background": True}, id="c3"),
        Call("execute_command", {"command": note(seen, "terminal"), "tty": True}, id="c4"),
        Call("execute_command", {"command": f'sh -c "{note(seen, "below").replace("$$", "self")}"'}, id="c5"),
    )
    await journey.run(*(Turn(calls=(call,)) for call in calls), DONE, options=YOLO)
    assert_clean(seen, "command", "keeper", "job", "terminal", "below", "git")


async def test_a_command_of_the_persons_own_has_no_canary_and_says_what_was_withheld(journey, seen):
    client = journey.client((DONE,))
    try:
        await journey.open(client, YOLO)
        client.send(cmd.RunCommand(task=journey.task, command=f"{note(seen, 'own')} echo $GH_TOKEN"))
        async for event in client.events(journey.task, 0):
            if isinstance(event, ev.OwnCommandEnded):
                break
    finally:
        await client.close()
    assert_clean(seen, "own")
    assert 'pass_environment = ["GH_TOKEN"]' in event.said


async def test_hooks_and_formatters_have_no_canary(journey, seen):
    folder = journey.workspace / ".clinerules/hooks"
    folder.mkdir(parents=True)
    (folder / "PreToolUse").write_text(f"#!/bin/bash\n{note(seen, 'hook')}\necho '{{}}'\n")
    (folder / "PreToolUse").chmod(0o755)
    write = Call("write_to_file", {"path": "a.py", "content": "x = 1\n"}, id="c1")
    await journey.run(Turn(calls=(write,)), DONE, options=YOLO, formatters={"*.py": "formatter {path}"})
    assert_clean(seen, "hook", "formatter")


async def test_a_language_server_has_no_canary(journey, seen, tmp_path):
    (tmp_path / "site").mkdir()
    site = Site(tmp_path / "site")
    site.install("versioned")
    program = site.programs / "pyright-langserver"
    program.write_text(program.read_text().replace("\n", f"\n{note(seen, 'language server')}\n", 1))
    servers = site.servers(env=CANARIES)
    await site.warm(servers, "x = 1\n")
    await servers.close()
    assert_clean(seen, "language server")


async def test_a_server_has_no_canary_but_what_is_declared_for_it(journey, seen):
    script = f"{note(seen, 'server')} exec {sys.executable} {SERVER}"
    entry = {"command": "/bin/sh", "args": ["-c", script], "env": {"MINE": "declared-${GH_TOKEN}"}}
    journey.home.mcp.write_text(json.dumps({"mcpServers": {"test": entry}}))
    await journey.run(Turn(calls=(Call("test__look", {}, id="c1"),)), DONE, options=YOLO)
    found = noted(seen)["server"].split(b"\0")
    assert f"MINE=declared-{CANARY}".encode() in found
    assert [pair for pair in found if CANARY.encode() in pair and not pair.startswith(b"MINE=")] == []
    assert b"HTTPS_PROXY=http://127.0.0.1:9" in found


async def test_searches_documents_and_what_surfaces_start_have_no_canary(journey, seen):
    journey.write("a.txt", "needle\n")
    await journey.run(Turn(calls=(Call("search_files", {"regex": "needle"}, id="c1"),)), DONE, options=YOLO)
    with pytest.raises(ToolFailure):
        await ChildDocuments().text(DocumentKind.PDF, b"no pdf")
    with pytest.raises(HaloclineError):
        await read_image()
    with pytest.raises(HaloclineError):
        _edit_file(journey.workspace / "notes.md", "")
    open_page("http://127.0.0.1:9/")
    with suppress(HaloclineError):  # it is an extra
        SystemKeyring("halocline-test", 30.0)._ask("get", "nothing")
    assert_clean(seen, "xclip", "editor", "browser", "python", "git")
    assert "rg" in noted(seen) or not Ripgrep().program.startswith(os.environ["PATH"].partition(":")[0])


async def test_what_a_person_passes_on_reaches_commands_and_hooks_and_nothing_else(journey, seen):
    folder = journey.workspace / ".clinerules/hooks"
    folder.mkdir(parents=True)
    (folder / "PreToolUse").write_text(f"#!/bin/bash\n{note(seen, 'hook')}\necho '{{}}'\n")
    (folder / "PreToolUse").chmod(0o755)
    journey.write(".halocline/settings.toml", 'pass_environment = ["*"]\n')
    journey.write("settings.toml", 'pass_environment = ["*"]\n')
    call = Call("execute_command", {"command": note(seen, "command")}, id="c1")
    await journey.run(Turn(calls=(call,)), DONE, options=YOLO, pass_environment=("GH_TOKEN", "OPENAI_*"))
    for name in ("hook", "command"):
        pairs = noted(seen)[name].split(b"\0")
        assert f"GH_TOKEN={CANARY}".encode() in pairs
        assert [pair for pair in pairs if CANARY.encode() in pair and not pair.startswith(b"GH_TOKEN=")] == []
    assert CANARY.encode() not in noted(seen)["git"]


async def test_a_command_that_is_not_signed_in_is_told_what_was_withheld(journey, seen):
    programs = Path(os.environ["PATH"].partition(":")[0])
    (programs / "gh").write_text("#!/bin/sh\necho 'please run: gh auth login'; exit 4\n")
    (programs / "gh").chmod(0o755)
    call = Call("execute_command", {"command": "gh pr list"}, id="c1")
    await journey.run(Turn(calls=(call,)), DONE, options=YOLO)
    assert 'pass_environment = ["GH_TOKEN"]' in journey.results[0]


@pytest.mark.parametrize("looks", [(), (Turn(calls=(Call("job", {"action": "read", "job": "job-1", "wait": 10}),)),)])
@pytest.mark.slow
async def test_a_job_that_is_not_signed_in_is_told_what_was_withheld_once(journey, seen, looks):
    programs = Path(os.environ["PATH"].partition(":")[0])
    (programs / "gh").write_text("#!/bin/sh\necho begins; sleep 3; echo 'please run: gh auth login'; exit 4\n")
    (programs / "gh").chmod(0o755)
    call = Call("execute_command", {"command": "gh pr list", "background": True}, id="c1")
    ends = Call("execute_command", {"command": "sleep 4"}, id="c2")
    await journey.run(Turn(calls=(call,)), *looks, Turn(calls=(ends,)), DONE, options=YOLO)
    told = [*journey.results, *(note.text for event in journey.of(ev.JobsReported) for note in event.content)]
    assert "".join(told).count('pass_environment = ["GH_TOKEN"]') == 1
