"""Port for background jobs: commands that run while the task does other things."""

from collections.abc import Callable
from typing import Protocol

from halocline.protocol.events.jobs import JobInfo
from halocline.protocol.values import Value


class JobOutput(Value, frozen=True):
    """A job's new output since the last read, with the middle cut if it is too long.

    For a job that ended, `hint` names withheld variables that it may have needed.
    """

    info: JobInfo
    text: str
    hint: str = ""


class Jobs(Protocol):
    """The jobs of one task. An unknown name raises a ToolFailure that lists the known ones."""

    def begin(self, on_end: Callable[[JobInfo], None]) -> None:
        """Call `on_end` once for every job that ends from now on."""

    def list(self) -> tuple[JobInfo, ...]:
        """Return all running jobs, and those that ended recently; their ports are those found last, seconds ago."""

    async def find_ports(self) -> None:
        """Find out on which ports the jobs listen now, for the next `list`."""

    async def read(self, name: str, wait: float = 0.0) -> JobOutput:
        """Return new output; with `wait`, after the job's end or that many seconds."""

    def tail(self, name: str) -> str:
        """Return the end of the output, for a person; this does not count as read by the model."""

    def screen(self, name: str) -> str:
        """Return more of the end of the output with its colors (`colored_output`), without keys, for a person."""

    async def write(self, name: str, text: str) -> JobOutput:
        """Type text into a job's terminal, and return what it prints. Raises ToolFailure if it has no terminal."""

    async def stop(self, name: str) -> None:
        """Stop a job with all its processes."""

    async def settle(self) -> None:
        """After an edit, wait a few seconds for jobs that watch the files to print their results."""

    def collect_changes(self) -> tuple[JobOutput, ...]:
        """Return jobs with an end or output not yet reported to the model, each with the end of its output."""
