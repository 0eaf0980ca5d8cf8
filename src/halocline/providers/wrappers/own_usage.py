"""A model of a program or a plug-in: what it raises is an error of that model.

Its cost is that of the person's prices, or what it reports itself, or unknown.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from msgspec.structs import replace

from halocline import providers
from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError
from halocline.protocol.events import AssistantMessageCompleted, UsageReported
from halocline.protocol.messages import Usage
from halocline.providers.endpoint import Endpoint
from halocline.providers.reply import price_usage


class OwnUsage:
    """Implements `ports.model.Model` with another one, so that limits in US dollars count each of its requests."""

    def __init__(self, model: Model, at: Endpoint, name: str = "") -> None:
        """`at` has what is known about it; `name` is the one by which the task chose it, if it is another."""
        self.model = model
        self.name = name or at.name
        self._at = at

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        is_reported, last = False, None
        try:
            async with aclosing(self.model.stream(request)) as events:
                async for event in events:
                    _require_valid(event)
                    match event:
                        case AssistantMessageCompleted():
                            last = event
                        case UsageReported():
                            is_reported = True
                            yield self._price(event)
                        case _:
                            yield event
        except ModelError:
            raise
        except (Exception, SystemExit) as error:
            reason = f"failed: {type(error).__name__}: {error}"
            raise providers.errors.describe_failure("own_model", who=self.name, reason=reason) from error
        if last is None:
            reason = "ended without an AssistantMessageCompleted."
            raise providers.errors.describe_failure("own_model", who=self.name, reason=reason)
        if not is_reported:
            yield UsageReported(usage=Usage(), cost=None)
        yield last

    def _price(self, event: UsageReported) -> UsageReported:
        """Return what the model reports with the price in force; where it counts no tokens, its own cost stays."""
        cost = price_usage(self._at, event.usage, event.cost) if event.usage.total else event.cost
        return replace(event, cost=cost, window=event.window or self._at.info.window)

    async def close(self) -> None:
        await self.model.close()


def _require_valid(event: object) -> None:
    """Raise for what is no event of a model, or has a field of another type, which no log could be read with."""
    if not isinstance(event, ModelEvent):
        raise TypeError(f"it yielded {type(event).__name__}, which is no event of a model")
    msgspec.convert(msgspec.to_builtins(event), type(event))
