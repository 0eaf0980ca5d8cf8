"""Text tool calls for a model whose server refuses native ones: it is asked in the text protocol from then on."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried

CAUSE = "{error}. From now on it calls tools in its text, as with --text-tools"


class TextToolsOnRefusal:
    """Passes on the events of `model`, which changes to the text protocol once its server refuses tools."""

    def __init__(self, model: Model, in_text: Callable[[Model], Model]) -> None:
        self.model = model
        self._in_text = in_text
        self.name = model.name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        asked = self.model
        try:
            async with aclosing(asked.stream(request)) as events:
                async for event in events:
                    yield event
            return
        except ModelError as error:
            if error.kind is not ModelErrorKind.NO_TOOLS or not request.tools:
                raise
            cause = CAUSE.format(error=error.text.rstrip("."))
        if self.model is asked:  # another request may have changed it meanwhile
            self.model = self._in_text(asked)
        yield StepRetried(attempt=1, wait=0.0, cause=cause)
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        await self.model.close()
