"""What is said to the model beside a prompt: of its surroundings, a pause, a wanted tool, the form of the answer."""

from datetime import datetime
from pathlib import Path

from halocline.context.environment import environment
from halocline.controller.opening import OpenTask, offer
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Note
from halocline.protocol.values import JsonObject
from halocline.task.inbox import Prompt
from halocline.task.task import Task


def prompt(opened: OpenTask, command: cmd.SubmitPrompt) -> Prompt:
    """The prompt as the task takes it up."""
    task = opened.task
    now = datetime.now().astimezone()
    rested = _rested(opened, now.timestamp())
    note = environment(task.state, Path(task.state.workspace), now, command.editor)
    notes = (*filter(None, (note,)), *rested, *_wanted(task, command.tool), *_form(command.output_schema))
    return Prompt((*command.content, *notes), command.output_schema)


def _rested(opened: OpenTask, now: float) -> tuple[Note, ...]:
    """What is said of a long pause before a prompt."""
    left_at, opened.left_at = opened.left_at, 0.0
    if not opened.task.state.messages:
        return ()
    from halocline.context.pause import pause

    return pause(opened.task.state, left_at, now)


def _wanted(task: Task, tool: str) -> tuple[Note, ...]:
    """Offer the tool that a person asks for, and say so to the model."""
    if not tool:
        return ()
    from halocline.context.tool_requests import tool_request

    offer(task, task.state.offered | {tool})
    return (tool_request(tool),)


def _form(schema: JsonObject | None) -> tuple[Note, ...]:
    """What is said of the form of an answer, when it has to have one."""
    if schema is None:
        return ()
    from halocline.context.answer_form import answer_form

    return (answer_form(schema),)
