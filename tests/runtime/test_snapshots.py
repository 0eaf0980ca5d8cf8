import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from halocline.protocol.events import (
    CheckpointRestored,
    CheckpointTaken,
    DurableEvent,
    FileChanged,
    TurnEnded,
    TurnStarted,
)
from halocline.protocol.events.rewind import RootRestored
from halocline.protocol.messages import StopReason, Text
from halocline.runtime.history.snapshots import checkpoint_at, list_points, name_checkpoint

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


@given(st.lists(st.one_of(st.just("edit"), st.just("prompt"), st.integers(0, 9)), max_size=9))
def test_at_every_point_the_files_are_those_of_the_last_change_or_restore(steps: list[str | int]) -> None:
    """A number restores the checkpoint at that place of those that there are, made by edits or by restores."""
    events: list[DurableEvent] = [FIRST]
    known, now, then = ["first"], "first", ["first"]
    for step in steps:
        if step == "edit":
            events += [EDIT, CheckpointTaken(checkpoint=(now := f"edit {len(events)}"), label="Edit")]
            known.append(now)
        elif step == "prompt":
            events.append(TurnStarted(content=()))
        else:
            undo, now = now, known[int(step) % len(known)]
            events.append(CheckpointRestored(checkpoint=now, undo=undo))
        then += [""] * (len(events) - len(then) - 1) + [now]
    found = [checkpoint_at(numbered(*events), seq) for seq in range(1, len(events) + 1)]
    assert [one for one, wanted in zip(found, then, strict=True) if wanted] == [wanted for wanted in then if wanted]


def test_a_restore_of_another_folder_counts_there_alone() -> None:
    elsewhere = (RootRestored(root="/other", checkpoint="theirs", undo="u"),)
    events = numbered(FIRST, replace(SECOND, root="/other"), CheckpointRestored("first", "u", elsewhere=elsewhere))
    assert (checkpoint_at(events, 3), checkpoint_at(events, 3, "/other")) == ("first", "theirs")


def test_edits_that_were_undone_one_by_one_name_no_checkpoint() -> None:
    assert checkpoint_at(numbered(FIRST, CheckpointRestored("task@1", "task@2")), 2) == "first"


@pytest.mark.parametrize(
    ("label", "place"),
    [
        ("", "just before the first change"),
        ("Start", "just before the first change"),
        ("Found changed", "just after changes by you or another program"),
        ("Edit src/app.py", "just after the edit of src/app.py"),
        ("Create a b.txt", "just after the creation of a b.txt"),
        ("Edit a.py; Edit b.py", "just after “Edit a.py; Edit b.py”"),
        ("npm test", "just after “npm test”"),
        ("Before restoring 12", "just before restoring 12"),
        ("After restoring 12", "just after restoring 12"),
    ],
)
def test_a_checkpoint_is_named_as_the_place_that_a_rewind_leads_to(label: str, place: str) -> None:
    assert name_checkpoint(label) == place


@pytest.mark.parametrize("change", [EDIT, replace(SECOND, label="npm test"), None])
@pytest.mark.parametrize("is_late", [False, True])
def test_the_point_before_the_first_change_is_listed_unless_its_turn_changed_nothing(
    change: DurableEvent | None, is_late: bool
) -> None:
    both = [FIRST, *([change] if change else [])]
    turn, end = TurnStarted((Text("go"),)), TurnEnded(StopReason.END_TURN)
    events = numbered(turn, *(reversed(both) if is_late else both), end, turn, EDIT)
    places = [point.place for point in list_points(events)]
    assert ("just before the first change" in places) is (change is not None)
    assert places[0] == "before “go”"
