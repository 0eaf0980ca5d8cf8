"""Rules: the words for instructions that were found in files, and which of them a task follows."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.messages import Note, UserPart
from halocline.protocol.values import Value

SOURCE = "rules"
"""The source of the notes that give rules to the model."""


class InstructionFile(Value, frozen=True):
    """One file of rules that a task follows. `path` is as people and the model read it, `why` says why it holds.

    `of` says whose it is: managed (an administrator's), person or project. `digest` stands for its text.
    """

    path: str
    of: str
    why: str
    digest: str


class InstructionsLoaded(Durable, frozen=True):
    """These files of rules are followed from now on, those in `gone` no longer.

    `content` tells the model: first one note for each of `files`. Without it their texts stand in the system prompt.
    """

    files: tuple[InstructionFile, ...]
    gone: tuple[str, ...] = ()
    content: tuple[UserPart, ...] = ()


class Beginning(Value, frozen=True):
    """For a task that begins: words for its system prompt, the event, and what a person should hear."""

    section: str = ""
    event: InstructionsLoaded | None = None
    remarks: tuple[str, ...] = ()


class ActiveInstruction(Value, frozen=True):
    """A file in force. `text` is what the model was told of it in the conversation; empty: in the system prompt."""

    file: InstructionFile
    text: str = ""


def in_force(before: tuple[ActiveInstruction, ...], event: InstructionsLoaded) -> tuple[ActiveInstruction, ...]:
    """What is followed after files were loaded or went."""
    texts = [part.text for part in event.content if isinstance(part, Note)][: len(event.files)]
    texts += [""] * (len(event.files) - len(texts))
    told = {file.path: ActiveInstruction(file, text) for file, text in zip(event.files, texts, strict=True)}
    kept = (one for one in before if one.file.path not in told and one.file.path not in event.gone)
    return (*kept, *told.values())
