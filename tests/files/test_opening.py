"""Where paths lead."""

import os
from pathlib import Path

import pytest

from halocline.files.opening import find_place, look_at, open_resolved
from halocline.files.regular import read_from
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


@pytest.mark.parametrize("mode", [0o644, 0o000])
def test_a_file_is_opened_and_looked_at_where_its_links_lead(tmp_path: Path, mode: int) -> None:
    place = tmp_path.resolve() / "folder" / "file"
    place.parent.mkdir()
    place.write_text("content")
    place.chmod(mode)
    (tmp_path / "link").symlink_to("folder")
    found = look_at(tmp_path / "link" / "file")
    assert found is not None
    assert os.path.samestat(found, place.stat())
    if not os.access(place, os.R_OK):
        with pytest.raises(PermissionError, match="folder/file"), open_resolved(tmp_path / "link" / "file"):
            pass
        return
    with open_resolved(tmp_path / "link" / "file") as (fd, opened, stat):
        assert (opened, read_from(fd, 100)) == (str(place), b"content")
        assert os.path.samestat(stat, place.stat())


def test_a_file_that_is_gone_cannot_be_opened_although_it_is_held(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w+b") as held:
        os.unlink(held.name)
        with pytest.raises(OSError), open_resolved(f"/proc/self/fd/{held.fileno()}"):
            pass
