"""Rule files: the instructions that a task follows."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import Note, UserPart
from halocline.protocol.values import Value

SOURCE = "rules"
"""Source of the notes that carry rules to the model."""


class InstructionFile(Value, frozen=True):
    """One rule file that a task follows. `path` is its display path, `why` says why it applies.

    `of` is its owner: managed (an administrator), person or project. `digest` is the hash of its text.
    """

    path: str
    of: str
    why: str
    digest: str


class InstructionsLoaded(Durable, frozen=True):
    """The task now follows these rule files, and no longer those in `gone`.

    `content` tells the model: first one note for each of `files`. Without it, their texts are in the system prompt.
    """

    files: tuple[InstructionFile, ...]
    gone: tuple[str, ...] = ()
    content: tuple[UserPart, ...] = ()


class Beginning(Value, frozen=True):
    """Rules for a new task: the section of its system prompt, the event, and remarks for you."""

    section: str = ""
    event: InstructionsLoaded | None = None
    remarks: tuple[str, ...] = ()


class ActiveInstruction(Value, frozen=True):
    """A rule file in force. `text` is its text in the conversation; empty if it is in the system prompt."""

    file: InstructionFile
    text: str = ""


def in_force(before: tuple[ActiveInstruction, ...], event: InstructionsLoaded) -> tuple[ActiveInstruction, ...]:
    """Return the rule files in force after the event."""
    texts = [part.text for part in event.content if isinstance(part, Note)][: len(event.files)]
    texts += [""] * (len(event.files) - len(texts))
    told = {file.path: ActiveInstruction(file, text) for file, text in zip(event.files, texts, strict=True)}
    kept = (one for one in before if one.file.path not in told and one.file.path not in event.gone)
    return (*kept, *told.values())
