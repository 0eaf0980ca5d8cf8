"""What hangs is ended and named, in every one of its tries."""

import subprocess
import sys
from pathlib import Path

import pytest

HANGING = """
import asyncio, time

async def test_that_swallows():
    def spin():
        while True:
            time.sleep(0.1)

    async def settle():
        asyncio.get_running_loop().call_soon(spin)
        await asyncio.sleep(100)

    await settle()

def test_that_waits():
    time.sleep(100)
"""


@pytest.mark.slow
@pytest.mark.process
def test_each_try_of_a_test_that_hangs_has_its_time_limit(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    (tmp_path / "test_hanging.py").write_text(HANGING)
    given = ("--timeout", "1", "--reruns", "1", "--only-rerun", "(?i)time(d )?out", "-p", "tests.conftest", "-q")
    words = (sys.executable, "-m", "pytest", *given, str(tmp_path))
    done = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=100)
    assert "2 failed, 2 rerun" in done.stdout, done.stdout + done.stderr
