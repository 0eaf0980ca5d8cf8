import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.swapping import swapping

from halocline.hosts.files.local import LocalFiles
from halocline.policy.paths import Classifier, Judged
from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import Place

SWAPS = int(os.environ.get("SWAPS", "100000"))
"""How often a path is swapped while edits run; a million takes half a minute."""

SWAPPER = """
import ctypes, os, sys
name, outside, swaps = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.symlink(outside, name + ".link")
change = ctypes.CDLL(None).renameat2
for _ in range(swaps):
    if change(-100, name.encode(), -100, (name + ".link").encode(), 2):  # both names change places at once
        sys.exit("it cannot be swapped")
"""


class Ground:
    """A project with a folder and a file, and the same names outside of it."""

    def __init__(self, folder: Path) -> None:
        self.project, self.outside, self.own = folder / "project", folder / "outside", folder / "own"
        for place in (self.project / "sub", self.outside):
            place.mkdir(parents=True)
            (place / "a").write_bytes(b"0")
        self.files = LocalFiles(folder / "journals")
        self.before = self.held()

    def held(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() if path.is_file() else b"" for path in self.outside.iterdir()}

    def judged(self, name: str) -> LocalFiles | None:
        """What a call may write whose path was just judged; None when that is outside."""
        try:
            found = Classifier(self.project, self.own).resolve(name)
        except ToolFailure:
            return None
        return self.files.only(Judged((found.path,), self.own)) if found.place is Place.PROJECT else None

    async def edit(self, number: int) -> int:
        """One edit of each kind; how many were made."""
        new, old = f"sub/new{number}", "sub/a"
        kinds = [
            (new, lambda files, path: files.write(path, b"x", None)),
            (new + "b", lambda files, path: files.write_all([FileWrite(path, b"x", None)])),
            (f"sub/deep{number}/x", lambda files, path: files.write(path, b"x", None)),
            (old, lambda files, path: files.write(path, b"0", b"0")),
            (
                old,
                lambda files, path: files.write_all(
                    [
                        FileWrite(path, b"1", b"0"),
                    ]
                ),
            ),
            (old, lambda files, path: files.write_all([FileWrite(path, b"0", b"1")])),
        ]
        done = 0
        for name, write in kinds:
            if files := self.judged(name):
                with suppress(OSError, FileChangedOutside):
                    await write(files, self.project / name)
                    done += 1
        return done


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names change places in one step on Linux")
@pytest.mark.parametrize("swapped", ["sub", "sub/a"])
async def test_whoever_swaps_a_path_for_a_link_leads_no_edit_outside(tmp_path: Path, swapped: str):
    ground = Ground(tmp_path)
    outside = ground.outside if swapped == "sub" else ground.outside / "a"
    words = [sys.executable, "-c", SWAPPER, str(ground.project / swapped), str(outside), str(SWAPS)]
    swapper = subprocess.Popen(words)
    done = tries = 0
    try:
        while swapper.poll() is None:
            done += await ground.edit(tries)
            tries += 1
    finally:
        swapper.kill()
        swapper.wait()
    assert swapper.returncode == 0
    assert done
    assert ground.held() == ground.before


async def test_what_leads_elsewhere_than_when_it_was_judged_is_not_written(tmp_path: Path):
    ground = Ground(tmp_path)
    files = ground.judged("sub/new")
    (ground.project / "sub").rename(ground.project / "aside")
    (ground.project / "sub").symlink_to(ground.outside)
    for write in (
        files.write(ground.project / "sub/new", b"x", None),
        files.write_all([FileWrite(ground.project / "sub/new", b"x", None)]),
        files.write_all([FileWrite(ground.project / "sub/a", None, b"0")]),
    ):
        with pytest.raises(OSError, match="leads elsewhere"):
            await write
    assert ground.held() == ground.before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names change places in one step on Linux")
def test_what_is_declared_for_a_path_that_changes_is_asked_without_an_error(tmp_path: Path):
    ground = Ground(tmp_path)
    (ground.project / "sub.link").symlink_to(ground.outside)
    with swapping(ground.project / "sub", ground.project / "sub.link"):
        assert {ground.files.declared_encoding(ground.project / "sub" / "a") for _ in range(SWAPS // 10)} == {""}
