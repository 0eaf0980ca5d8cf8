"""A model of a program or a plug-in: what it raises is an error of that model, and its cost unknown unless reported."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import AssistantMessageCompleted, UsageReported
from halocline.protocol.messages import Usage

HINT = "Correct the code of the model: halocline.Model says what it yields."


class OwnUsage:
    """Implements `ports.model.Model` with another one, so that limits in US dollars count each of its requests."""

    def __init__(self, model: Model, name: str = "") -> None:
        """`name` is the one by which the task chose it; the model's own if left out."""
        self.model = model
        self.name = name or model.name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        is_reported, last = False, None
        try:
            async with aclosing(self.model.stream(request)) as events:
                async for event in events:
                    _require_valid(event)
                    is_reported = is_reported or isinstance(event, UsageReported)
                    if isinstance(event, AssistantMessageCompleted):
                        last = event
                    else:
                        yield event
        except ModelError:
            raise
        except (Exception, SystemExit) as error:
            text = f"The model {self.name} failed: {type(error).__name__}: {error}"
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, HINT) from error
        if last is None:
            text = f"The model {self.name} ended without an AssistantMessageCompleted."
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, HINT)
        if not is_reported:
            yield UsageReported(usage=Usage(), cost=None)
        yield last

    async def close(self) -> None:
        await self.model.close()


def _require_valid(event: object) -> None:
    """Raise for what is no event of a model, or has a field of another type, which no log could be read with."""
    if not isinstance(event, ModelEvent):
        raise TypeError(f"it yielded {type(event).__name__}, which is no event of a model")
    msgspec.convert(msgspec.to_builtins(event), type(event))
