import asyncio
import os
import time

import pytest

from halocline.hosts.files.local import LocalFiles
from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentStarted
from halocline.protocol.kinds import ApprovalMode, Location, Mode, ToolKind
from halocline.protocol.state.reducer import fold_events
from halocline.runtime.litter import OLD, STAMP, find_litter, sweep_home
from halocline.runtime.resume import list_cut_edits
from halocline.store.paths import Home
from halocline.task.log import Log
from halocline.task.log_reading import read_log

HALF = (
    ".settings.toml-0a1b2c.tmp",
    "catalogue.gz.17.new",
    "blobs/ab/0a1b2c.tmp",
    "checkpoints/w/index.new",
    "checkpoints/w/objects/ab/tmp_obj_0a1b2c",
    "checkpoints/w/objects/pack/tmp_pack_0a1b2c",
    "checkpoints/w/merge-0a1b2c/ours",
    "tasks/t1/events.jsonl.new",
    "tasks/t1/events.jsonl.tmp",
    "importing/t2-17/events.jsonl",
)
KEPT = ("settings.toml", "blobs/ab/" + "c" * 62, "checkpoints/w/objects/ab/" + "d" * 38, "tasks/t1/note.tmpl")


@pytest.fixture
def home(tmp_path):
    return Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})


def written(home, *names):
    for name in names:
        path = home.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")


def files(home):
    return {path.relative_to(home.root).as_posix() for path in home.root.rglob("*") if path.is_file()}


def edited(home, tmp_path, task="t1"):
    """A task that was killed while it wrote `src/a.py`, and what that left; its log is open."""
    log = Log(home.task(task), task)
    log.append(ev.TaskStarted(str(tmp_path), "m", Mode.ACT, ApprovalMode.YOLO, "", "1"))
    log.append(ev.TurnStarted(content=()))
    kind, place = ToolKind.EDIT, Location("src/a.py")
    log.append(ev.ToolCallStarted("c", "write_to_file", "Write", kind, locations=(place,)))
    (tmp_path / "src").mkdir(exist_ok=True)
    left = tmp_path / "src" / ".halo-0a1b2c3d4e5f.tmp"
    left.write_text("half")
    return log, left


def test_what_edits_of_agents_left_goes_with_the_task_that_they_died_with(home, tmp_path):
    parent, middle = Log(home.task("parent"), "parent"), Log(home.task("middle"), "middle")
    for log, child in ((parent, "middle"), (middle, "t1")):
        log.append(ev.TaskStarted(str(home.root), "m", Mode.ACT, ApprovalMode.YOLO, "", "1"))
        log.append(SubagentStarted("c", child, "alpha", "write", worktree="alpha"))
        log.close()
    log, left = edited(home, tmp_path)
    log.close()
    past = list(read_log(home.log("parent")))
    cut = list_cut_edits(home.tasks, past, home.root, fold_events(past).subagents.running)
    asyncio.run(LocalFiles(home.edits).mend(cut))
    assert (cut, left.exists()) == ([tmp_path / "src/a.py"], False)


@pytest.mark.parametrize("name", HALF)
def test_what_was_half_written_goes_when_it_is_old(home, name):
    written(home, name, *KEPT)
    sweep_home(home, time.time())
    assert files(home) == {name, *KEPT, STAMP}
    sweep_home(home, time.time() + OLD + 60)
    assert files(home) == {*KEPT, STAMP}


def test_nothing_of_a_task_that_is_open_goes(home, tmp_path):
    written(home, "tasks/t1/events.jsonl.new", "importing/t2-17/note")
    log, left = edited(home, tmp_path)
    importing = Log(home.importing / "t2-17", "t2")
    later = time.time() + OLD + 60
    assert sweep_home(home, later) == []
    log.close()
    importing.close()
    assert {path.name for path in sweep_home(home, later)} == {"events.jsonl.new", "t2-17", left.name}


def test_what_an_edit_left_in_the_workspace_goes_with_the_next_task_of_anybody(home, tmp_path):
    log, left = edited(home, tmp_path)
    log.close()
    mine = tmp_path / "src" / ".halo-notes"
    mine.write_text("a person's own")
    assert sweep_home(home, time.time() + 1) == [left]
    assert mine.exists()


def test_a_log_that_has_not_changed_since_is_not_read_again(home, tmp_path):
    log, left = edited(home, tmp_path)
    log.close()
    now = time.time() + 1
    sweep_home(home, now)
    left.write_text("half")
    assert sweep_home(home, now + 1) == []
    assert list(find_litter(home, now + 1)) == [left]


def test_a_task_that_was_open_at_the_last_sweep_is_looked_at_again(home, tmp_path):
    log, left = edited(home, tmp_path)
    assert sweep_home(home, time.time() + 1) == []
    log.close()
    assert sweep_home(home, time.time() + 2) == [left]


def test_a_damaged_log_stops_no_sweep(home, tmp_path):
    log, _ = edited(home, tmp_path)
    log.close()
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join([lines[0], *lines[2:]]))
    written(home, "blobs/ab/0a1b2c.tmp")
    assert [path.name for path in sweep_home(home, time.time() + OLD + 60)] == ["0a1b2c.tmp"]


def test_what_cannot_be_removed_stays(home):
    written(home, "blobs/ab/0a1b2c.tmp")
    os.chmod(home.root / "blobs/ab", 0o500)
    gone = sweep_home(home, time.time() + OLD + 60)
    assert [path.name for path in gone] == ([] if os.geteuid() else ["0a1b2c.tmp"])


def test_what_a_patch_still_needs_stays_until_it_was_put_right(home, tmp_path):
    log, left = edited(home, tmp_path)
    log.close()
    written(home, "edits/0a1b2c.journal")
    assert sweep_home(home, time.time() + 1) == []
    assert left.exists()
