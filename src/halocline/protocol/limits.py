"""The limits that steer a task's loop. They stand in its log, so that a replay does not depend on today's settings."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.values import Value


class Limits(Value, frozen=True, omit_defaults=False):
    """`steps` and `seconds` are per turn, `cost` is US dollars per task, `failures` is in a row. None: no limit.

    `compacts`: a conversation that nearly fills the window is shortened by itself; `compacts_at` is the part of the
    window from which on it does, None: the part that is usual for the window. `sandbox` is that setting: tools are
    described by it, and so it decides what a request takes. Everything is written, also what is at its default, as
    defaults may change.
    """

    steps: int | None = 200
    cost: float | None = None
    seconds: float | None = None
    failures: int = 3
    compacts: bool = True
    compacts_at: float | None = None
    sandbox: str = ""


class LimitsChanged(Durable, frozen=True):
    """Other limits from now on: the task was opened again with other settings."""

    limits: Limits
