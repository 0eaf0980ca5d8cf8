"""Asks the next model when one cannot answer: out of reach, overloaded, or its quota used up.

A model that failed is left alone for a while, so that a task does not wait for it anew at every step.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import cast

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request, Waits
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried

REST = 300.0
"""Seconds for which a model that failed is not asked again, unless all failed."""

_ITS_OWN = frozenset({ModelErrorKind.CONTEXT_EXCEEDED, ModelErrorKind.INVALID_REQUEST, ModelErrorKind.REFUSED})
"""Failures of the request, not of the model's server: another model does not mend them unasked."""


class Fallback:
    """The first of `models`, with the others behind it, in order. They bring their own retries."""

    def __init__(self, models: Sequence[Model], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._models = tuple(models)
        self._clock = clock
        self._rests_until: dict[str, float] = {}

    @property
    def name(self) -> str:
        return self._models[0].name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        models = self._rested()
        for at, model in enumerate(models, start=1):
            asked = request if model is self._models[0] else replace(request, model=model.name)
            try:
                # Models are async generators: only those promise to close what is left early.
                stream = cast(AsyncGenerator[ModelEvent, None], model.stream(asked))
                async with aclosing(stream) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                if at == len(models) or error.kind in _ITS_OWN:
                    raise
                self._rests_until[model.name] = self._clock() + REST
                cause = error.text
            yield StepRetried(attempt=at, wait=0.0, cause=cause, model=models[at].name)

    def ask_now(self) -> bool:
        """Whichever waits."""
        return any(model.ask_now() for model in self._models if isinstance(model, Waits))

    async def close(self) -> None:
        for model in self._models:
            await model.close()

    def _rested(self) -> Sequence[Model]:
        """Those that did not fail lately, in order; all when every one did."""
        now = self._clock()
        rested = [model for model in self._models if self._rests_until.get(model.name, now) <= now]
        return rested or self._models
