"""Text tool calls for a model whose server refuses native ones: it is asked in the text protocol from then on."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried

CAUSE = "{error}. From now on, the model is asked to write its calls as text, as with --text-tools"


class TextToolsOnRefusal:
    """Passes on the events of `model`, which changes to the text protocol once its server refuses tools."""

    def __init__(self, model: Model, in_text: Callable[[Model], Model]) -> None:
        self.model = model
        self._in_text = in_text
        self.name = model.name
        self.is_in_text = False

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        while True:
            asked = self.model
            try:
                async with aclosing(asked.stream(request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                is_the_last = self.is_in_text and self.model is asked
                if error.kind is not ModelErrorKind.NO_TOOLS or not request.tools or is_the_last:
                    raise
                cause = CAUSE.format(error=error.text.rstrip("."))
            if self.model is asked:  # another request may have changed it meanwhile
                self.ask_in_text()
            yield StepRetried(attempt=1, wait=0.0, cause=cause, unbilled=True)

    def ask_in_text(self) -> None:
        """Use the text protocol from now on."""
        self.model, self.is_in_text = self._in_text(self.model), True

    async def close(self) -> None:
        await self.model.close()
