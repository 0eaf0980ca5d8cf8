"""Nobody else gets at anything below Halocline's home, however it was made and whatever the umask is."""

import os
import stat
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, call, shell

HI = {"text": "Hello."}
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
