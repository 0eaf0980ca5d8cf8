"""Files of the administrator: they count only if no other user can write to them, or replace them."""

import os
import stat
from pathlib import Path


def only_root_writes(path: Path) -> bool:
    """True if root owns a file and its folder, and alone may write to both. Raises OSError if it is not there."""
    return all(map(_is_roots, (path, path.parent)))


def _is_roots(path: Path) -> bool:
    found = os.stat(path)
    return found.st_uid == 0 and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
