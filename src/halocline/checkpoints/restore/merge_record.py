"""Keeps what was merged from another folder, so that a later merge starts from it, and one restore undoes it.

Each record is a commit in the store of the workspace: its tree are the merged files as the other folder had them, its
message says the rest, its parent is the record before. None of it is in the person's repository.
"""

import time
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.checkpoints.store.objects import write_commit, write_object, write_ref
from halocline.checkpoints.store.refs import MERGES
from halocline.checkpoints.store.syncing import sync_store
from halocline.checkpoints.store.trees import change_tree
from halocline.protocol import json_input
from halocline.protocol.values import Value

_LABEL = "Merged\n\n"


class MergeRecord(Value, frozen=True):
    """The last merge: the commit in `base` was common to both folders, `made` says which folder it was.

    `files` are all that were merged since that base, as the other folder had them; `undo` is the checkpoint before the
    last merge, `earlier` the record before it. `left_gone` are those of the files that the main folder has deleted, and
    that a choice left so.
    """

    base: str
    made: str
    undo: str
    files: Mapping[bytes, Entry | None] = {}
    earlier: str = ""
    left_gone: frozenset[bytes] = frozenset()


class _Message(Value, frozen=True):
    base: str
    made: str
    undo: str
    gone: tuple[str, ...] = ()
    left_gone: tuple[str, ...] = ()


def read_merge(git: Git, key: str) -> MergeRecord | None:
    """Return the last merge of this key; None if there is none, or it cannot be read. It needs no lock."""
    with suppress(GitFailed, msgspec.DecodeError):
        text = git.run("cat-file", "commit", f"{MERGES}/{key}").decode()
        head, _, body = text.partition("\n\n")
        message = json_input.decode(body.removeprefix(_LABEL).strip(), type=_Message)
        earlier = next((line.removeprefix("parent ") for line in head.split("\n") if line.startswith("parent ")), "")
        listing = git.run("ls-tree", "-r", "-z", "--full-tree", f"{MERGES}/{key}").split(b"\0")[:-1]
        split = (record.partition(b"\t") for record in listing)
        files: dict[bytes, Entry | None] = {path: _parse_entry(head) for head, _, path in split}
        files |= {path.encode("latin-1"): None for path in message.gone}
        left_gone = frozenset(path.encode("latin-1") for path in message.left_gone)
        return MergeRecord(message.base, message.made, message.undo, files, earlier, left_gone)
    return None


def _parse_entry(head: bytes) -> Entry:
    mode, _, sha = head.split()
    return Entry(mode, sha.decode())


def write_merge(git: Git, key: str, record: MergeRecord) -> None:
    """Keep a merge after those before it; the store's lock must be held."""
    files = {path: entry for path, entry in record.files.items() if entry}
    tree = change_tree(git, write_object(git.store, b"tree", b""), files)
    gone = tuple(path.decode("latin-1") for path, entry in record.files.items() if entry is None)
    left_gone = tuple(sorted(path.decode("latin-1") for path in record.left_gone))
    message = msgspec.json.encode(_Message(record.base, record.made, record.undo, gone, left_gone)).decode()
    parent = git.word("for-each-ref", "--format=%(objectname)", f"{MERGES}/{key}") or None
    commit = write_commit(git.store, tree, parent, f"{_LABEL}{message}\n", int(time.time()))
    sync_store(git.store)
    write_ref(git.store, f"{MERGES}/{key}", commit)


def forget_merge(git: Git, key: str, earlier: str = "") -> None:
    """Return to the record before, or to none; the store's lock must be held."""
    if earlier:
        write_ref(git.store, f"{MERGES}/{key}", earlier)
    else:
        git.run("update-ref", "-d", f"{MERGES}/{key}")
