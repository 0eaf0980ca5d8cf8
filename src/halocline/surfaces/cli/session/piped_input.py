"""Large text on standard input: it is kept in a file of the task, and the model gets both ends and the file's name."""

import os
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.protocol.messages import PIPED, Note, UserPart
from halocline.surfaces.cli.stderr import print_message

LARGEST = 100_000
"""Characters that are sent whole."""
HEAD, TAIL = 20_000, 10_000
FOLDER, FILE_NAME = "outputs", "stdin-{}.txt"
"""Beside the outputs of commands, which a task may read. Earlier turns refer to earlier files."""


def keep_large_input(client: Client, task: str, parts: tuple[UserPart, ...]) -> tuple[UserPart, ...]:
    """Return the parts with large piped text shortened, after writing all of it to a file that the task may read."""
    return tuple(
        _keep_note(client.home.task(task) / FOLDER, part) if isinstance(part, Note) and part.source == PIPED else part
        for part in parts
    )


def _keep_note(folder: Path, note: Note) -> Note:
    text = note.text
    if len(text) <= LARGEST:
        return note
    folder.mkdir(mode=0o700, exist_ok=True)
    path = next(free for number in count(1) if not (free := folder / FILE_NAME.format(number)).exists())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    print_message(
        f"Standard input is large ({len(text):,} characters): the model gets its two ends and can read the rest.",
        f"All of it is in {path}",
    )
    gap = f"\n[{len(text) - HEAD - TAIL:,} characters left out; all of it is in {path}: read or search it in parts]\n"
    return replace(note, text=text[:HEAD] + gap + text[-TAIL:])
