"""What the model is told with a prompt that comes long after the last turn, in this process or after a resume.

What changed on disk is said apart, by name (`task/updates/known_files.py`); jobs that ended, too (`jobs`).
"""

from halocline.protocol.messages import Note
from halocline.protocol.state.state import State

LONG = 600.0
"""Seconds without anything from which on a pause is worth words."""
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def note_pause(state: State, left_at: float, now: float) -> tuple[Note, ...]:
    """The note for the next prompt. `left_at` is when another process had the task last, until one is sent; then 0.

    Both are in Unix seconds. What is written down when a task is opened again does not count as work on it.
    """
    since = left_at or (state.last_end.at if state.last_end else now)
    seconds = now - since
    if not state.messages or state.turn is not None or seconds < LONG:
        return ()
    said = (
        f"This task rested for {_describe_pause(seconds)}. Branches, servers and other things may have changed since."
    )
    return (Note(said, source="pause"),)


def taken_up_after(seconds: float) -> Note:
    """The note on a process that died while a person was asked, so many seconds before another went on."""
    after = f"{_describe_pause(seconds)} later" if seconds >= _UNITS[-1][0] else "at once"
    said = f"Meanwhile Halocline was stopped, and took this task up again {after}. Look again before you rely on more."
    return Note(said, source="pause")


def _describe_pause(seconds: float) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds >= size)
    count = int(seconds // size)
    return f"{count} {unit}{'s' if count > 1 else ''}"
