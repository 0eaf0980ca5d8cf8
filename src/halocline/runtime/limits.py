"""The limits of a task, from the settings."""

from halocline.protocol.events.limits import Limits
from halocline.store.settings.settings import Settings


def chosen_limits(settings: Settings) -> Limits:
    """Return the limits for a task that starts or is resumed now."""
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
    )
