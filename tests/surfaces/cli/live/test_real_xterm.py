"""A real xterm on a display of its own, whose size changes while rows are printed: each row is there once."""

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
from tests.surfaces.cli.halo_process import HALO, LIMIT, Halo

from halocline.protocol import events as ev

pytestmark = [pytest.mark.slow, pytest.mark.process]

TEXT = "".join(f"Paragraph {number} has some words of its own.\n\n" for number in range(40))
RESOURCES = (
    "XTerm*saveLines: 2000",
    "XTerm*printAttributes: 0",
    "XTerm*VT100.translations: #override <Key>F12: print-everything()",
)


@pytest.fixture
def display() -> Iterator[str]:
    if not all(map(shutil.which, ("Xvfb", "xterm", "xdotool"))):
        pytest.skip("xterm, Xvfb or xdotool is not installed")
    words = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield f":{server.stdout.readline().strip()}"
        server.terminate()


def is_over(halo: Halo) -> bool:
    return bool(halo.tasks) and any(isinstance(event, ev.TurnEnded) for event in halo.log())


def test_a_real_xterm_keeps_each_row_once_while_its_size_changes(halo: Halo, display: str) -> None:
    env = {**halo.env, "DISPLAY": display, "SHELL": "/bin/sh"}
    printed = halo.root / "printed"
    options = [word for one in (*RESOURCES, f"XTerm*printerCommand: cat > {printed}") for word in ("-xrm", one)]
    command = shlex.join([*HALO, "-m", halo.script({"text": TEXT, "pace": 0.02}), "go"])
    words = ["xterm", *options, "-geometry", "100x30", "-e", f"cd {shlex.quote(str(halo.folder))}; {command}"]

    def act(*steps: str) -> str:
        return subprocess.run(["xdotool", *steps], env=env, capture_output=True, text=True, check=False).stdout.strip()

    with subprocess.Popen(words, env=env) as terminal:
        window = act("search", "--sync", "--onlyvisible", "--class", "xterm").split()[0]
        end = time.monotonic() + LIMIT
        sizes = [(100, 24), (60, 24), (120, 40), (40, 20), (90, 30)]
        while not is_over(halo) and time.monotonic() < end:
            if halo.tasks and sizes:
                act("windowsize", "--usehints", window, *map(str, sizes.pop(0)))
            time.sleep(0.3)
        time.sleep(1)
        act("windowfocus", "--sync", window, "key", "F12")
        while not (printed.exists() and "done" in printed.read_text(errors="replace")) and time.monotonic() < end:
            time.sleep(0.1)
        text = printed.read_text(errors="replace")
        terminal.terminate()
    assert sizes == []
    assert re.findall(r"Paragraph (\d+) has", text) == [str(number) for number in range(40)]
