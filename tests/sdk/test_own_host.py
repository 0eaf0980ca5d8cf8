"""A host of the program's own: its files and commands in place of this machine's, behind the same gate."""

import asyncio
from pathlib import Path

import pytest

import halocline
from halocline.protocol.kinds import CallStatus
from halocline.testing import Call, Turn, calls_of, replay
from halocline.testing.memory_files import MemoryFiles

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-    return 2\n+    return 3\n*** End Patch\n"
CALLS = [
    ("read_file", {"path": "src/a.py"}, "return 1"),
    ("write_to_file", {"path": "new.txt", "content": "new\n"}, "new.txt"),
    ("replace_in_file", {"path": "src/a.py", "old_text": "return 1", "new_text": "return 2"}, "src/a.py"),
    ("apply_patch", {"input": PATCH}, "src/a.py"),
    ("search_files", {"regex": r"return \d", "file_pattern": "*.py"}, "return 3"),
    ("list_files", {"path": ".", "pattern": "**/*.py"}, "src/a.py"),
    ("list_files", {"path": "."}, "new.txt"),
    ("list_code_definition_names", {"path": "src"}, "one"),
]


class Recorded:
    """A shell that says what it was asked."""

    def __init__(self):
        self.commands = []

    async def run(self, command, folder, on_output):
        self.commands.append((command, folder.name))
        on_output("ran\n")
        if command == "hang":
            await asyncio.sleep(600)
        if command == "break":
            raise ConnectionError("no container")
        return halocline.CommandResult(0, "ran\n")


def store(workspace, **files):
    return MemoryFiles({workspace / name: text.encode() for name, text in files.items()})


async def test_every_tool_of_files_works_on_the_files_of_the_program(scripted, workspace):
    files = store(workspace, **{"src/a.py": "def one():\n    return 1\n", ".env": "KEY=1\n"})
    turns = [Turn(calls=(Call(name, given),)) for name, given, _ in CALLS]
    options = {"model": scripted(*turns, "done"), "host": halocline.Host(files=files), "approval_mode": "accept-edits"}
    async with halocline.open(folder=workspace, **options) as task:
        assert any("no checkpoints, no sandbox" in remark for remark in task.remarks)
        done = await task.run("go")
        with pytest.raises(halocline.UsageError, match="no checkpoints"):
            await task.restore()
    assert [
        (call.tool, call.status, said in call.text) for call, (_, _, said) in zip(calls_of(done), CALLS, strict=True)
    ] == [(name, CallStatus.COMPLETED, True) for name, _, _ in CALLS], [call.text for call in calls_of(done)]
    assert files.contents[workspace / "src/a.py"] == b"def one():\n    return 3\n"
    assert {change.path for change in done.changes} == {"new.txt", "src/a.py"}
    assert [*workspace.iterdir()] == []
    assert await replay(done.task) == ()


@pytest.mark.parametrize("tool", ["read_file", "write_to_file"])
@pytest.mark.parametrize("path", [".env", "/etc/hosts", "hidden.txt"])
async def test_the_gate_judges_the_files_of_a_program_too(scripted, workspace, tool, path):
    (workspace / ".haloclineignore").write_text("hidden.txt\n")
    files = store(workspace, **{".env": "KEY=1\n", "hidden.txt": "x"})
    before = dict(files.contents)
    given = {"path": path} if tool == "read_file" else {"path": path, "content": "x"}
    model = scripted(Turn(calls=(Call(tool, given),)), "done")
    options = {"host": halocline.Host(files=files), "approval_mode": "accept-edits"}
    done = await halocline.run("go", folder=workspace, model=model, **options)
    assert calls_of(done)[0].status in (CallStatus.REJECTED, CallStatus.FAILED)
    assert "KEY" not in calls_of(done)[0].text
    assert files.contents == before


@pytest.mark.parametrize(
    ("command", "ran", "said"),
    [
        ("make all", True, "ran"),
        ("rm -rf /", False, ""),
        ("hang", True, "timed out|stopped|time limit"),
        ("break", True, "ConnectionError: no container"),
    ],
)
async def test_commands_run_where_the_program_says_once_the_gate_allows_them(scripted, workspace, command, ran, said):
    shell = Recorded()
    model = scripted(Turn(calls=(Call("execute_command", {"command": command, "timeout": 1}),)), "done")
    options = {"host": halocline.Host(shell=shell), "approval_mode": "yolo"}
    done = await halocline.run("go", folder=workspace, model=model, **options)
    assert shell.commands == ([(command, "workspace")] if ran else [])
    assert any(one in calls_of(done)[0].text for one in said.split("|")), calls_of(done)[0].text
    assert await replay(done.task) == ()


async def test_a_tool_of_the_program_has_its_files_and_commands(scripted, workspace):
    files, shell = store(workspace, **{"a.txt": "old"}), Recorded()

    @halocline.tool
    async def work(path: Path, ctx: halocline.ToolContext) -> str:
        """Work."""
        await ctx.write_text(path, await ctx.read_text(path) + " and new")
        return (await ctx.run("make")).output

    model = scripted(Turn(calls=(Call("work", {"path": "a.txt"}),)), "done")
    options = {"host": halocline.Host(files, shell), "on_approval": lambda asked: True, "tools": [work]}
    done = await halocline.run("go", folder=workspace, model=model, **options)
    assert (calls_of(done)[0].text, files.contents[workspace / "a.txt"]) == ("ran\n", b"old and new"), calls_of(done)


async def test_no_command_of_such_a_host_runs_in_the_background(scripted, workspace):
    model = scripted(Turn(calls=(Call("execute_command", {"command": "make", "background": True}),)), "done")
    options = {"host": halocline.Host(shell=Recorded()), "approval_mode": "yolo"}
    done = await halocline.run("go", folder=workspace, model=model, **options)
    assert "none in the background" in calls_of(done)[0].text


async def test_a_search_in_files_of_a_program_finds_old_encodings_and_says_what_it_left_out(scripted, workspace):
    files = store(workspace, **{"a.txt": "needle\n", "large.txt": "needle\n" + "x" * 4_000_000})
    words = "Übergröße für schöne Möbel: Nadelöhr\n"
    files.contents |= {workspace / "old.txt": words.encode("cp1252"), workspace / "b.bin": b"needle\0"}
    searches = [Turn(calls=(Call("search_files", {"regex": regex}),)) for regex in ("needle", "Nadelöhr")]
    options = {"model": scripted(*searches, "done"), "host": halocline.Host(files=files)}
    done = await halocline.run("go", folder=workspace, **options)
    first, second = (call.text for call in calls_of(done))
    assert "a.txt" in first
    assert "too large" in first
    assert "not text" in first
    assert "old.txt" in second
