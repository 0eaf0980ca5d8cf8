"""The door to commands that go on while the task does other things."""

from collections.abc import Callable
from typing import Protocol

from halocline.protocol.jobs import JobInfo
from halocline.protocol.values import Value


class JobOutput(Value, frozen=True):
    """What a job printed since somebody last read it, its middle cut when over budget.

    `hint` says which withheld variables one that ended may have lacked.
    """

    info: JobInfo
    text: str
    hint: str = ""


class Jobs(Protocol):
    """The jobs of one task. A name that is not known is a ToolFailure that says which are."""

    def begin(self, on_end: Callable[[JobInfo], None]) -> None:
        """Tell from now on of every end, once."""

    def list(self) -> tuple[JobInfo, ...]:
        """All that run, and those that ended lately."""

    async def read(self, name: str, wait: float = 0.0) -> JobOutput:
        """What is new; with `wait`, after its end or that many seconds."""

    def tail(self, name: str) -> str:
        """The end of what it printed, for a person; for the model nothing counts as read by this."""

    async def write(self, name: str, text: str) -> JobOutput:
        """Type text into a job that has a terminal, and give what it prints. Raises ToolFailure without one."""

    async def stop(self, name: str) -> None:
        """End it with all its processes."""

    async def settle(self) -> None:
        """After an edit: wait until jobs that watch the files have said what they think of it; for a few seconds."""

    def news(self) -> tuple[JobOutput, ...]:
        """Jobs that ended or printed and whose news was not told yet, each with the end of what it printed."""
