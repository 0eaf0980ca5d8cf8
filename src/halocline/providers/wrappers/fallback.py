"""Ask the next model when one is unreachable, overloaded or out of quota.

A model that failed is skipped for a while, so that a task does not wait for it again at every step.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request, Waits
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried

REST = 300.0
"""Least seconds for which a failed model is skipped, unless all failed."""

_ITS_OWN = frozenset(
    {
        ModelErrorKind.CONTEXT_EXCEEDED,
        ModelErrorKind.INVALID_REQUEST,
        ModelErrorKind.PICTURE,
        ModelErrorKind.REFUSED,
        ModelErrorKind.OVER_BUDGET,
    }
)
"""Failures of the request itself; they do not trigger a fallback."""


class Fallback:
    """The first of `models`, with the others as fallbacks, in order. Each does its own retries."""

    def __init__(self, models: Sequence[Model], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._models = tuple(models)
        self.name = self._models[0].name
        self._clock = clock
        self._rests_until: dict[str, float] = {}

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        models = self._available_models()
        if models[0] is not self._models[0]:  # said, as another price counts
            cause = f"{self.name} failed a moment ago."
            yield StepRetried(attempt=1, wait=0.0, cause=cause, model=models[0].name, unbilled=True)
        for at, model in enumerate(models, start=1):
            asked = request if model is self._models[0] else replace(request, model=model.name)
            try:
                async with aclosing(model.stream(asked)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                if at == len(models) or error.kind in _ITS_OWN:
                    raise
                self._rests_until[model.name] = self._clock() + max(REST, error.retry_after or 0.0)
                cause, unbilled = error.text, error.is_unbilled
            yield StepRetried(attempt=at, wait=0.0, cause=cause, model=models[at].name, unbilled=unbilled)

    def ask_now(self) -> bool:
        """End the wait of any model that is waiting."""
        return any(model.ask_now() for model in self._models if isinstance(model, Waits))

    async def close(self) -> None:
        for model in self._models:
            await model.close()

    def _available_models(self) -> Sequence[Model]:
        """The models that did not fail lately, in order; all of them if every one did."""
        now = self._clock()
        rested = [model for model in self._models if self._rests_until.get(model.name, now) <= now]
        return rested or self._models
