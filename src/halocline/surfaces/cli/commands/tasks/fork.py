"""`halo fork`: start a new task from any point of a task."""

import argparse
from pathlib import Path

from halocline.client.history import Fork
from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.stderr import print_raw


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    arguments.id = pickers.task_picker.choose_task(client, arguments.id)
    event_loop.run_loop(_fork_task(client, arguments))
    return 0


async def _fork_task(client: Client, arguments: argparse.Namespace) -> None:
    source = arguments.id
    at = arguments.at or client.past(source)[-1].seq
    folder = _target_folder(arguments.files or arguments.worktree)
    fork = Fork("", source, at, arguments.model or "")
    name = await client.time.fork(fork, folder, worktree=bool(arguments.worktree))
    print(f"Forked {source} after event {at}. The new task: {name}")
    if folder is not None:
        print_raw(f"Its files are in {folder}.")
    else:
        print(f"Files are unchanged. To restore them: halo checkpoints restore {source}@{at}")
    print(f'To continue: halo -r {name} "what to do"')


def _target_folder(text: str | None) -> Path | None:
    """Folder for the files: empty or new. Raises UsageError."""
    if not text:
        return None
    folder = Path(text).expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder.", "Name an empty or new folder.")
    return folder
