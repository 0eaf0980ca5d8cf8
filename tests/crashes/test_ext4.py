"""The power is lost on a real file system: its image is copied as it is, and the copy is mounted."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.crashes.judge import logs_of
from tests.crashes.power import make_project
from tests.crashes.references import find_lost, read_newest
from tests.crashes.test_power_loss import DESTROYED

from halocline.task.log import read_log

pytestmark = pytest.mark.slow
_BYTES = 96 << 20
LONGEST = 240.0


@contextmanager
def mounted(image: Path, place: Path) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An empty ext4, where this machine lets us mount one."""
    place = tmp_path / "disk"
    with open(place, "wb") as file:
        file.truncate(_BYTES)
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", str(place)], check=True, capture_output=True)
        with mounted(place, tmp_path / "trial"):
            pass
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no loop device with ext4 here: {error}")
    return place


def cut_power(image: Path, place: Path, riding: "subprocess.Popen[bytes]") -> None:
    """Copy what the disk has of the image; again, if the kernel wrote to it meanwhile."""
    os.killpg(riding.pid, signal.SIGSTOP)
    try:
        for _ in range(100):
            before = image.stat().st_mtime_ns
            subprocess.run(["cp", "--sparse=always", str(image), str(place)], check=True)
            if image.stat().st_mtime_ns == before:
                return
        raise TimeoutError("the kernel wrote to the disk during each of 100 copies")
    finally:
        os.killpg(riding.pid, signal.SIGCONT)


def ride(folder: Path, image: Path, cuts: Path, wait: "Iterator[float]") -> None:
    """Ride the story on the disk; lose the power while each command runs, and after each of these seconds."""
    words = [sys.executable, "-m", "tests.crashes.power", str(folder), "alone"]
    riding = subprocess.Popen(words, start_new_session=True)
    began, due, number = time.monotonic(), next(wait), 0
    try:
        while riding.poll() is None:
            assert time.monotonic() < began + LONGEST
            for flag in folder.glob("running-*"):
                cut_power(image, cuts / flag.name, riding)
                flag.unlink()
            if time.monotonic() >= began + due:
                number += 1
                cut_power(image, cuts / f"random-{number}", riding)
                due += next(wait)
            time.sleep(0.01)
    finally:
        if riding.poll() is None:
            os.killpg(riding.pid, signal.SIGKILL)
        riding.wait()
    assert riding.returncode == 0


def judge(copy: Path, place: Path) -> None:
    with mounted(copy, place) as disk:
        for log in (disk / "home" / "tasks").glob("*/events.jsonl"):
            assert find_lost(disk / "home", read_log(log)) == [], copy.name
        _, _, call = copy.name.partition("running-")
        if call:
            (log,) = logs_of(disk)
            assert read_newest(disk / "home", log.parent.name)[DESTROYED[call]]


def lose_power(image: Path, folder: Path, wait: "Iterator[float]") -> int:
    cuts = folder / "cuts"
    cuts.mkdir()
    with mounted(image, folder / "disk-in-use") as disk:
        make_project(disk / "project", in_git=False)
        os.sync()
        ride(disk, image, cuts, wait)
    copies = sorted(cuts.iterdir())
    for copy in copies:
        judge(copy, folder / f"judged-{copy.name}")
    return len(copies)


def never() -> Iterator[float]:
    while True:
        yield LONGEST


def at_random(seed: int) -> Iterator[float]:
    luck = random.Random(seed)
    while True:
        yield luck.uniform(0.05, 0.4)


def test_what_a_command_destroys_is_on_a_real_disk_before_it_runs(image: Path, tmp_path: Path):
    assert lose_power(image, tmp_path, never()) == len(DESTROYED)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_at_any_time_a_real_disk_has_all_that_the_log_refers_to(image: Path, tmp_path: Path, seed: int):
    assert lose_power(image, tmp_path, at_random(seed)) >= len(DESTROYED) + 5
    shutil.rmtree(tmp_path / "cuts")
