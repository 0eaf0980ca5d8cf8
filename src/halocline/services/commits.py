"""Commits of what a task changed: what could be chosen, a message without asking a model, and the commit itself.

A person does this, not the agent: it is git's own commit with its hooks, and it is never done by itself.
"""

import asyncio
import os
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from halocline.ports.revisions import Committed as Committed, Uncommitted
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events import CallStatus, DurableEvent, FileChanged, ToolCallEnded, TurnStarted
from halocline.protocol.values import Value
from halocline.runtime.history.actions import TaskHistory
from halocline.services.tasks import TaskService

SUBJECT = 68
"""Characters of the first line of a proposed message."""
WIDTH = 72
MOST_LINES = 12
LONGEST = 20_000
"""Characters of a message."""


class CommitPlan(Value, frozen=True):
    """What is not committed, the paths of it that the task changed, and a proposed message."""

    uncommitted: Uncommitted
    ours: tuple[str, ...]
    message: str


class Committing:
    """`hidden` are variables that git's hooks do not get: they hold keys."""

    def __init__(self, time: TaskHistory, desk: TaskService, hidden: frozenset[str], passed: tuple[str, ...]) -> None:
        self._time = time
        self._desk = desk
        self._hidden, self._passed = hidden, passed

    async def plan(self, task: str) -> CommitPlan:
        """What could be committed of a task's workspace. Raises UsageError where there is no repository."""
        from halocline.git.commit import list_uncommitted

        past = await asyncio.to_thread(self._time.past, task)
        workspace = self._workspace(task)
        found = await list_uncommitted(workspace)
        changed = {event.path for event in past if isinstance(event, FileChanged)}
        with suppress(HaloclineError):  # without checkpoints only the tools' edits are known
            compared = await self._time.compare(workspace, f"{task}@1")
            changed |= {name for file in compared.files for name in (file.path, file.before) if name}
        info = self._desk.info(task)
        title = (info.name or info.title) if info else ""
        ours = tuple(file.path for file in found.files if {file.path, str(workspace / file.path)} & changed)
        return CommitPlan(found, ours, propose_message(title, _newest_result(past)))

    async def commit(self, task: str, paths: Sequence[str], message: str, runs: Sequence[str] = ()) -> Committed:
        """Commit these files of a task's workspace, whole; `runs` are the programs that the person was shown.

        Raises UsageError with what git said.
        """
        from halocline.git.commit import commit_files
        from halocline.protocol.child_environment import child_environment

        if not paths:
            raise UsageError("No file is chosen.", "Choose what is to be committed.")
        if not message.strip() or len(message) > LONGEST or "\0" in message:
            raise UsageError("A commit needs a message of some words.", f"At most {LONGEST} characters.")
        environment = child_environment(os.environ, self._hidden, self._passed)
        return await commit_files(self._workspace(task), paths, message.strip(), environment, runs)

    def _workspace(self, task: str) -> Path:
        info = self._desk.info(task)
        if not info or not os.path.isdir(info.workspace):
            raise UsageError("The folder of this task is not there.", "Commit by hand.")
        return Path(info.workspace)


def propose_message(title: str, result: str) -> str:
    """A message of a task's title and of how its newest result begins; pure."""
    words = " ".join(title.lstrip("/ ").split())
    subject = textwrap.shorten(words, SUBJECT, placeholder="…").rstrip(".") or "Changes"
    paragraph = result.strip().split("\n\n", 1)[0]
    lines = [line for one in paragraph.splitlines() for line in textwrap.wrap(one, WIDTH) or [""]]
    return "\n\n".join(filter(None, (subject[0].upper() + subject[1:], "\n".join(lines[:MOST_LINES]))))


def _newest_result(past: Sequence[DurableEvent]) -> str:
    """What the newest turn said that it did; empty when it did not."""
    for event in reversed(past):
        if isinstance(event, TurnStarted):
            break
        if isinstance(event, ToolCallEnded) and event.name == "attempt_completion":
            return event.result.text if event.status is CallStatus.COMPLETED else ""
    return ""
