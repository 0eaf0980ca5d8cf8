"""Files that the ignore files of a task hide: it is not told how they change. Reading is `policy.read_scope`."""

import os
from pathlib import Path

from halocline.policy.paths import hides
from halocline.protocol.rules import OtherRoot, RuleBook


class Hidden:
    """Whether the ignore files of a task's folders hide a path; links are followed."""

    def __init__(self, workspace: Path, book: RuleBook) -> None:
        own = OtherRoot(os.path.realpath(workspace), book.ignored)
        self._roots = [
            (root.path, root.path.rstrip("/") + "/", root.ignored) for root in (own, *book.roots) if root.ignored
        ]

    def __call__(self, path: str | Path) -> bool:
        place = os.path.realpath(path)
        for root, below, lines in self._roots:
            if place == root or place.startswith(below):
                return hides(lines, place[len(below) :] or ".")
        return False
