"""How long a decision about a command takes, in this process, against splitting its words with `shlex`. CPU time.

The first decision of a process is told apart: it imports tree-sitter and the tables, in a process of its own.
"""

import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure

COMMANDS = (
    "ls -la",
    "git status",
    "grep -rn foo src | head -5",
    "npm test",
    "rm -rf build && make",
    "find . -name '*.py' | xargs wc -l",
)
_TIMES = 100
_ROOT = Path(__file__).parent.parent
_FIRST = """
import sys, time
from pathlib import Path
from benchmarks.judging import decider
decide = decider(Path(sys.argv[1]))
began = time.process_time()
decide("ls -la")
print((time.process_time() - began) * 1e3)
"""


def decider(workspace: Path) -> Callable[[str], object]:
    """Judges commands as a task in ask mode would."""
    from halocline.hosts.shell.policy_facts import LocalShellFacts
    from halocline.policy.gate import PolicyContext, decide_call
    from halocline.ports.tool import Summary
    from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

    facts = LocalShellFacts({})
    posture = PolicyContext(workspace, workspace / "home", Mode.ACT, ApprovalMode.ASK, facts=facts)
    return lambda text: decide_call(Summary(text, ToolKind.EXECUTE, command=text), posture)


def figures(rounds: int) -> list[Figure]:
    """The middle of all commands, and the first decision."""
    with tempfile.TemporaryDirectory() as place:
        words = [sys.executable, "-c", _FIRST, place]
        first = median(float(subprocess.check_output(words, cwd=_ROOT)) for _ in range(rounds))
        low, high = _each(shlex.split), _each(decider(Path(place)))
    return [
        Figure("judging", "a decision about a command, ms", median(low), median(high)),
        Figure("judging_worst", "… the slowest of six everyday commands, ms", max(low), max(high)),
        Figure("judging_first", "… the first one of a process, ms", None, first),
    ]


def _each(act: Callable[[str], object]) -> list[float]:
    for command in COMMANDS:
        act(command)
    return [median(_timed(act, command) for _ in range(_TIMES)) for command in COMMANDS]


def _timed(act: Callable[[str], object], command: str) -> float:
    began = time.process_time()
    act(command)
    return (time.process_time() - began) * 1e3
