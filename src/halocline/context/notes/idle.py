"""Notes on a long pause: a prompt that comes long after the last turn, in this process or after a resume.

Files that changed are reported separately, by name (`task/updates/known_files.py`), and so are jobs that ended.
"""

from halocline.protocol.messages import Note
from halocline.protocol.state.state import State

LONG = 600.0
"""Minimum pause in seconds that gets a note."""
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def note_pause(state: State, left_at: float, now: float) -> tuple[Note, ...]:
    """Build the note for the next prompt. Both times are in Unix seconds.

    `left_at` is when another process last had the task; 0 once a prompt was sent here. Opening a task again does not
    count as work on it.
    """
    since = left_at or (state.last_end.at if state.last_end else now)
    seconds = now - since
    if not state.messages or state.turn is not None or seconds < LONG:
        return ()
    text = f"This task was idle for {_describe_pause(seconds)}. Branches, servers and other things may have changed."
    return (Note(text, source="pause"),)


def taken_up_after(seconds: float) -> Note:
    """Build the note on a process that died while it waited for an answer, `seconds` before another resumed."""
    after = f"{_describe_pause(seconds)} later" if seconds >= _UNITS[-1][0] else "immediately"
    text = f"Halocline stopped in the meantime and resumed this task {after}. Check the current state before you act."
    return Note(text, source="pause")


def _describe_pause(seconds: float) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds >= size)
    count = int(seconds // size)
    return f"{count} {unit}{'s' if count > 1 else ''}"
