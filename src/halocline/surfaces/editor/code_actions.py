"""Start tasks for the editor's menus and light bulb: explain, fix or improve a part of a file."""

from halocline.client import CODE_ACTIONS, make_code_action
from halocline.protocol import commands as cmd
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.surfaces.web import wire
from halocline.surfaces.web.open_tasks import OpenTasks


class CodeActionRequest(Value, frozen=True):
    """A part of a file, with its text as the editor has it and what the editor says about it. Lines count from 1."""

    name: str
    folder: str
    path: str
    first: int
    last: int
    text: str
    problems: tuple[str, ...] = ()


async def run_code_action(tasks: OpenTasks, given: CodeActionRequest) -> str:
    """Start a task for the action and return its id. Raises UsageError and what `Client.start` does."""
    if given.name not in CODE_ACTIONS:
        raise UsageError(f"There is no action {given.name!r}.", "Update the extension or Halocline.")
    content = make_code_action(given.name, given.path, given.first, given.last, given.text, given.problems)
    task = await tasks.begin(wire.Begin("", given.folder, (), mode=CODE_ACTIONS[given.name].mode))
    await tasks.client.pass_on(cmd.SubmitPrompt(task=task, content=content, verbatim=True))
    return task
