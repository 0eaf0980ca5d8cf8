"""The note on a task's folder that another one took the place of while the task was open."""

from halocline.protocol.messages import Note

SOURCE = "environment"
REPLACED = (
    "The folder {folder} is not the one that this task worked in: that one was moved or deleted, and this one took its "
    "place. What you read and changed before need not be in it. Look again before you edit anything, and tell the user "
    "if what the task needs is missing."
)
TOLD = (
    "{folder} is another folder than before: that one was moved or deleted. The task continues in the new one. If it "
    "was moved, you can also resume task {task} where it is now."
)


def note_replaced(folder: str) -> Note:
    return Note(REPLACED.format(folder=folder), SOURCE)
