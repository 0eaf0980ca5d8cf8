"""A side question (`/btw`): the model answers it from the conversation, which does not keep it.

What must stay true: the log records what it cost and nothing else of it; it begins like the task's next request, so the
provider's cache serves it; its model is not the task's, so a running turn is not disturbed.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from msgspec.structs import replace

from halocline.ports.model import Model, Request
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import Note, Text, Usage, UserMessage
from halocline.task.task import Task
from halocline.task.within_budget import WithinBudget

ASIDE = (
    "This is a side question. Answer it from what you know so far, as briefly as it allows. You have no tools for it. "
    "It is not part of your task: the conversation goes on as if it had not been asked."
)
NO_ANSWER = "The model gave no answer in words."
ASK_IN_TASK = "If it takes looking something up, ask in the conversation."


async def answer_side_question(
    task: Task, open_model: Callable[[str], Awaitable[Model]], question: str
) -> AsyncGenerator[str, None]:
    """Yield the answer as far as it is written. It grows, unless an attempt broke off: then it starts again.

    Raises UsageError if no model is available, and ModelError.
    """
    model = WithinBudget(await open_model(task.state.model.name), task.governor.spending)
    usage, costs, text, is_answered = Usage(), list[float | None](), "", False
    try:
        async with aclosing(model.stream(_build_request(task, model, question))) as stream:
            async for event in stream:
                match event:
                    case ev.TextDelta(text=more):
                        text += more
                        yield text
                    case ev.StepRetried():
                        text = ""
                        yield text
                    case ev.UsageReported():
                        usage += event.usage
                        costs.append(event.cost)
                    case ev.AssistantMessageCompleted(message=message):
                        text, is_answered = message.text, True
                        yield text
        if not text.strip():
            raise ModelError(ModelErrorKind.EMPTY, NO_ANSWER, ASK_IN_TASK)
    finally:  # usage is recorded however it ended
        if usage.total or is_answered:
            cost = None if None in costs or not costs else sum(filter(None, costs))
            task.emit(ev.SideQuestionAnswered(task.state.model.name, usage, cost))
        await model.close()


def _build_request(task: Task, model: Model, question: str) -> Request:
    """The task's next request with the question behind it. The tools stay for the cache, and no call is carried out."""
    request = task.context.request(task.state, task.toolset)
    asked = UserMessage((Text(task.host.secrets.redact(question)), Note(ASIDE, "side_question")))
    return replace(request, messages=(*request.messages, asked), output_schema=None)
