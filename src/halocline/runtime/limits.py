"""The limits of a task, out of the settings."""

from halocline.protocol.limits import Limits
from halocline.store.settings.settings import Settings


def chosen_limits(settings: Settings) -> Limits:
    """Return what the settings allow a task that begins or goes on now."""
    return Limits(
        steps=settings.max_steps,
        cost=settings.max_cost,
        seconds=settings.time_limit,
        failures=settings.max_failures,
        compacts=settings.compaction.automatic,
        compacts_at=settings.compaction.at,
        sandbox=settings.sandbox,
    )
