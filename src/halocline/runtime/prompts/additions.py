"""Notes added to a prompt for the model: its environment, a pause, the form of the answer."""

from datetime import datetime
from pathlib import Path

from halocline.context import notes
from halocline.context.system_prompt.environment import environment_note
from halocline.files.folder_mark import read_mark
from halocline.protocol import commands as cmd
from halocline.protocol.events import Noticed
from halocline.protocol.messages import Note
from halocline.protocol.values import JsonObject
from halocline.runtime.open_task import OpenTask
from halocline.runtime.parts.hidden_names import make_name_hider
from halocline.runtime.prompts.expand import require_words
from halocline.task.inbox import Content, Prompt
from halocline.task.task import Task


def build_prompt(opened: OpenTask, content: Content, command: cmd.SubmitPrompt) -> Prompt:
    """Build the prompt for a task; `content` has its slash commands expanded. Raises UsageError if it is empty."""
    require_words(content)
    content = add_notes(opened, content, command.editor, command.output_schema)
    return Prompt(content, command.output_schema, command.turn)


def add_notes(opened: OpenTask, content: Content, editor: cmd.EditorState | None, schema: JsonObject | None) -> Content:
    """Return the content that begins a turn with the notes for the model."""
    task = opened.task
    now = datetime.now().astimezone()
    rested = _note_pause(opened, now.timestamp())
    hides = make_name_hider(task.state, task.home, task.host.permissions.book())
    note = environment_note(task.state, Path(task.state.workspace), now, editor, hides=hides)
    return (
        *content,
        *_note_replaced_folder(opened),
        *filter(None, (note,)),
        *rested,
        *_note_schema(schema),
        *_note_goal(task),
    )


def _note_replaced_folder(opened: OpenTask) -> tuple[Note, ...]:
    """Return a note if another folder took the place of the task's since the last turn began, and tell the person."""
    state, before = opened.task.state, opened.folder_mark
    opened.folder_mark = read_mark(state.workspace) or before
    if before in ("", opened.folder_mark):
        return ()
    opened.task.emit(Noticed(notes.folder.TOLD.format(folder=state.workspace, task=state.task)))
    return (notes.folder.note_replaced(state.workspace),)


def _note_pause(opened: OpenTask, now: float) -> tuple[Note, ...]:
    """Return a note on a long pause before a prompt."""
    left_at, opened.left_at = opened.left_at, 0.0
    if not opened.task.state.messages:
        return ()
    return notes.idle.note_pause(opened.task.state, left_at, now)


def _note_goal(task: Task) -> tuple[Note, ...]:
    """Return a note on an open goal; without one, nothing is loaded."""
    return notes.goal.goal_note(task.state.goal) if task.state.goal.is_open else ()


def _note_schema(schema: JsonObject | None) -> tuple[Note, ...]:
    """Return a note on the form that the answer must have."""
    if schema is None:
        return ()
    return (notes.answer_schema.answer_form(schema),)
