import os
import socket
from pathlib import Path

import pytest

from halocline.files.regular import NotRegular, TooLarge, read_beginning, read_regular, why_not_regular


def test_a_regular_file_is_read_whole_also_through_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 700_000)
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link") == b"x" * 700_000


def test_a_file_over_the_bound_is_refused_or_read_up_to_it(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_regular(tmp_path / "file", 5) == b"12345"
    assert read_beginning(tmp_path / "file", 3) == b"123"
    with pytest.raises(TooLarge, match="it is larger than 4 bytes"):
        read_regular(tmp_path / "file", 4)


def test_what_is_not_there_is_an_error_of_its_own(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_linked_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def make_socket(path: Path) -> None:
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (make_pipe, "a named pipe"),
        (make_linked_pipe, "a named pipe"),
        (make_socket, "a socket"),
        (Path.mkdir, "a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
    ],
)
def test_anything_else_is_refused_by_its_kind_with_what_to_do(tmp_path, monkeypatch, make, kind):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "it")
    with pytest.raises(NotRegular) as refused:
        read_regular(tmp_path / "it")
    said = f"it is {kind}, not a regular file; move it away or delete it"
    assert (str(refused.value), why_not_regular(tmp_path / "it")) == (said, said)
