"""Jobs: commands that run in the background of a task."""

from enum import StrEnum

from halocline.protocol.events.durable import Durable
from halocline.protocol.values import Value


class JobState(StrEnum):
    """State of a job. `hot`: it printed recently, or seems to be building something; `idle`: it is quiet."""

    HOT = "hot"
    IDLE = "idle"
    ENDED = "ended"


class JobInfo(Value, frozen=True):
    """One job. `seconds` is its running time, `quiet` the time since its last output, `unread` is in bytes.

    `exit_code` is None while it runs, or if it is unknown. `stopped` says why it was stopped.
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


class JobStarted(Durable, frozen=True):
    """A command continues as a background job. `by` is model, person, or shell (it left child processes)."""

    job: str
    command: str
    call: str
    by: str


class JobEnded(Durable, frozen=True):
    """A job ended. `stopped` says why it was stopped; `exit_code` is None if unknown."""

    job: str
    command: str
    exit_code: int | None = None
    stopped: str = ""
