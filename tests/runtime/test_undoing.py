import asyncio
from pathlib import Path

import pytest
from hypothesis import given, strategies as some
from msgspec.structs import replace

from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileChangedOutside
from halocline.protocol.events import DurableEvent, FileChanged, ToolCallStarted
from halocline.protocol.kinds import ToolKind
from halocline.runtime.history.undoing import Cause, FileUndo, planned_writes, undo_plan
from halocline.store.blobs import DiskBlobs


def log(*events: DurableEvent) -> list[DurableEvent]:
    return [replace(event, seq=number) for number, event in enumerate(events, 1)]


def edit(path: str, before: str | None, after: str | None, call: str = "c1") -> FileChanged:
    return FileChanged(path=path, before=before, after=after, cause=call)


def test_edits_of_one_file_are_undone_together_and_say_what_made_them() -> None:
    started = ToolCallStarted(call="c1", name="replace_in_file", title="a", kind=ToolKind.EDIT)
    past = log(started, edit("a", "A", "B"), edit("a", "B", "C", "c2"))
    causes = (Cause("c1", "replace_in_file", 2), Cause("c2", "", 3))
    assert undo_plan(past) == (FileUndo("a", "C", "A", causes),)


def test_only_what_came_after_is_undone() -> None:
    past = log(edit("a", "A", "B"), edit("b", None, "X"), edit("a", "B", "C"))
    assert [(one.path, one.found, one.wanted) for one in undo_plan(past, after=1)] == [
        ("b", "X", None),
        ("a", "C", "B"),
    ]


def test_an_edit_that_was_taken_back_already_needs_no_undoing() -> None:
    assert undo_plan(log(edit("a", "A", "B"), edit("a", "B", "A"))) == ()


def test_what_somebody_else_wrote_between_two_edits_is_pointed_out() -> None:
    (one,) = undo_plan(log(edit("a", "A", "B"), edit("a", "theirs", "C")))
    assert one.is_mixed
    assert (one.found, one.wanted) == ("C", "A")


def test_one_call_is_undone_with_what_it_cannot_be_undone_without() -> None:
    past = log(edit("a", "A", "B", "c1"), edit("b", "1", "2", "c1"), edit("a", "B", "C", "c2"))
    last, first = undo_plan(past, calls={"c2"}), undo_plan(past, calls={"c1"})
    assert [(one.path, one.wanted, one.is_mixed) for one in last] == [("a", "B", False)]
    assert [(one.path, one.wanted, one.is_mixed) for one in first] == [("a", "A", True), ("b", "1", False)]


@given(some.lists(some.tuples(some.sampled_from("abc"), some.none() | some.binary(max_size=3)), max_size=12))
def test_any_edits_are_undone_to_the_byte(tmp_path_factory: pytest.TempPathFactory, edits) -> None:
    folder = tmp_path_factory.mktemp("work")
    blobs = DiskBlobs(folder.parent / f"{folder.name}-blobs")
    held: dict[str, bytes | None] = {"a": b"first"}
    (folder / "a").write_bytes(b"first")
    past = []
    for path, data in edits:
        past.append(edit(path, _kept(blobs, held.get(path)), _kept(blobs, data)))
        held[path] = data
        (folder / path).unlink(missing_ok=True)
        if data is not None:
            (folder / path).write_bytes(data)
    asyncio.run(LocalFiles().write_all(planned_writes(undo_plan(log(*past)), folder, blobs)))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a": b"first"}


def _kept(blobs: DiskBlobs, data: bytes | None) -> str | None:
    return None if data is None else blobs.put(data)


def test_a_file_that_is_not_as_the_edit_left_it_stops_the_undoing_of_all(tmp_path: Path) -> None:
    blobs = DiskBlobs(tmp_path / "blobs")
    past = log(
        edit("a", _kept(blobs, b"a0"), _kept(blobs, b"a1")),
        edit("b", _kept(blobs, b"b0"), _kept(blobs, b"b1")),
    )
    (tmp_path / "a").write_bytes(b"a1")
    (tmp_path / "b").write_bytes(b"the person's")
    with pytest.raises(FileChangedOutside):
        asyncio.run(LocalFiles().write_all(planned_writes(undo_plan(past), tmp_path, blobs)))
    assert (tmp_path / "a").read_bytes() == b"a1"
