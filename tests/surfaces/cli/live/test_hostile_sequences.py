"""Sequences of keys that people press by mistake, in a hurry or not at all: nothing is decided blind, nothing is lost.

A sequence is steps for a real terminal: `say:` types and presses Enter, `type:` only types, `key:` presses keys,
`wait:` lets seconds pass, `see:`, `saw:` and `gone:` wait for a text, `size:` resizes, `paste:` pastes, `raw:` sends
bytes as a terminal does, and `decide:` presses a key in silence. Afterwards the log has exactly the prompts of the
table, and so many decisions, and the command ran or did not.
"""

import re
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.halo_process import Halo, call, shell
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
}
LONG = "words and more words " * 90
SEQUENCES = tomllib.loads(Path(__file__).with_name("hostile_sequences.toml").read_text(encoding="utf-8"))["case"]
CASES: Mapping[str, Mapping[str, Any]] = {case["name"]: case for case in SEQUENCES}


def act(terminal: TmuxTerminal, step: str) -> None:
    verb, _, rest = step.replace("LONG", LONG).partition(":")
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
    }
    ways[verb]()


@pytest.mark.parametrize("name", CASES)
def test_a_sequence_decides_nothing_blind_and_loses_nothing(halo: Halo, open_terminal: Open, name: str) -> None:
    case = CASES[name]
    halo.env["EDITOR"] = "false"
    model = halo.script(*(TURNS[turn] for turn in case["turns"].split()))
    terminal = open_terminal().starts(*case.get("flags", ()), "-m", model)
    for step in case["steps"]:
        act(terminal, step)
    logs = sorted((halo.log(task) for task in halo.tasks), key=lambda log: log[0].at)  # two may begin in one second
    turns = [event for event in (logs[-1] if logs else ()) if isinstance(event, ev.TurnStarted)]
    wanted = [prompt.replace("LONG", LONG.strip()) for prompt in case["prompts"]]
    assert [turn.content[0].text.strip() for turn in turns] == wanted  # type: ignore[union-attr]
    decided = sum(isinstance(event, ev.ApprovalResolved) for log in logs for event in log)
    assert decided == case.get("decided", 0)
    assert (halo.folder / "made").exists() is case.get("made", False)
    rows = re.findall(r"^  .*script\.toml.* · (?:act|YOLO).*$", terminal.everything, re.MULTILINE)
    assert len(rows) <= 1, terminal.everything
