"""The tree of a store's index, cached while the index is unchanged."""

from halocline.checkpoints.index.index import Stamp, freshen_index, index_stamp
from halocline.checkpoints.store.git import Git


class IndexTree:
    """Writes the tree of the index when it changed."""

    def __init__(self) -> None:
        self._written: tuple[Stamp | None, str] | None = None

    def write(self, git: Git) -> str:
        """Return the hash of the index's tree, which is in the store."""
        if self._written is None or self._written[0] != index_stamp(git):
            tree = git.word("write-tree")
            self._written = (index_stamp(git), tree)
        return self._written[1]

    def freshen(self, git: Git) -> None:
        """Refresh the index; the cached tree stays, because the index still has the same files."""
        is_known = self._written is not None and self._written[0] == index_stamp(git)
        freshen_index(git)
        if is_known and self._written:
            self._written = (index_stamp(git), self._written[1])
