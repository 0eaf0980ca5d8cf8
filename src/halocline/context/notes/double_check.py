"""The note that asks the model to check its work before a turn ends."""

from halocline.protocol.messages import Note

_TEXT = (
    "Before you finish, check your work once more. Read the request again; look at what you changed, and test it if "
    "you can. Correct what is wrong or missing. Then give your final answer again, complete, also if nothing changed."
)


def ask_for_check() -> Note:
    """Build the note. The user did not write it."""
    return Note(_TEXT, "double_check")
