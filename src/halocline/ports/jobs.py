"""The door to commands that go on while the task does other things."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from halocline.protocol.values import Value


class JobState(StrEnum):
    """`hot`: it printed just now, or seems to be building something; `idle`: it is quiet."""

    HOT = "hot"
    IDLE = "idle"
    ENDED = "ended"


class JobInfo(Value, frozen=True):
    """One job. `seconds` is how long it has run, `quiet` for how long it has been silent, `unread` is in bytes.

    `exit_code` is None while it runs, and when nobody saw how it ended. `stopped` says why somebody ended it.
    """

    name: str
    command: str
    state: JobState
    exit_code: int | None = None
    stopped: str = ""
    seconds: float = 0.0
    quiet: float = 0.0
    unread: int = 0
    terminal: bool = False
    ports: tuple[int, ...] = ()


class JobOutput(Value, frozen=True):
    """What a job printed since somebody last read it, its middle cut when over budget."""

    info: JobInfo
    text: str


class Jobs(Protocol):
    """The jobs of one task. A name that is not known is a ToolFailure that says which are."""

    def begin(self, on_end: Callable[[JobInfo], None]) -> None:
        """Tell from now on of every end, once."""

    def list(self) -> tuple[JobInfo, ...]:
        """All that run, and those that ended lately."""

    async def read(self, name: str, wait: float = 0.0) -> JobOutput:
        """What is new; with `wait`, after its end or that many seconds."""

    async def write(self, name: str, text: str) -> JobOutput:
        """Type text into a job that has a terminal, and give what it prints. Raises ToolFailure without one."""

    async def stop(self, name: str) -> None:
        """End it with all its processes."""

    def news(self) -> tuple[JobOutput, ...]:
        """Jobs that ended or printed and whose news was not told yet, each with the end of what it printed."""
