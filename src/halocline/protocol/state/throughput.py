"""The speed of a model: tokens per second of one request, from the times that the log has."""

from halocline.protocol.events.steps import StepStarted, UsageReported

FEWEST = 2
"""Tokens below which a speed says nothing."""
SHORTEST = 0.05
"""Seconds below which a reply came at once, as from a cache or a script."""


def tokens_per_second(step: StepStarted, reported: UsageReported) -> float | None:
    """Return the output tokens of a request per second, from the first one on; None if that cannot be told.

    Times before the first token do not count. Of a request that was tried again, the log has the time of the first
    attempt only, so its speed is no more than a lower bound.
    """
    seconds = reported.at - step.at - (reported.first_token or 0.0)
    if not step.at or reported.first_token is None or seconds < SHORTEST or reported.usage.output < FEWEST:
        return None
    return round(reported.usage.output / seconds, 1)
