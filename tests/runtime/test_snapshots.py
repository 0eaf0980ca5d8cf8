from msgspec.structs import replace

from halocline.protocol.events import CheckpointTaken, DurableEvent, FileChanged
from halocline.runtime.history.snapshots import checkpoint_at

EDIT = FileChanged(path="a.txt", before=None, after=None, cause="edit_file")
FIRST, SECOND = CheckpointTaken(checkpoint="first", label="Start"), CheckpointTaken(checkpoint="second", label="later")


def numbered(*events: DurableEvent) -> list[DurableEvent]:
    return [replace(event, seq=seq) for seq, event in enumerate(events, 1)]


def test_the_first_checkpoint_shows_the_files_before_any_change_however_late_it_was_ready() -> None:
    assert checkpoint_at(numbered(EDIT, EDIT, FIRST), 1) == "first"


def test_a_late_checkpoint_does_not_show_the_files_before_the_changes_that_are_in_it() -> None:
    events = numbered(EDIT, EDIT, replace(FIRST, is_late=True))
    assert [checkpoint_at(events, seq) for seq in (1, 2, 3)] == ["", "first", "first"]


def test_between_two_changes_that_only_a_late_checkpoint_saved_the_files_were_not_saved() -> None:
    events = numbered(FIRST, EDIT, EDIT, replace(SECOND, is_late=True))
    assert [checkpoint_at(events, seq) for seq in (1, 2, 3, 4)] == ["first", "", "second", "second"]
