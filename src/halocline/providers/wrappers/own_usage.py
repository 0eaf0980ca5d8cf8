"""A model of a program or a plug-in: one that says nothing of its usage has an unknown cost, not none."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.events import AssistantMessageCompleted, UsageReported
from halocline.protocol.messages import Usage


class OwnUsage:
    """Implements `ports.model.Model` with another one, so that limits in US dollars count each of its requests."""

    def __init__(self, model: Model, name: str = "") -> None:
        """`name` is the one by which the task chose it; the model's own if left out."""
        self.model = model
        self.name = name or model.name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        is_reported = False
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                is_reported = is_reported or isinstance(event, UsageReported)
                if isinstance(event, AssistantMessageCompleted) and not is_reported:
                    yield UsageReported(usage=Usage(), cost=None)
                yield event

    async def close(self) -> None:
        await self.model.close()
