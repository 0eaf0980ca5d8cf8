"""`halo memory`: read, edit and remove the notes that new tasks start with."""

import argparse
import os
import subprocess
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.folder_lists import describe_memory
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.asking.text_editor import find_editor

OFF = "Memory is off, so tasks neither read nor add notes. halo config get memory --explain says by what."


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    memory = client.memory_of(workspace_of(arguments.cwd))
    match arguments.action:
        case "edit":
            _edit_file(memory.project if arguments.project else memory.personal, client.terminal_settings.editor)
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


def _edit_file(file: Path, own: str) -> None:
    """Open a file in the user's editor, which creates it if needed."""
    words = [*find_editor(os.environ, own), str(file)]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        code = subprocess.run(words, check=False, env=child_environment(os.environ)).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot edit {file} with {words[0]!r}: {error}.", "Set EDITOR to another editor.") from error
    if code:
        raise UsageError(f"The editor {words[0]!r} exited with code {code}.", f"The file is {file}")
