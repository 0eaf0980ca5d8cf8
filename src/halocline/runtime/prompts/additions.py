"""What is said to the model beside a prompt: of its surroundings, a pause, the form of the answer."""

from datetime import datetime
from pathlib import Path

from halocline.context.system_prompt.environment import environment_note
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Note
from halocline.protocol.values import JsonObject
from halocline.runtime.start import OpenTask
from halocline.task.inbox import Content, Prompt


def build_prompt(opened: OpenTask, said: Content, command: cmd.SubmitPrompt) -> Prompt:
    """The prompt as the task takes it up; `said` is its content, with what its words became."""
    task = opened.task
    now = datetime.now().astimezone()
    rested = _note_pause(opened, now.timestamp())
    note = environment_note(task.state, Path(task.state.workspace), now, command.editor)
    notes = (*filter(None, (note,)), *rested, *_note_schema(command.output_schema))
    return Prompt((*said, *notes), command.output_schema)


def _note_pause(opened: OpenTask, now: float) -> tuple[Note, ...]:
    """What is said of a long pause before a prompt."""
    left_at, opened.left_at = opened.left_at, 0.0
    if not opened.task.state.messages:
        return ()
    from halocline.context.notes.idle import note_pause

    return note_pause(opened.task.state, left_at, now)


def _note_schema(schema: JsonObject | None) -> tuple[Note, ...]:
    """What is said of the form of an answer, when it has to have one."""
    if schema is None:
        return ()
    from halocline.context.notes.answer_schema import answer_form

    return (answer_form(schema),)
