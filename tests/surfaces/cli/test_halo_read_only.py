import shutil

import pytest
from tests.surfaces.cli.halo_process import Done, Halo, call, ended

from halocline.runtime.read_only_home import READING
from halocline.surfaces.cli.command_table import COMMANDS

pytestmark = pytest.mark.skipif(shutil.which("unshare") is None, reason="a read-only mount needs unshare")

MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
FULL = (
    'cp -a "$0" "$0.copy" && mount -t tmpfs -o size=1m none "$0" && cp -a "$0.copy/." "$0"; '
    'dd if=/dev/zero of="$0/filling" bs=4k 2>/dev/null; exec "$@"'
)
ALMOST_FULL = FULL.replace("exec", 'truncate -s -4k "$0/filling"; exec')
WORDS = {
    "attach": "TASK",
    "checkpoints": "list",
    "export": "TASK",
    "fork": "TASK",
    "hooks": "list",
    "import": "list",
    "login": "openai --with-key",
    "logout": "openai",
    "logs": "TASK",
    "mcp": "list",
    "memory": "show",
    "policy": "explain ls",
    "replay": "TASK",
    "rules": "list",
    "completion": "bash",
    "run": "-m scripted/x hello",
    "send": "TASK hello",
    "tasks": "list",
    "todos": "TASK",
    "trust": "list",
}
"""A form of each command."""
LOOKS = (
    "tasks show TASK",
    "tasks show TASK --cost",
    "tasks show TASK --points",
    "tasks show TASK --at 5",
    "tasks list --json --all",
    "tasks list --search note",
    "export TASK --format html",
    "export TASK --format jsonl",
    "storage --json",
    "checkpoints list",
    "checkpoints diff TASK/1",
    "checkpoints diff TASK/1 TASK/2 --stat",
    "checkpoints diff --since-start",
    "context TASK",
    "context TASK --cache",
    "policy audit TASK",
    "policy rules",
    "rules why note.txt",
)
CHANGES = (
    "tasks rename TASK x",
    "tasks delete TASK -y",
    "storage prune -y",
    "checkpoints restore TASK/1 -y",
    "doctor --fix",
    "trust add",
    "rules new x",
)
WRITES = (
    *CHANGES,
    "fork TASK",
    "tasks tag TASK x",
    "config set max_steps 3",
    "mcp add one -- true",
    "run -p -r TASK -m scripted/x more",
)


async def made(halo: Halo) -> str:
    script = halo.script({"call": [call("write_to_file", path="note.txt", content="after\n")]}, {"text": "Hello."})
    done = await halo.run("-y", "-p", "-m", script, "write a note")
    assert done.code == 0
    return halo.tasks[-1]


async def read_only(halo: Halo, words: str) -> Done:
    """Run a command where the home is mounted to be read only, as root of a namespace of its own."""
    process = await halo.start(*words.replace("TASK", halo.tasks[0]).split(), before=unshared(halo))
    return await ended(process)


def unshared(halo: Halo, prepared: str = MOUNTED) -> tuple[str, ...]:
    return ("unshare", "-rm", "sh", "-c", prepared, str(halo.home))


@pytest.fixture
async def task(halo: Halo) -> str:
    task = await made(halo)
    tried = await read_only(halo, "--version")
    if tried.code:
        pytest.skip(f"no namespaces here: {tried.err}")
    return task


async def test_each_command_reads_a_home_that_cannot_be_written_or_is_refused_in_words(halo: Halo, task: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in halo.home.rglob("*")}
    for command in COMMANDS:
        done = await read_only(halo, f"{command} {WORDS.get(command, '')}")
        assert "Traceback" not in done.err, command
        refused = f"Halocline's home {halo.home} is read-only." in done.err
        assert refused is (command not in READING), (command, done)
        assert done.code == (2 if refused else 0), (command, done)
    assert {path: path.stat().st_mtime_ns for path in halo.home.rglob("*")} == before


@pytest.mark.parametrize("words", LOOKS)
async def test_what_only_looks_says_the_same_where_nothing_can_be_written(halo: Halo, task: str, words: str) -> None:
    there = await read_only(halo, words)
    here = await halo.run(*words.replace("TASK", task).split())
    assert (there.code, there.err) == (0, "")
    assert there.out == here.out


@pytest.mark.parametrize("words", CHANGES)
async def test_what_changes_something_is_refused_before_anything_is_done(halo: Halo, task: str, words: str) -> None:
    done = await read_only(halo, words)
    assert done.code == 2
    assert f"Halocline's home {halo.home} is read-only." in done.err


@pytest.mark.parametrize("words", ["tasks list --all", "tasks show TASK", "export TASK", "storage", "context TASK"])
async def test_a_full_disk_can_be_read(halo: Halo, task: str, words: str) -> None:
    process = await halo.start(*words.replace("TASK", task).split(), before=unshared(halo, FULL))
    done = await ended(process)
    assert (done.code, done.err) == (0, "")
    assert "write a note" in done.out or "takes" in done.out


@pytest.mark.parametrize("words", WRITES)
async def test_what_writes_says_what_a_full_disk_did_not_take(halo: Halo, task: str, words: str) -> None:
    process = await halo.start(*words.replace("TASK", task).split(), before=unshared(halo, ALMOST_FULL))
    done = await ended(process)
    assert "Traceback" not in done.err
    assert "Cannot write the output" not in done.err
    assert done.code in (0, 2) or (done.code, "No space left on device" in done.err) == (1, True)
