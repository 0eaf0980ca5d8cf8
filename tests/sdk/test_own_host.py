"""A host of the program's own: its files and commands in place of this machine's, behind the same gate."""

import asyncio
from pathlib import Path

import pytest

import halocline
from halocline.hosts.own.files import OwnFiles
from halocline.hosts.own.search import OwnSearch
from halocline.hosts.own.shell import OwnShell
from halocline.hosts.shell.output import Spool
from halocline.ports.host import SearchQuery, ShellCommand
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


async def test_a_hostile_expression_holds_no_process(scripted, workspace):
    files = store(workspace, **{"a.txt": "a" * 60 + "!\nneedle 1\nneedle 2\n"})
    searches = [("(a+)+$", "no match"), (r"(?=n)eedle", "look-around"), (r"needle \d\nneedle", "2: needle 1")]
    turns = [Turn(calls=(Call("search_files", {"regex": regex}),)) for regex, _ in searches]
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    beating = asyncio.create_task(beat())
    options = {"model": scripted(*turns, "done"), "host": halocline.Host(files=files)}
    done = await halocline.run("go", folder=workspace, **options)
    beating.cancel()
    for call, (_, said) in zip(calls_of(done), searches, strict=True):
        assert said in call.text, call.text
    assert beats


async def test_a_search_in_more_files_than_are_copied_at_once_finds_all_and_ends_at_its_limit(workspace):
    kept = store(workspace, **{f"{at}.txt": "needle\nother\n" for at in range(9)})
    searcher = OwnSearch(OwnFiles(kept), at_once=30)
    found = await searcher.search(SearchQuery(str(workspace), "needle", context=0))
    assert [(one.path, one.line) for one in found.matches] == [(f"{workspace}/{at}.txt", 1) for at in range(9)]
    few = await searcher.search(SearchQuery(str(workspace), "needle", context=0, limit=4))
    assert (len(few.matches), few.cut) == (4, True)
    one = await OwnSearch(OwnFiles(kept), at_once=3).search(SearchQuery(str(workspace), "needle", context=0, limit=1))
    assert (len(one.matches), one.cut) == (1, True)


class Talker:
    """A shell that prints what it is told to, in the way it is told to."""

    def __init__(self, work):
        self.work = work

    async def run(self, command, folder, on_output):
        return await self.work(on_output)


async def print_a_lot(on_output):
    for _ in range(1_000):
        on_output("x" * 999 + "\n")
    return halocline.CommandResult(0, "")


async def return_a_lot(on_output):
    return halocline.CommandResult(0, "x" * 1_000_000)


async def print_from_a_thread(on_output):
    await asyncio.to_thread(on_output, "from a thread\n")
    return halocline.CommandResult(3, "")


async def print_bytes(on_output):
    return halocline.CommandResult(0, "a\0b")


async def return_nothing(on_output):
    return None


async def return_other_types(on_output):
    return halocline.CommandResult("0", b"bytes")


async def print_after_the_end(on_output):
    asyncio.get_running_loop().call_later(0.05, on_output, "late\n")
    return halocline.CommandResult(0, "early\n")


async def refuse_to_end(on_output):
    for _ in range(2):
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            on_output("not yet\n")


WAYS = [
    (print_a_lot, "the middle of 1,000,000 bytes"),
    (return_a_lot, "the middle of 1,000,000 bytes"),
    (print_from_a_thread, "from a thread\n[exit code 3"),
    (print_bytes, "[binary output, 3 bytes"),
    (return_nothing, "The command was not run: AttributeError"),
    (return_other_types, "The command was not run: ValidationError"),
    (print_after_the_end, "early\n[exit code 0"),
]


@pytest.mark.slow
async def test_what_a_command_of_the_program_prints_is_bounded_whatever_it_does(scripted, workspace):
    for work, said in WAYS:
        model = scripted(Turn(calls=(Call("execute_command", {"command": "make", "timeout": 1}),)), "done")
        options = {"host": halocline.Host(shell=Talker(work)), "approval_mode": "yolo"}
        done = await halocline.run("go", folder=workspace, model=model, **options)
        (call,) = calls_of(done)
        assert said in call.text, (work.__name__, call.text[:300])
        assert len(call.text) < 60_000, work.__name__


async def test_a_command_that_refuses_to_end_is_left_behind(workspace):
    shell = OwnShell(Talker(refuse_to_end), lambda: Spool(workspace, 0), grace=0.1)
    done = await shell.run(ShellCommand("make", str(workspace), timeout=0.1), lambda text: None)
    assert (done.exit_code, done.output) == (None, "not yet\n")
