"""Checks the goal of a task when a turn would end: by its command, or by what the log proves of the model's report.

What must stay true: each check is one event, and all that follows is read from it. Only what that event gives the
model keeps a turn from ending, so the limits of the task hold, and a replay checks nothing.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Iterator

from msgspec.structs import replace

from halocline.context.notes import goal as words
from halocline.ports.host import ShellResult
from halocline.ports.tool import Toolset
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import GoalChecked, Noticed
from halocline.protocol.events.questions import GoalVerdict
from halocline.protocol.kinds import FINISHES
from halocline.protocol.messages import StopReason
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.goal import GoalState
from halocline.protocol.state.state import State
from halocline.protocol.terminal_text import plain_output
from halocline.task.end_checks import is_goal_due

TAIL = 4_000
"""Characters of the end of a check's output that are kept, and shown to the model."""
LONG = 1.0
"""Seconds of a check after which a person is told that it runs."""
RUNS = "Checking the goal: {name} runs."
_VARIES = re.compile(
    r"0x[0-9a-fA-F]+|/(?:tmp|var/folders|private/tmp)/[^\s'\":,)]*|\b[0-9a-f]{7,64}\b|\d+(?:[.:,]\d+)*"
)
"""What differs between two runs that fail in the same way: addresses, temporary files, hashes, numbers and times."""
_GOOD = ("exit 0", "")


RunGiven = Callable[[str], Awaitable[ShellResult]]
"""Runs a command that the person gave. Raises ToolFailure if it was not run."""


class GoalChecks:
    """The checks of one task's goal."""

    def __init__(self, *, run: RunGiven, toolset: Toolset, emit: Callable[..., None], state: Callable[[], State]):
        self._run = run
        self._toolset = toolset
        self._emit = emit
        self._state = state

    async def check(self) -> bool:
        """Check the goal, again if it is changed meanwhile. True if that gave the model more to do."""
        while is_goal_due(self._state()):
            goal = self._state().goal
            checked = await self._run_command(goal) if goal.command else judge_report(self._state(), self._toolset)
            if self._state().goal == goal:
                self._emit(checked)
                return bool(checked.content)
        return False

    async def _run_command(self, goal: GoalState) -> GoalChecked:
        began = time.monotonic()
        told = asyncio.get_running_loop().call_later(LONG, self._emit, Noticed(RUNS.format(name=goal.name)))
        try:
            result = await self._run(goal.command)
        except ToolFailure as refused:
            end = refused.text
            content = (words.refused_note(end),)
            return GoalChecked(GoalVerdict.REFUSED, goal.command, end, failure=_hash(end), content=content)
        finally:
            told.cancel()
        end, output = describe_end(result), plain_output(result.output).rstrip()[-TAIL:]
        checked = GoalChecked(GoalVerdict.MET, goal.command, end, output, seconds=round(time.monotonic() - began, 3))
        return checked if result.exit_code == 0 else _with_note(self._state(), checked)


def describe_end(result: ShellResult) -> str:
    """Say how a check ended, as evidence does."""
    code = result.exit_code
    if code is None:
        return "timed out"
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def judge_report(state: State, toolset: Toolset) -> GoalChecked:
    """Judge a goal without a command: the model reported it, and what the log proves does not contradict. Pure."""
    missing = "; ".join(_list_missing(state, toolset))
    checked = GoalChecked(GoalVerdict.MET, end=missing)
    return _with_note(state, checked) if missing else checked


def _list_missing(state: State, toolset: Toolset) -> Iterator[str]:
    """Yield what stands between the work and the goal."""
    turn = state.turn
    if toolset.find(FINISHES, state) and not (turn and turn.is_over and FINISHES in turn.ended):
        yield "no report with attempt_completion"
    evidence = find_evidence(replace(state.evidence, end=StopReason.END_TURN), whole=True)
    yield from evidence.not_confirmed or evidence.not_checked
    newest = next((one for one in reversed(evidence.commands) if not one.looks), None)
    if newest and newest.end not in _GOOD and not evidence.not_confirmed:
        yield f"`{newest.command}` ended with {newest.end}"


def _with_note(state: State, checked: GoalChecked) -> GoalChecked:
    """Return a check that failed, with its fingerprints and what sends the model back to work."""
    failure, tree = _fingerprint(f"{checked.end}\n{checked.output}"), _name_tree(state)
    stuck = state.goal.count_stuck(failure, tree)
    note = words.unmet_note(state.goal, checked.end, checked.output, stuck)
    return replace(checked, verdict=GoalVerdict.UNMET, failure=failure, tree=tree, content=(note,))


def _fingerprint(text: str) -> str:
    return _hash(" ".join(_VARIES.sub("0", text).split()))


def _name_tree(state: State) -> str:
    """Name the files as they are now, by their newest checkpoint and by the contents that the log knows of."""
    taken = state.files.checkpoints
    newest = taken[-1].checkpoint if taken else ""
    known = sorted((path, after or "") for path, (_, after) in state.evidence.files.items())
    return _hash(f"{newest}\n{known}")


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
