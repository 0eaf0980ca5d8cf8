import os
import time

from tests.surfaces.cli.halo_process import Halo, call

WRITES = {"call": [call("write_to_file", path="note.txt", content="after\n")]}
SLOW = {"call": [call("execute_command", command="sleep 1")]}


async def killed_while_it_wrote(halo: Halo) -> None:
    """A task of which the log ends within an edit, and what the edit left."""
    await halo.run("-y", "-p", "-m", halo.script(WRITES, {"text": "Hello."}), "write a note")
    log = halo.home / "tasks" / halo.tasks[0] / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if line.startswith(b'{"type":"tool_call_started"'))
    log.write_bytes(b"".join(lines[: end + 1]))
    (halo.folder / ".halo-0a1b2c3d4e5f.tmp").write_text("half")
    half = halo.home / "blobs" / "ab"
    half.mkdir(parents=True, exist_ok=True)
    (half / "0a1b2c.tmp").write_text("half")
    os.utime(half / "0a1b2c.tmp", (time.time() - 7200,) * 2)


async def test_another_task_removes_what_a_killed_one_left(halo: Halo) -> None:
    await killed_while_it_wrote(halo)
    done = await halo.run("-y", "-p", "-m", halo.script(SLOW, {"text": "Hello."}), "wait")
    assert done.code == 0, done.err
    assert [*halo.folder.glob(".halo-*"), *halo.home.glob("blobs/??/*.tmp")] == []


async def test_the_doctor_lists_what_a_killed_task_left_and_removes_it_when_asked(halo: Halo) -> None:
    await killed_while_it_wrote(halo)
    found = " ".join((await halo.run("doctor")).out.split())
    assert "– leftovers 2 from killed processes:" in found
    assert ".halo-0a1b2c3d4e5f.tmp" in found
    assert len([*halo.folder.glob(".halo-*"), *halo.home.glob("blobs/??/*.tmp")]) == 2
    assert "✓ leftovers removed 2 from killed processes" in " ".join((await halo.run("doctor", "--fix")).out.split())
    assert [*halo.folder.glob(".halo-*"), *halo.home.glob("blobs/??/*.tmp")] == []
    assert "✓ leftovers none" in " ".join((await halo.run("doctor")).out.split())
