"""`halo memory`: read, edit and remove the notes that new tasks start with."""

import argparse
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from halocline.client.instructions import Memory, MemoryFile, MemoryNote
from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.sanitize import clean

OFF = "Memory is off, so tasks neither read nor add notes. halo config get memory --explain says by what."

NONE = "No notes yet. With memory on, tasks propose notes; to write your own: halo memory edit"


def command(arguments: argparse.Namespace) -> int:
    memory = open_client(Choices()).memory_of(workspace_of(arguments.cwd))
    match arguments.action:
        case "edit":
            _edit_file(memory.project if arguments.project else memory.personal)
        case "forget":
            gone = event_loop.run_loop(memory.forget(arguments.number))
            print(f"Removed: {clean(gone.text)}")
        case _:
            print_raw(describe_memory(memory))
            if memory.leads_out:
                print_message(f"{memory.project} is not read, because it links to a place outside the project.")
    if not memory.on and arguments.action != "forget":
        print_message(OFF)
    return 0


def describe_memory(memory: Memory) -> str:
    """List the notes with their numbers and sources. Raises UsageError."""
    return "\n\n".join("\n".join(_memory_lines(source, memory)) for source in memory.sources()) or NONE


def _memory_lines(source: MemoryFile, memory: Memory) -> Iterator[str]:
    head = "Your notes" if source.file == memory.personal else "The project's notes"
    yield f"{head}, in {clean(str(source.file))}"
    yield from map(_note_line, source.notes)
    if source.beside:
        yield f"     {source.beside} other line{'s' if source.beside > 1 else ''}, also sent to tasks"
    if source.is_cut:
        yield "     The file is too long: only its beginning is sent to tasks."


def _note_line(note: MemoryNote) -> str:
    facts = [note.date, f"task {note.task}" if note.task else "written by hand"]
    return f"{note.number:>3}  {clean(note.text)}\n     {', '.join(filter(None, facts))}"


def _edit_file(file: Path) -> None:
    """Open a file in the user's editor, which creates it if needed."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("No editor is set.", f"Set EDITOR, or open this file yourself: {file}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        words = [*shlex.split(editor), str(file)]
        code = subprocess.run(words, check=False, env=child_environment(os.environ)).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot edit {file} with {editor!r}: {error}.", "Set EDITOR to another editor.") from error
    if code:
        raise UsageError(f"The editor {editor!r} exited with code {code}.", f"The file is {file}")
