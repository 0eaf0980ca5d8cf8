"""Detect a tool call that a model printed as text instead of making it, and tell the model.

The text is never run: the message gets a malformed call, so that the task does not end as if finished, and the call's
result tells the model to make it properly. Markup that is not at the end of the reply counts as a mention. A call in
thoughts that nothing follows was swallowed by the server's parser of reasoning: it is one that was printed, too.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.events import AssistantMessageCompleted
from halocline.protocol.messages import StopReason
from halocline.providers.reply import CALL_ENDINGS, empty_reply, is_answer


class Correcting:
    """Passes on the events of `model`, with printed calls turned into malformed ones."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                yield _correct_reply(event, request) if isinstance(event, AssistantMessageCompleted) else event

    async def close(self) -> None:
        await self._model.close()


def _correct_reply(event: AssistantMessageCompleted, request: Request) -> AssistantMessageCompleted:
    """Correct a reply; only one whose last character could end a call is examined.

    Raises:
        ModelError: the reply is nothing but thoughts.
    """
    message = event.message
    is_silent = not is_answer(message.content) and message.stop_reason is not StopReason.REFUSAL
    if message.tool_calls or not (is_silent or message.text.rstrip().endswith(CALL_ENDINGS)):
        return event
    from halocline.providers.text_tools.leaked_calls import with_printed_call, with_swallowed_call

    if not is_silent:
        return with_printed_call(event, request)
    if (corrected := with_swallowed_call(event, request)) is None:
        raise empty_reply(message.model, message.stop_reason)
    return corrected
