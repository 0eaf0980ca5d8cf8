"""A failure is known to come from a full disk, also where a program does not say why it failed."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from halocline.files.durable import tells_full_disk
from halocline.protocol.errors import HaloclineError

SAID = HaloclineError("git init failed: fatal: could not set 'core.filemode' to 'true'", "")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB, where this process may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "halocline-test", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_an_error_of_the_system_or_in_what_a_program_said_tells_of_a_full_disk(number: int) -> None:
    assert tells_full_disk(OSError(number, os.strerror(number)))
    assert tells_full_disk(HaloclineError(f"git add failed: {os.strerror(number)}", ""))
    assert not tells_full_disk(OSError(errno.EACCES, "no"))


@pytest.mark.process
def test_a_program_that_does_not_say_why_failed_for_a_full_disk_if_the_disk_is_full(small_disk: Path) -> None:
    assert not tells_full_disk(SAID, small_disk)
    (small_disk / "filler").write_bytes(b"x" * (1536 << 10))
    assert tells_full_disk(SAID, small_disk)
    assert not tells_full_disk(SAID)
