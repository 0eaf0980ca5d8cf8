"""Messages that wait in an open task: commands about them become events, and what is due is prepared for the model."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.protocol import commands as cmd
from halocline.protocol.errors import UsageError
from halocline.protocol.events import MessageQueued, MessageWithdrawn, QueuedMessageEdited, QueueReleased
from halocline.protocol.messages import Text
from halocline.protocol.state.message_queue import QueuedMessage
from halocline.runtime import prompts
from halocline.runtime.open_task import OpenTask
from halocline.runtime.prompts.additions import add_notes, build_prompt
from halocline.runtime.prompts.expand import expand_prompt_in_thread, require_words
from halocline.store.tasks.history import find_task
from halocline.task.inbox import Content
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.prompts.command_files import SlashEntries

QueueCommand = cmd.SendQueued | cmd.EditQueued | cmd.WithdrawQueued


def take_prompt(opened: OpenTask, command: cmd.SubmitPrompt) -> None:
    """Start a turn with a prompt, its slash commands expanded, or let it wait. Raises UsageError if it is empty.

    One that comes after other tasks waits for these. Raises TaskNotFound if there is none of such a name.

    A prompt that waits already is sent: another process sends it again when its writer has ended.
    """
    if command.after:
        queue_message(opened.task, replace(command, after=_find_others(opened.task, command.after)))
        watch_waits(opened)
    elif waiting := _find_turn(opened.task, command.turn):
        change_queue(opened.task, cmd.SendQueued(task=command.task, messages=(waiting.id,), client=command.client))
    elif opened.task.inbox.is_idle:
        opened.task.inbox.prompt(build_prompt(opened, command.content, command))
    else:
        queue_message(opened.task, command)


def _find_others(task: Task, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tasks that a prompt waits for. Raises UsageError and TaskNotFound."""
    found = tuple(dict.fromkeys(find_task(task.log.path.parent.parent, name) for name in names))
    if task.state.task in found:
        raise UsageError("A prompt cannot wait for the end of its own task.", "Queue it instead.")
    return found


def queue_message(task: Task, command: cmd.SubmitPrompt | cmd.Steer) -> None:
    """Let a message wait while a turn runs. Raises UsageError if it is empty."""
    require_words(command.content)
    inbox, prompt = task.inbox, command if isinstance(command, cmd.SubmitPrompt) else None
    after_stop = inbox.is_interrupted or bool(prompt and prompt.after_stop)
    queued = MessageQueued(content=command.content, client=command.client, steers=not prompt, after_stop=after_stop)
    if prompt:
        queued = replace(queued, output_schema=prompt.output_schema, turn=prompt.turn, verbatim=prompt.verbatim)
        queued = replace(queued, after=prompt.after)
    task.emit(queued)
    if not prompt:
        inbox.interject(command.client)


def watch_waits(opened: OpenTask) -> None:
    """Send the prompts that wait for other tasks once these have ended well."""
    task = opened.task
    if task.state.queue.waits and (opened.waiting is None or opened.waiting.done()):
        opened.waiting = asyncio.create_task(
            prompts.waits.follow_waits(task, lambda command: change_queue(task, command))
        )
        opened.waiting.add_done_callback(lambda ended: prompts.waits.hold_all(task, ended))


def _find_turn(task: Task, turn: str) -> QueuedMessage | None:
    """Return the waiting prompt of a named turn."""
    return next((one for one in task.state.queue.messages if turn and one.turn == turn), None)


def change_queue(task: Task, command: QueueCommand) -> bool:
    """Apply a command about messages that wait. Return False if one of them waits no more."""
    queue = task.state.queue
    match command:
        case cmd.SendQueued(messages=messages, steer=steer, client=client):
            messages = messages or tuple(one.id for one in queue.held)
            if not messages or not all(map(queue.find, messages)):
                return False
            steers = steer and task.state.turn is not None
            after_stop = task.inbox.is_interrupted
            task.emit(QueueReleased(messages, steers=steers, after_stop=after_stop, client=client))
            if steers:
                task.inbox.interject(client)
            task.inbox.wake()
        case cmd.EditQueued(message=message, text=text, place=place, client=client):
            if (found := queue.find(message)) is None:
                return False
            content = None if text is None else (Text(text), *found.attachments)
            if content:
                require_words(content)
            task.emit(QueuedMessageEdited(message, content, place, client))
        case cmd.WithdrawQueued(message=message, client=client):
            if queue.find(message) is None:
                return False
            task.emit(MessageWithdrawn(message, client))
    return True


def serve_queue(
    opened: OpenTask, words: Callable[[], "SlashEntries"], editor: Callable[[], cmd.EditorState | None]
) -> None:
    """Make the messages of a task ready for the model when they are due: slash commands, and notes on a new turn."""
    task = opened.task

    async def prepare(message: QueuedMessage) -> Content:
        return message.content if message.verbatim else await expand_prompt_in_thread(task, message.content, words)

    watch_waits(opened)
    queue = task.inbox.queue
    queue.prepare = prepare
    queue.begin_turn = lambda content, schema: add_notes(opened, content, editor(), schema)
