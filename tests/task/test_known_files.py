import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from halocline.files.target import MayWrite
from halocline.hosts.files.local import LocalFiles
from halocline.ports.blobs import blob_reference
from halocline.ports.host import Mark, Scope
from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.state.file_knowledge import KnownFile
from halocline.protocol.state.files import FilesState
from halocline.protocol.state.state import State
from halocline.task.updates.known_files import IN_TURNS, NEWEST, KnownFiles

LONG_AGO = (1_000_000_000, 1_000_000_000)


class Counting(LocalFiles):
    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def only(self, may_write: MayWrite, scope: Scope | None = None) -> "Counting":
        self._scope = scope
        return self

    async def read(self, path: Path, limit: int) -> bytes:
        self.reads.append(path.name)
        return await super().read(path, limit)


def known(folder: Path, **contents: str | None) -> State:
    """A state that knows files in the folder by these contents; `a_txt` stands for `a.txt`."""
    files = {
        name.replace("_", "."): KnownFile(None if text is None else blob_reference(text.encode()))
        for name, text in contents.items()
    }
    return State(workspace=str(folder), files=FilesState(known=files))


def aged(path: Path, text: str) -> Path:
    path.write_text(text)
    os.utime(path, LONG_AGO)
    return path


SOON, LATER = 10_000_000, 3_000_000_000
"""Nanoseconds within the tick of a file's clock, and long after it."""


async def test_what_looks_the_same_is_hashed_once_and_again_once_its_clock_has_ticked(tmp_path):
    files = Counting()
    now = [0]
    looks = KnownFiles(files, clock=lambda: now[0])
    state = known(tmp_path, a_txt="one")
    (tmp_path / "a.txt").write_text("one")
    altered = (tmp_path / "a.txt").stat().st_ctime_ns
    for moment, reads in ((SOON, 1), (2 * SOON, 1), (LATER, 2), (2 * LATER, 2)):
        now[0] = altered + moment
        await looks.changed(state)
        assert files.reads == ["a.txt"] * reads


async def test_around_a_command_a_file_that_looks_the_same_is_hashed_until_its_clock_has_ticked(tmp_path):
    files = Counting()
    state = known(tmp_path, a_txt="one")
    (tmp_path / "a.txt").write_text("one")
    altered = (tmp_path / "a.txt").stat().st_ctime_ns
    looks = KnownFiles(files, clock=lambda: altered + SOON)
    await looks.changed(state)
    await looks.differing(state)
    await looks.differing(state)
    assert files.reads == ["a.txt"] * 3


async def test_a_change_in_the_same_tick_is_found_once_the_clock_has_ticked(tmp_path):
    class Unchanged(Counting):
        async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
            return [Mark(modified=1_012_345_678, size=3, inode=1, altered=1_012_345_678)]

    now = [1_012_345_678 + SOON]
    looks = KnownFiles(Unchanged(), clock=lambda: now[0])
    state = known(tmp_path, a_txt="one")
    (tmp_path / "a.txt").write_text("one")
    assert await looks.changed(state) == []
    (tmp_path / "a.txt").write_text("two")
    assert await looks.changed(state) == []
    now[0] += LATER
    assert [one.path for one in await looks.changed(state)] == ["a.txt"]


@pytest.mark.parametrize(("altered", "reads"), [(1_500_000_000, 2), (1_512_345_678, 1)])
async def test_a_change_that_is_dated_finely_is_believed_sooner(tmp_path, altered, reads):
    class Dated(Counting):
        async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
            return [Mark(modified=1_012_345_678, size=3, inode=1, altered=altered)]

    files = Dated()
    looks = KnownFiles(files, clock=lambda: altered + 200_000_000)
    (tmp_path / "a.txt").write_text("one")
    for _ in range(2):
        await looks.changed(known(tmp_path, a_txt="one"))
    assert len(files.reads) == reads


async def test_a_folder_or_nothing_in_the_place_of_a_file_is_a_file_that_is_gone(tmp_path):
    (tmp_path / "a.txt").mkdir()
    looks = KnownFiles(LocalFiles())
    found = await looks.changed(known(tmp_path, a_txt="one", b_txt="two", c_txt=None))
    assert found == [ChangedFile("a.txt", None), ChangedFile("b.txt", None)]


async def test_a_file_that_cannot_be_read_is_not_called_changed(tmp_path):
    class Closed(Counting):
        async def read(self, path: Path, limit: int) -> bytes:
            raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "a.txt").write_text("two")
    assert await KnownFiles(Closed()).changed(known(tmp_path, a_txt="one")) == []


async def test_a_file_outside_the_workspace_is_known_by_its_whole_path(tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    other = tmp_path / "other.txt"
    other.write_text("two")
    state = State(workspace=str(place), files=FilesState(known={str(other): KnownFile(blob_reference(b"one"))}))
    assert await KnownFiles(LocalFiles()).changed(state) == [ChangedFile(str(other), blob_reference(b"two"))]


def many(folder: Path) -> State:
    names = [f"f{number}.txt" for number in range(4 * (NEWEST + IN_TURNS))]
    for name in names:
        aged(folder / name, "one")
    return State(
        workspace=str(folder), files=FilesState(known={name: KnownFile(blob_reference(b"one")) for name in names})
    )


async def test_of_very_many_files_those_that_a_command_changed_and_the_newest_are_told_of_at_once(tmp_path):
    looks, state = KnownFiles(LocalFiles()), many(tmp_path)
    by_command, newest = next(iter(state.files.known)), list(state.files.known)[-1]
    before = await looks.differing(state)
    (tmp_path / by_command).write_text("two")
    looks.ran("make", before, await looks.differing(state))
    await looks.changed(state)  # it is not the turn of the first ones any more
    (tmp_path / newest).write_text("two")
    (tmp_path / by_command).write_text("three")
    looks.ran("make", before, {by_command: blob_reference(b"three")})
    assert {(file.path, file.by) for file in await looks.changed(state)} == {(by_command, "make"), (newest, "")}


async def test_of_very_many_files_each_is_looked_at_in_its_turn_and_all_once_a_person_speaks(tmp_path):
    looks, state = KnownFiles(LocalFiles()), many(tmp_path)
    for place in (0, 5 * NEWEST):
        (tmp_path / list(state.files.known)[place]).write_text("two")
    told = [await looks.changed(state) for _ in range((len(state.files.known) - NEWEST) // IN_TURNS)]
    assert sorted(file.path for files in told for file in files) == ["f0.txt", f"f{5 * NEWEST}.txt"]
    assert len(await looks.changed(replace(state, pending=replace(state.pending, unheard=("Go on.",))))) == 2
