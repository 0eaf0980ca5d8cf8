"""Writes the files of a checkpoint to another folder."""

import os
from collections.abc import Mapping
from pathlib import Path as File

from halocline.checkpoints.recovery.file_changes import NotRestored, batches_of, read_contents, replace_file
from halocline.checkpoints.recovery.journal import Change
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git
from halocline.files.opening import opened_folder
from halocline.files.target import held_below


def export_checkpoint(repository: Repository, target: str, folder: File) -> None:
    """Write the files of a checkpoint to a folder. Raises UsageError, and NotRestored if one already exists."""
    with repository.opened() as git:
        write_tree(git, repository.resolve(git, target), folder)


def write_tree(git: Git, commit: str, folder: File) -> None:
    """Write the files of a commit to a folder. Raises NotRestored if one exists; those written before it stay."""
    listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
    changes = [_new_change(record) for record in listing]
    folder.mkdir(parents=True, exist_ok=True)
    place = folder.resolve()
    try:
        with opened_folder(os.fspath(place)) as root:
            for few in batches_of(changes):
                contents = read_contents(git, [change.after for change in few])
                for change in few:
                    _export_file(root, change, contents)
    except OSError as error:
        name = os.path.join(place, os.fsdecode(error.filename or b""))
        raise NotRestored(
            f"{name} cannot be written: {error.strerror or error}.", "Choose an empty folder that you can write to."
        ) from error


def _export_file(root: int, change: Change, contents: Mapping[str, bytes]) -> None:
    path = os.fsdecode(change.path)
    try:
        with held_below(root, path, making_folders=True) as target:
            if target.find():
                raise OSError(None, "it already exists")
            replace_file(target, change.after, contents, f".halo-{os.urandom(6).hex()}.tmp")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _new_change(record: bytes) -> Change:
    head, _, path = record.partition(b"\t")
    mode, _, sha = head.split()
    return Change(path, None, Entry(mode, sha.decode()))
