"""Limits of a task's loop. They are in its log, so that a replay does not depend on today's settings."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.values import Value


class Limits(Value, frozen=True, omit_defaults=False):
    """`steps` and `seconds` are per turn, `cost` (US dollars) and `tokens` per task. `failures` are consecutive.

    None: no limit. Steps, cost and tokens of a task's sub-agents count as the task's.

    `compacts` turns on automatic compaction; `compacts_at` is the part of the window that triggers it, None: the
    default for the window; `summarizes` asks the model for a summary. `sandbox` is the setting of that name; tool
    descriptions, and so the size of requests, depend on it. With `double_check`, a turn that changed something ends
    only after the model checked it once more. `require_completion`: a turn ends only by attempt_completion.
    `checks_failures`: what failed last stands against a report that the task is done; older logs do not have it.
    `capped` names the limits that the administrator set: no person lets a task continue past them. Defaults are written
    too, because they may change.
    """

    steps: int | None = 200
    cost: float | None = None
    seconds: float | None = None
    failures: int = 3
    compacts: bool = True
    compacts_at: float | None = None
    summarizes: bool = True
    sandbox: str = ""
    double_check: bool = False
    require_completion: bool = False
    checks_failures: bool = False
    tokens: int | None = None
    capped: tuple[str, ...] = ()


class LimitsChanged(Durable, frozen=True):
    """The limits changed: the task was reopened with other settings."""

    limits: Limits


class LimitExtended(Durable, frozen=True):
    """You let the task continue past a limit; its count starts over."""

    limit: str


class RequestReserved(Durable, frozen=True):
    """A request to the model is about to be sent under a limit: what it may take at most is kept for it.

    `cost` is in US dollars; None if the price is unknown.
    """

    request: str
    model: str
    tokens: int
    cost: float | None = None


class RequestSettled(Durable, frozen=True):
    """A request with a reservation ended. `tokens` and `cost` count for it if no one reported what it took."""

    request: str
    tokens: int = 0
    cost: float = 0.0
