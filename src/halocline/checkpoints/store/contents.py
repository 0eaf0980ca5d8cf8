"""Reads saved blobs and checks them against their hash: a disk may have damaged them since."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha1
from itertools import islice

from halocline.checkpoints.store import objects
from halocline.checkpoints.store.git import Git, GitFailed

AT_ONCE = 64
"""Number of blobs whose contents are in memory at a time."""


def name_of(content: bytes) -> str:
    """Git's hash of a file's content."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_blobs(git: Git, shas: Iterable[str]) -> Mapping[str, bytes]:
    """The contents of blobs, without missing ones. Raises GitFailed when one is damaged."""
    wanted = sorted(set(shas))
    answer = git.run("cat-file", "--batch", data="".join(f"{sha}\n" for sha in wanted).encode()) if wanted else b""
    return dict(_parse_blobs(answer))


def find_spoilt(git: Git, shas: Iterable[str]) -> frozenset[str]:
    """The blobs that are lost or damaged; each is read and its hash checked."""
    left = iter(sorted(set(shas)))
    found: set[str] = set()
    while few := list(islice(left, AT_ONCE)):
        found |= _find_spoilt(git, few)
    return frozenset(found)


def rescue_blobs(git: Git, contents: Iterable[bytes]) -> Collection[str]:
    """Save contents again beside damaged blobs of the same hash; git finds the intact one. Returns their hashes."""
    return {objects.write_object(git.store, b"blob", content) for content in contents}


def _find_spoilt(git: Git, few: Sequence[str]) -> set[str]:
    try:
        held = read_blobs(git, few)
    except GitFailed:  # it stopped at a damaged one without naming it
        if len(few) == 1:
            return set(few)
        half = len(few) // 2
        return _find_spoilt(git, few[:half]) | _find_spoilt(git, few[half:])
    return {sha for sha in few if sha not in held or name_of(held[sha]) != sha}


def _parse_blobs(answer: bytes) -> Iterator[tuple[str, bytes]]:
    start = 0
    while start < len(answer):
        end = answer.index(b"\n", start)
        sha, kind, *size = answer[start:end].split()
        start = end + 1
        if kind == b"blob":
            yield sha.decode(), answer[start : start + int(size[0])]
        if size:
            start += int(size[0]) + 1
