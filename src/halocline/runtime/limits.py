"""The limits of a task, from the settings."""

from collections.abc import Container

from halocline.protocol.events.limits import Limits
from halocline.store.settings.settings import Settings

CAPS = {
    "max_steps": "steps",
    "max_cost": "cost",
    "token_limit": "tokens",
    "time_limit": "time",
    "max_failures": "failures",
}
"""Settings that limit a task, and what the task calls these limits."""


def chosen_limits(settings: Settings, managed: Container[str] = ()) -> Limits:
    """Return the limits for a task that starts or is resumed now; `managed` has what the administrator set."""
    return Limits(
        steps=settings.max_steps,
        cost=settings.max_cost,
        tokens=settings.token_limit,
        seconds=settings.time_limit,
        failures=settings.max_failures,
        compacts=settings.compaction.automatic,
        compacts_at=settings.compaction.at,
        summarizes=settings.compaction.summary,
        sandbox=settings.sandbox,
        double_check=settings.double_check,
        require_completion=settings.require_completion,
        checks_failures=True,
        capped=tuple(limit for name, limit in CAPS.items() if name in managed),
    )
