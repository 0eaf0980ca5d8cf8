"""Notices a model that printed a tool call as text instead of making it, and lets it hear so.

The text is never run: the message gets a call that is malformed, so the task does not end as if it were finished, and
the call's result tells the model to make it properly. A markup that the reply does not end with is only talked about.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.events import AssistantMessageCompleted

_ENDINGS = (">", "`", "]", "}")


class Correcting:
    """A model that passes on what `model` says."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        # Models are async generators: only those promise to close what is left early.
        asked = cast(AsyncGenerator[ModelEvent, None], self._model.stream(request))
        async with aclosing(asked) as events:
            async for event in events:
                yield _correct_reply(event, request) if isinstance(event, AssistantMessageCompleted) else event

    async def close(self) -> None:
        await self._model.close()


def _correct_reply(event: AssistantMessageCompleted, request: Request) -> AssistantMessageCompleted:
    """Only a reply whose last character could end a call pays for a closer look."""
    message = event.message
    if message.tool_calls or not message.text.rstrip().endswith(_ENDINGS):
        return event
    from halocline.providers.text_tools.leaked_calls import with_printed_call

    return with_printed_call(event, request)
