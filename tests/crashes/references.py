"""Asks the reader of each kind for everything that a log refers to."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from halocline.checkpoints.store.refs import REFS
from halocline.protocol import events as ev
from halocline.store.blobs import DiskBlobs

_BLOB = re.compile(r"sha256:[0-9a-f]{64}")

_NAMES_ONLY = {"seen"}
"""Fields with the names of contents that nobody kept: what a file had in it when it was read."""


def list_blobs(events: Iterable[ev.DurableEvent]) -> set[str]:
    """Return the references of contents, wherever an event has one."""
    return {ref for event in events for text in _list_texts(msgspec.to_builtins(event)) for ref in _BLOB.findall(text)}


def list_checkpoints(events: Iterable[ev.DurableEvent]) -> list[str]:
    return [event.checkpoint for event in events if isinstance(event, ev.CheckpointTaken)]


def find_lost(home: Path, events: Iterable[ev.DurableEvent]) -> list[str]:
    """Return what a home lacks of what the events refer to, or has in another form."""
    events, blobs, lost = list(events), DiskBlobs(home / "blobs"), list[str]()
    for ref in sorted(list_blobs(events)):
        try:
            blobs.get(ref)
        except KeyError:
            lost.append(ref)
    taken = list_checkpoints(events)
    stores = sorted((home / "checkpoints").glob("*/HEAD"))
    if taken and not stores:
        return [*lost, *taken]
    for store in stores[: bool(taken)]:
        lost += _judge_by_git(store.parent, taken)
    return lost


def read_newest(home: Path, task: str) -> dict[str, bytes]:
    """Return the files of the task's newest checkpoint in the one store of a home."""
    (store,) = (path.parent for path in (home / "checkpoints").glob("*/HEAD"))
    words = ("--sort=-version:refname", "--count=1", "--format=%(objectname)", f"{REFS}/{task}")
    newest = _git(store, "for-each-ref", *words).decode().strip()
    names = _git(store, "ls-tree", "-r", "-z", "--name-only", newest).decode().split("\0")[:-1]
    return {name: _git(store, "cat-file", "blob", f"{newest}:{name}") for name in names}


def _judge_by_git(store: Path, commits: list[str]) -> list[str]:
    """Have git read every object that commits lead to, and nothing else: more may be about to be written."""
    try:
        names = _git(store, "rev-list", "--objects", "--no-object-names", *commits)
        answer = _git(store, "cat-file", "--batch", data=names)
    except subprocess.CalledProcessError as error:
        return [f"{store.name}: {error.stderr.decode()}"]
    return [sha for sha in names.decode().split() if f"{sha} missing".encode() in answer]


def _git(store: Path, *words: str, data: bytes = b"") -> bytes:
    words = ("git", f"--git-dir={store}", *words)
    return subprocess.run(words, input=data, capture_output=True, check=True).stdout


def _list_texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, one in value.items():
                if name not in _NAMES_ONLY:
                    yield from _list_texts(one)
        case list() | tuple():
            for one in value:
                yield from _list_texts(one)
