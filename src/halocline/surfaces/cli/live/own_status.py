"""The person's own status line: a format with the names of facts, or after `!` a command that prints the line.

The command gets the facts as JSON on its standard input, named as Claude Code names them for such commands
(code.claude.com/docs/en/statusline). It runs when a fact changed, at most once a second, and has five seconds.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping

from prompt_toolkit.formatted_text import ANSI, to_formatted_text

from halocline._version import __version__
from halocline.protocol import json_output
from halocline.protocol.state.state import State
from halocline.surfaces.figures import context_left, format_known_cost, model_name
from halocline.surfaces.rows.words import describe_effort
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.application.own_command import run_own_command
from halocline.surfaces.terminal.application.status_bar import QUIET, shorten_folder
from halocline.surfaces.wrapping import Fragments, cut_line

INTERVAL = 1.0
"""Seconds between two starts of the command."""
LONGEST = 2000
_NAME = re.compile(r"\{(\w+)\}")
_COLOR = re.compile(r"(\x1b\[[0-9;]*m)")


def read_facts(state: State, *, branch: str, jobs: int, waiting: int) -> dict[str, str]:
    """The facts that a format can name; empty what is not known."""
    left = context_left(state)
    return {
        "model": model_name(state.model.name),
        "effort": describe_effort(state.model.effort, state.model.thinking_budget),
        "mode": state.plan.mode.value,
        "approvals": state.permissions.approval_mode.value,
        "folder": shorten_folder(state.workspace),
        "branch": branch,
        "context": "" if left is None else f"{left}%",
        "cost": format_known_cost(state.budget) if state.budget.spent > 0 else "",
        "goal": state.goal.name.partition("\n")[0] if state.goal.is_open else "",
        "name": state.labels.name,
        "jobs": str(jobs or ""),
        "waiting": str(waiting or ""),
    }


class OwnStatusLine:
    """Shows `line` in place of the usual status line.

    `start` runs the command beside the conversation, `say` shows why it is off, and `redraw` asks for a frame.
    """

    def __init__(
        self,
        line: str,
        start: Callable[[Coroutine[None, None, None]], None],
        say: Callable[[str], None],
        redraw: Callable[[], None],
    ) -> None:
        self._redraw = redraw
        self._line = line
        self._start = start
        self._say = say
        self._shown: Fragments | None = None
        self._given: Mapping[str, str] = {}
        self._is_running = False

    def draw_line(self, facts: Mapping[str, str], task: str, state: State, width: int) -> Fragments | None:
        """The line for these facts; None for the usual one: there is no own line, or its command has none yet."""
        if not self._line.startswith("!"):
            text = _NAME.sub(lambda match: facts.get(match[1], match[0]), self._line)
            return [(QUIET, cut_line(clean(text), width))] if self._line else None
        if facts != self._given and not self._is_running:
            self._given, self._is_running = dict(facts), True
            self._start(self._run(_describe_task(facts, task, state)))
        return self._shown

    async def _run(self, given: bytes) -> None:
        try:
            printed = await run_own_command(self._line[1:], given)
            self._shown = _read_colors(printed[:LONGEST].partition(b"\n")[0])
            self._redraw()
            await asyncio.sleep(INTERVAL)  # what changed meanwhile runs it again, with the next frame
        except (OSError, TimeoutError) as error:
            self._say(f"The command of your status line is off: {error or 'it took longer than five seconds'}.")
            self._line = ""
        finally:
            self._is_running = False
            self._redraw()


def _describe_task(facts: Mapping[str, str], task: str, state: State) -> bytes:
    left = context_left(state)
    used = None if left is None else 100 - left
    return json_output.encode(
        {
            "session_id": task,
            "session_name": facts["name"],
            "cwd": state.workspace,
            "version": __version__,
            "model": {"id": state.model.name, "display_name": facts["model"]},
            "workspace": {"current_dir": state.workspace, "project_dir": state.workspace, "added_dirs": state.roots},
            "cost": {"total_cost_usd": state.budget.spent},
            "context_window": {"used_percentage": used, "remaining_percentage": left},
            "facts": facts,
        }
    )


def _read_colors(line: bytes) -> Fragments:
    """The line with its colors, and without all other escape sequences."""
    parts = _COLOR.split(line.decode(errors="replace"))
    text = "".join(part if at % 2 else clean(part) for at, part in enumerate(parts))
    return [(style, shown) for style, shown, *_ in to_formatted_text(ANSI(text))]
