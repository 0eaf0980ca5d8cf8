import os
import sys
from pathlib import Path

import pytest
from tests.protocol.lock_holder import held_elsewhere

from halocline.protocol.file_locks import LockHeld, lock_file, lock_folder

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists who holds locks")


def test_who_waits_for_a_lock_learns_who_holds_it_and_what_to_do(tmp_path: Path) -> None:
    with (
        lock_file(tmp_path / "lock", "is changing the keys"),
        pytest.raises(LockHeld) as refused,
        lock_file(tmp_path / "lock", "is changing the keys", patience=0.05),
    ):
        pass
    text = str(refused.value)
    assert text.startswith(f"Process {os.getpid()} (since ")
    assert text.endswith(
        ") is changing the keys and did not finish within 0.05 s. If it hangs, end that process, then try again"
    )


def test_a_lock_is_free_again_when_its_holder_is_done(tmp_path: Path) -> None:
    for _ in range(2):
        with lock_file(tmp_path / "lock", "is busy", patience=0):
            pass


@pytest.mark.process
@linux
def test_the_holder_of_a_folder_is_named_as_well(tmp_path: Path) -> None:
    with (
        held_elsewhere(tmp_path) as pid,
        pytest.raises(LockHeld, match=f"Process {pid} is busy"),
        lock_folder(tmp_path, "is busy", patience=0.05),
    ):
        pass


def test_several_may_share_a_folder(tmp_path: Path) -> None:
    with lock_folder(tmp_path, "reads", shared=True), lock_folder(tmp_path, "reads", patience=0, shared=True):
        pass


def test_a_lock_that_is_given_up_is_not_waited_for(tmp_path: Path) -> None:
    with (
        lock_file(tmp_path / "lock", "is busy"),
        pytest.raises(LockHeld),
        lock_file(tmp_path / "lock", "is busy", patience=3600, given_up=lambda: True),
    ):
        pass
