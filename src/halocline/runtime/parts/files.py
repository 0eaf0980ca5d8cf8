"""The files of this machine, as tasks and services get them."""

from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.files.local import LocalFiles
from halocline.policy.paths import Judged
from halocline.ports.host import Files


def build_reading_files() -> Files:
    """Return the files of this machine, for reading only."""
    return LocalFiles()


def files_within(*folders: Path, places: Sequence[str] = (), journals: Path | None = None) -> LocalFiles:
    """Return the files of this machine, for writing only in these folders or at these places, links resolved."""
    return LocalFiles(journals, Judged(tuple(places), *folders))
