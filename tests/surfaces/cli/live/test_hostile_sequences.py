"""Sequences of keys that people press by mistake, in a hurry or not at all: nothing is decided blind, nothing is lost.

A sequence is steps for a real terminal: `say:` types and presses Enter, `type:` only types, `key:` presses keys,
`wait:` lets seconds pass, `see:`, `saw:` and `gone:` wait for a text, `size:` resizes, `paste:` pastes, `raw:` sends
bytes as a terminal does, and `decide:` presses a key in silence. Afterwards the log has exactly the prompts of the
table, and so many decisions, and the command ran or did not; what must be there `once` is there once. `drag:` resizes
by two columns at a time, `signal:` ends `halo`, `start:` starts it anew, and `tmux:` is for the terminal itself.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.halo_process import HALO, Halo, call, shell
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal

from halocline.protocol import events as ev

pytestmark = [pytest.mark.slow, pytest.mark.process]

SLOW: Mapping[str, Any] = {"text": "First paragraph.\n\n" + "And on and on. " * 99, "pace": 0.02}
TURNS: Mapping[str, Mapping[str, Any]] = {
    "HI": {"text": "Hello."},
    "BYE": {"text": "Bye."},
    "SLOW": SLOW,
    "SLOW_START": {**SLOW, "delay": 3},
    "QUICK": {**SLOW, "pace": 0.003},
    "TOUCH": {"call": [shell("touch made")]},
    "LATE": {"call": [shell("touch made")], "delay": 1.5},
    "TWO": {"call": [shell("touch made"), shell("touch more")]},
    "ASK": {"call": [call("ask_followup_question", question="Which?", options=["tabs", "spaces"])]},
    "EVIL": {"call": [shell(r"printf '\033]0;evil\007\033[2J\033[?1049hgone\n'")]},
    "ONE_LINE": {"call": [shell("head -c 200000 /dev/zero | tr '\\0' x")]},
    "MEGABYTE": {"call": [shell("head -c 1000000 /dev/zero | tr '\\0' x")]},
    "ROWS": {"call": [shell("seq 1 100000")]},
    "SLEEP": {"call": [shell("sleep 4321")]},
    "JOB": {"call": [shell("echo began; sleep 4; touch made")]},
    "WORD": {"text": f"{'long' * 400} and short"},
    "TALK": {"text": "".join(f"Paragraph {number} has words.\n\n" for number in range(30)), "pace": 0.01},
    "WIDE": {"text": "日本語の文章です。" * 30 + " end"},
    "WORLD": {
        "text": "שלום e\u0301 한국어.\n\n| a | b |\n| --- | --- |\n| 日本 | שלום |\n",
        "call": [shell("echo 日本 שלום e\u0301")],
    },
    "WRITE": {"call": [call("write_to_file", path="made", content="one\n")]},
    "FILE": {"call": [call("write_to_file", path="made", content="".join(f"row {n}\n" for n in range(1, 401)))]},
    "THREE": {"call": [shell("touch made"), shell("touch two"), shell("touch three")]},
    "FIVE": {"call": [shell(f"touch {name}") for name in ("made", "two", "three", "four", "five")]},
    "ROOT": {"call": [shell("rm -rf /")]},
    "ASK_TWICE": {
        "call": [
            call("ask_followup_question", question="Which?", options=["tabs", "spaces"]),
            call("ask_followup_question", question="How wide?", options=["two", "four"]),
        ]
    },
}
TEXTS: Mapping[str, str] = {
    "LONG": "words and more words " * 90,
    "CHARACTERS": "four" * 1000,
    "LINES": "".join(f"line {number}\n" for number in range(300)),
    "BYTES": "pasted words and more " * 400,
}
"""What a step or a prompt of the table names because it is long."""
SEQUENCES = tomllib.loads(Path(__file__).with_name("hostile_sequences.toml").read_text(encoding="utf-8"))["case"]
CASES: Mapping[str, Mapping[str, Any]] = {case["name"]: case for case in SEQUENCES}


def fill_in(text: str) -> str:
    for name, long in TEXTS.items():
        text = text.replace(name, long)
    return text


def drag(terminal: TmuxTerminal, way: str) -> None:
    """Resize by two columns at a time: `120 60 0.05` are both ends and the seconds between two steps."""
    first, last, pause = way.split()
    for columns in range(int(first), int(last), 2 if int(first) < int(last) else -2):
        terminal.resizes(columns, 24)
        time.sleep(float(pause))
    terminal.resizes(int(last), 24)


def start_anew(terminal: TmuxTerminal, words: str) -> None:
    terminal.runs(shlex.join([*HALO, *words.split(), "-m", f"scripted/{terminal.halo.root}/script.toml"]))


def send_signal(terminal: TmuxTerminal, name: str) -> None:
    pattern = str(terminal.halo.root / "script.toml")
    found = subprocess.run(["pgrep", "-o", "-f", pattern], capture_output=True, text=True, check=True)
    os.kill(int(found.stdout), signal.Signals[f"SIG{name}"])


def act(terminal: TmuxTerminal, step: str) -> None:
    verb, _, rest = fill_in(step).partition(":")
    ways: Mapping[str, Callable[[], object]] = {
        "say": lambda: terminal.types(rest).presses("Enter"),
        "type": lambda: terminal.types(rest),
        "key": lambda: terminal.presses(*rest.split()),
        "wait": lambda: time.sleep(float(rest)),
        "see": lambda: terminal.sees(rest),
        "saw": lambda: terminal.saw(rest),
        "gone": lambda: terminal.sees_no(rest),
        "size": lambda: terminal.resizes(*map(int, rest.split("x"))),
        "paste": lambda: terminal.pastes(rest),
        "raw": lambda: terminal.sends(rest),
        "decide": lambda: terminal.decides(rest),
        "drag": lambda: drag(terminal, rest),
        "signal": lambda: send_signal(terminal, rest),
        "start": lambda: start_anew(terminal, rest),
        "tmux": lambda: terminal._tmux(*rest.split()),
    }
    ways[verb]()


@pytest.mark.parametrize("name", CASES)
def test_a_sequence_decides_nothing_blind_and_loses_nothing(halo: Halo, open_terminal: Open, name: str) -> None:
    case = CASES[name]
    if "needs" in case and shutil.which(case["needs"]) is None:
        pytest.skip(f"{case['needs']} is not installed")
    halo.env["EDITOR"] = case.get("editor", "false")
    model = halo.script(*(TURNS[turn] for turn in case["turns"].split()))
    terminal = open_terminal(case.get("columns", 80)).starts(*case.get("flags", ()), "-m", model)
    for step in case["steps"]:
        act(terminal, step)
    logs = sorted((halo.log(task) for task in halo.tasks), key=lambda log: log[0].at)  # two may begin in one second
    turns = [event for event in (logs[-1] if logs else ()) if isinstance(event, ev.TurnStarted)]
    wanted = [fill_in(prompt).strip() for prompt in case["prompts"]]
    assert [turn.content[0].text.strip() for turn in turns] == wanted  # type: ignore[union-attr]
    decided = sum(isinstance(event, ev.ApprovalResolved) for log in logs for event in log)
    assert decided == case.get("decided", 0)
    assert (halo.folder / "made").exists() is case.get("made", False)
    rows = re.findall(r"^  .*script\.toml.* · (?:act|YOLO).*$", terminal.everything, re.MULTILINE)
    assert len(rows) <= 1, terminal.everything
    shown = terminal.everything
    assert [text for text in case.get("once", ()) if shown.count(text) != 1] == [], shown
