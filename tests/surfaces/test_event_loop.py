"""The end of a process in which a thread hangs."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

HANGS = """
import asyncio, os, sys
from halocline.surfaces import event_loop

event_loop.PATIENCE = 0.1
reading, writing = os.pipe()

async def main():
    asyncio.get_running_loop().run_in_executor(None, os.read, reading, 1)
    await asyncio.to_thread(lambda: None)
    return 7

code = event_loop.run_loop(main())
sys.stdout.write("said")
event_loop.leave_at_once(code)
print("never reached")
"""


def test_a_thread_that_hangs_does_not_keep_the_process():
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "said", "")


def test_without_such_a_thread_the_process_ends_as_any_other():
    text = HANGS.replace("asyncio.get_running_loop().run_in_executor(None, os.read, reading, 1)", "pass")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "saidnever reached\n", "")


FORGOTTEN = """
import asyncio
from halocline.surfaces import event_loop

async def fails():
    raise OSError(5, "Input/output error")

async def main():
    task = asyncio.create_task(fails())
    await asyncio.wait([task])

event_loop.run_loop(main())
"""


def test_a_failure_that_nobody_waits_for_is_on_no_screen():
    done = subprocess.run([sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    plain = FORGOTTEN.replace("event_loop.run_loop(", "asyncio.run(")
    done = subprocess.run([sys.executable, "-c", plain], capture_output=True, text=True, timeout=30, check=False)
    assert "never retrieved" in done.stderr


ENDLESS = """
import asyncio
from contextlib import suppress
from halocline.surfaces import event_loop

async def go_on():
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    await asyncio.sleep(60)

async def main():
    left = asyncio.create_task(go_on())
    await asyncio.sleep(0)
    return 7

print(event_loop.run_loop(main()))
"""


def test_a_task_that_is_left_and_loses_a_cancellation_does_not_keep_the_process():
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
