"""Opens the task of `halo -p --input-format stream-json`, and serves it to the end."""

import argparse

from msgspec.structs import replace

from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import JsonObject
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.task_options import choices_of, options_of, workspace_of
from halocline.surfaces.cli.exit_codes import explain_error
from halocline.surfaces.cli.plain.json_results import StreamJson
from halocline.surfaces.cli.session import task_opening
from halocline.surfaces.cli.session.closing import close_client, describe_last, finish_run
from halocline.surfaces.cli.stream_input.session import StreamSession


def serve_stream(arguments: argparse.Namespace, schema: JsonObject | None) -> int:
    """Serve a program over standard input and output. Returns the exit code."""
    _refuse_other_input(arguments)
    view = StreamJson(with_deltas=arguments.include_partial_messages)
    try:
        task_opening.refuse_ephemeral(arguments)
        task_opening.enter_worktree(arguments)
        workspace = workspace_of(arguments.cwd)
        arguments.unattended = True
        client = open_client(choices_of(arguments), "cli", folder=workspace)
        if arguments.resume == "":
            arguments.resume = pickers.task_picker.pick_task(client, workspace)
        if not arguments.trust:
            task_opening.settle_folders(client, arguments, workspace, attended=False)
        return event_loop.run_loop(_run_session(client, arguments, view, schema))
    except (HaloclineError, ExceptionGroup) as error:
        view.fail(explain_error(error))
        raise


async def _run_session(
    client: Client, arguments: argparse.Namespace, view: StreamJson, schema: JsonObject | None
) -> int:
    options = replace(options_of(arguments, attended=False), asks_again=True)
    try:
        task, after = await task_opening.open_task(client, arguments, workspace_of(arguments.cwd), options, view)
        async with task_opening.open_debug_log(arguments, client) as follow:
            if follow:
                follow(task, after)
            code = await StreamSession(client, task, view, schema).run(after)
        last = describe_last(client, task)
    finally:
        await close_client(client)
    finish_run(client, last)
    task_opening.forget_ephemeral(client, arguments, task)
    return code


def _refuse_other_input(arguments: argparse.Namespace) -> None:
    """Raise UsageError for what would come or answer beside the messages on standard input."""
    if arguments.output_format not in (None, "stream-json"):
        raise UsageError("--input-format stream-json needs --output-format stream-json.", "Change it, or leave it out.")
    beside = {"a prompt": arguments.prompt, "--image": arguments.images}
    if given := [name for name, value in beside.items() if value]:
        raise UsageError(f"--input-format stream-json does not go with {given[0]}.", "Send it on standard input.")
