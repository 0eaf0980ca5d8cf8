"""Port for sub-agents: tools run tasks and get a report from each, send messages between them, and take changes."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.values import Value


class Wanted(Value, frozen=True):
    """A sub-agent to run: its prompt, its name, and the agent that it is; empty for a plain one.

    `is_named`: it can be continued under its name, gets messages, and asks through its parent. `system` is a prompt of
    the model's own, `tools` are the only ones that it gets, if any are listed. It works in `folder` of the workspace;
    with `writes`, in that of a worktree. `forked`: it knows the conversation so far.
    """

    prompt: str
    name: str
    agent: str = ""
    is_named: bool = False
    system: str = ""
    tools: tuple[str, ...] = ()
    model: str = ""
    folder: str = ""
    writes: bool = False
    background: bool = False
    forked: bool = False


class Report(Value, frozen=True):
    """A sub-agent's full answer, end and duration; `remarks` list parts of its definition that do not apply."""

    said: str
    ended: SubagentEnded
    seconds: float
    remarks: tuple[str, ...] = ()


class Merged(Value, frozen=True):
    """A file with an agent's changes: its new content, None if it is deleted; with `conflicts` there is none.

    `taken` is the file as the agent has it.
    """

    data: bytes | None = None
    taken: bytes | None = None
    conflicts: str = ""


class Subagents(Protocol):
    """The sub-agents of one task."""

    async def run(self, wanted: Sequence[Wanted], call: str, rule: str) -> tuple[Report, ...]:
        """Run all sub-agents and wait for the last; return their reports in order. Cancellation stops them all.

        If `rule` asked for approval of the call, that approval covers them too.

        Raises:
            ToolFailure: an agent is not defined, or may not be started; then none was.
        """

    async def start(self, wanted: Wanted, call: str, rule: str) -> SubagentStarted:
        """Start one in the background; the task is told of its end. Raises ToolFailure as `run` does."""

    def send(self, to: str, text: str) -> None:
        """Send a message to an agent of the tree that runs. Raises ToolFailure if there is none, or it has many."""

    async def merge(self, agent: str, files: dict[str, bytes | None]) -> dict[str, Merged]:
        """Add an agent's changes to files, with their contents now, named from the work tree. Raises ToolFailure."""

    async def note_merged(self, agent: str, taken: dict[str, bytes | None]) -> None:
        """Note which files of an agent were merged and written, so that its next merge starts from them."""

    async def close(self) -> None:
        """Stop those that run in the background, and wait until they have ended."""
