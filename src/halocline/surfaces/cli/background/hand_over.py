"""`--bg`: hand a prompt over to the process that runs tasks without a terminal, and return at once."""

import argparse
import os

from msgspec.structs import replace

from halocline.client.background import StartRequest, pack_environment
from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import CARRY_ON
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.options import parse_path
from halocline.surfaces.cli.args.task_options import choices_of, options_of, workspace_of
from halocline.surfaces.cli.background.cut_short import describe_cut_short, report_cut_short
from halocline.surfaces.cli.plain.questions import on_terminal
from halocline.surfaces.cli.session import task_opening
from halocline.surfaces.cli.session.cut_short import find_first_prompt
from halocline.surfaces.cli.session.prompt_source import prompt_text
from halocline.surfaces.cli.stderr import print_message, print_raw

_NOT_WITH = {
    "print": "Its answer: halo logs ID",
    "output_format": "Its events: halo export ID -f jsonl",
    "output_schema": "",
    "images": "Mention the image in the prompt: @shot.png",
    "ephemeral": "",
    "debug": "",
    "record": "",
    "mcp_config": "Add the server to the settings: halo mcp add",
}
"""Options that need this terminal, each with what to do instead."""


def hand_over_prompt(arguments: argparse.Namespace) -> int:
    """Run the prompt of the command line in the background. Raises HaloclineError."""
    for option, hint in _NOT_WITH.items():
        if getattr(arguments, option):
            raise UsageError(f"--{option.replace('_', '-')} does not go with --bg.", hint)
    if arguments.input_format == "stream-json":
        raise UsageError("--input-format stream-json does not go with --bg.", "")
    task_opening.enter_worktree(arguments)
    workspace = workspace_of(arguments.cwd)
    resumes = arguments.continue_ or arguments.resume is not None
    prompt, piped = prompt_text(arguments.prompt, needed=not resumes)
    if not (prompt or resumes):
        raise UsageError("No prompt.", 'Add one: halo run --bg "what to do"')
    client = open_client(choices_of(arguments), "cli", folder=workspace)
    report_cut_short(client)
    after = _find_others(client, arguments, resumes=resumes)
    if arguments.resume == "":
        arguments.resume = pickers.task_picker.pick_task(client, workspace, plain=bool(arguments.plain))
    task = _find_task(client, arguments) if resumes else ""
    if not arguments.trust:
        task_opening.settle_folders(client, arguments, workspace, attended=on_terminal())
    prompt = _check_resumed(client, task, prompt) if task else prompt
    content = (*map(Text, filter(None, (prompt,))), *arguments.along, *piped)
    task = _send(client, arguments, task, str(workspace), content, after)
    print_raw(task)
    does = f"waits for {', '.join(after)}" if after else "runs"
    print_message(
        f"Task {task} {does} in the background (process {client.background.pid}).",
        f"Watch: halo logs -f {task} · take part: halo attach {task} · stop: halo stop {task}",
    )
    return 0


def _find_others(client: Client, arguments: argparse.Namespace, *, resumes: bool) -> tuple[str, ...]:
    """Return the tasks that the prompt waits for. None waits for a new one, so there is no cycle. Raises UsageError."""
    if arguments.after and resumes:
        raise UsageError("--after is for new tasks.", 'Start one: halo run --bg --after ID "what to do"')
    found = (client.find(name) for name in arguments.after)
    return tuple(dict.fromkeys(found))


def _find_task(client: Client, arguments: argparse.Namespace) -> str:
    """Return the task to resume. Raises UsageError for options of new ones."""
    if arguments.session_id or arguments.worktree is not None:
        raise UsageError("--session-id and --worktree are for new tasks.", "Leave out -c and -r, or them.")
    if arguments.system_prompt_file or arguments.append_system_prompt:
        raise UsageError("A task's system prompt cannot change after it starts.", "Start a new task.")
    if arguments.resume:
        return client.find(arguments.resume)
    return task_opening.find_newest(client, workspace_of(arguments.cwd))


def _check_resumed(client: Client, task: str, prompt: str) -> str:
    """Return the prompt of a resumed task; empty if it continues with what it asked. Raises UsageError."""
    if pid := client.tasks.writer(task):
        raise UsageError(f"Task {task} runs in process {pid}.", f'Send it a message: halo send {task} "…"')
    past = client.past(task)
    task_opening.require_folder(client, task, past)
    state = fold_events(past)
    if not prompt and state.queue.waits:
        return ""
    if not prompt and state.turn is not None and not state.is_asking:
        return CARRY_ON
    return find_first_prompt(state, prompt, needed=True)


def _without_relative_paths(choices: Choices) -> Choices:
    """Return the choices with paths that name the same files in the process, which is in another folder."""
    file, folders = choices.ca_file, choices.hook_folders
    return replace(
        choices,
        ca_file=file and parse_path(file),
        hook_folders=folders and tuple(map(parse_path, folders)),
    )


def _send(
    client: Client,
    arguments: argparse.Namespace,
    task: str,
    workspace: str,
    content: tuple[UserPart, ...],
    after: tuple[str, ...],
) -> str:
    """Hand the request over; return the task. Raises HaloclineError."""
    if arguments.session_id:
        client.tasks.check_new_id(arguments.session_id)
    choices = _without_relative_paths(choices_of(arguments))
    request = StartRequest(
        task=task or arguments.session_id or client.background.new_id(),
        folder=workspace,
        content=content,
        choices=replace(choices, api_key=None),
        options=options_of(arguments, attended=True),
        environment=pack_environment(os.environ, client.home),
        api_key=choices.api_key.reveal() if choices.api_key else "",
        name=arguments.name,
        resumes=bool(task),
        after=after,
    )
    if cut := event_loop.run_loop(client.background.hand_over(request)):
        print_message(*describe_cut_short(cut))
    return request.task
