"""The notes that ask the model to check its work before a turn ends."""

from collections.abc import Sequence

from halocline.protocol.messages import Note

_TEXT = (
    "Before you finish, check your work once more. Read the request again; look at what you changed, and test it if "
    "you can. Correct what is wrong or missing. Then give your final answer again, complete, also if nothing changed."
)

_FAILED = (
    "The task is not finished yet: {failed} failed. Read that result, mend what it names, and check again. If that is "
    "not possible, or you were asked to show a failure, call attempt_completion again and say plainly what failed."
)


def ask_to_mend(failed: Sequence[str]) -> Note:
    """Build the note on what failed last before the model reported that it was done."""
    return Note(_FAILED.format(failed=" and ".join(failed)), "double_check")


def ask_for_check() -> Note:
    """Build the note. The user did not write it."""
    return Note(_TEXT, "double_check")
