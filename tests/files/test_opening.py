"""Where paths lead."""

import os
from pathlib import Path

import pytest

from halocline.files.opening import find_place
from halocline.policy.paths import Classifier
from halocline.protocol.permission_rules import Place


def unreadable_links() -> list[Path]:
    """The links of `/proc` that nobody may read, or that lead nowhere: those of the kernel's own threads, and more."""
    found = []
    for link in (Path("/proc", name, "exe") for name in os.listdir("/proc") if name.isdigit()):
        try:
            os.lstat(link)
        except OSError:
            continue
        try:
            os.readlink(link)
        except OSError:
            found.append(link)
    return found


def test_a_path_through_a_link_that_cannot_be_read_leads_to_the_link(tmp_path: Path) -> None:
    links = unreadable_links()
    if not links:
        pytest.skip("all links of /proc can be read here")
    assert find_place(links[0] / "etc" / "passwd") == str(links[0])
    found = Classifier(tmp_path, tmp_path / "home").resolve(str(links[0]))
    assert (found.path, found.place) == (str(links[0]), Place.OUTSIDE)
