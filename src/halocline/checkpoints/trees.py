"""Changes single files of a saved tree without starting git.

The index is not told. It does not matter: it compares by time and size, so the next scan finds these files changed.
"""

from collections.abc import Iterator, Mapping

from halocline.checkpoints import objects
from halocline.checkpoints.git import Git
from halocline.protocol.values import Value

_FOLDER = b"40000"


class Entry(Value, frozen=True):
    """One name in a tree; `mode` is as a tree writes it."""

    mode: bytes
    sha: str


def find(git: Git, tree: str, path: bytes) -> Entry | None:
    """What a tree holds at a path."""
    found: Entry | None = Entry(_FOLDER, tree)
    for name in path.split(b"/"):
        if found is None or found.mode != _FOLDER:
            return None
        found = dict(_entries(git, found.sha)).get(name)
    return found


def changed(git: Git, tree: str, changes: Mapping[bytes, Entry | None]) -> str:
    """The tree with these paths set, or taken out (None)."""
    return _changed(git, tree, changes) or objects.write(git.store, b"tree", b"")


def _changed(git: Git, tree: str | None, changes: Mapping[bytes, Entry | None]) -> str | None:
    """As `changed`; an empty folder is none."""
    entries = dict(_entries(git, tree)) if tree else {}
    deeper: dict[bytes, dict[bytes, Entry | None]] = {}
    for path, entry in changes.items():
        name, _, rest = path.partition(b"/")
        if rest:
            deeper.setdefault(name, {})[rest] = entry
        else:
            _set(entries, name, entry)
    for name, below in deeper.items():
        folder = entries.get(name)
        is_folder = folder is not None and folder.mode == _FOLDER
        # Nothing is below a file, so nothing can be taken out there.
        if is_folder or any(below.values()):
            sha = _changed(git, folder.sha if folder and is_folder else None, below)
            _set(entries, name, Entry(_FOLDER, sha) if sha else None)
    return objects.write(git.store, b"tree", _content(entries)) if entries else None


def _set(entries: dict[bytes, Entry], name: bytes, entry: Entry | None) -> None:
    if entry is None:
        entries.pop(name, None)
    else:
        entries[name] = entry


def _entries(git: Git, tree: str) -> Iterator[tuple[bytes, Entry]]:
    content = _read(git, tree)
    start = 0
    while start < len(content):
        end = content.index(b"\0", start)
        mode, _, name = content[start:end].partition(b" ")
        start = end + 21
        yield name, Entry(mode, content[end + 1 : start].hex())


def _read(git: Git, tree: str) -> bytes:
    """The content of a tree. One that git had to be asked for is written beside, as every checkpoint needs it again."""
    try:
        return objects.read(git.store, tree)
    except FileNotFoundError:
        content = git.run("cat-file", "tree", tree)
        objects.write(git.store, b"tree", content)
        return content


def _content(entries: Mapping[bytes, Entry]) -> bytes:
    # Git sorts a folder as if its name ended in a slash.
    ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" * (item[1].mode == _FOLDER))
    return b"".join(b"%b %b\0%b" % (entry.mode, name, bytes.fromhex(entry.sha)) for name, entry in ordered)
