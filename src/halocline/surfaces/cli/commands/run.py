"""`halo [prompt]`: start or resume a task as the flags say, and run its conversation."""

import argparse
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from halocline import client
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import HaloclineError, NoModel, UsageError
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject
from halocline.surfaces import cli, event_loop
from halocline.surfaces.cli import plain, session
from halocline.surfaces.cli.args.task_options import choices_of, options_of, workspace_of
from halocline.surfaces.cli.exit_codes import explain_error
from halocline.surfaces.cli.plain.headless import Answer
from halocline.surfaces.cli.session import task_opening
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.cli.session.cut_short import find_first_prompt
from halocline.surfaces.cli.session.following_tasks import follow_switches
from halocline.surfaces.cli.session.prompt_source import prompt_text, take_terminal
from halocline.surfaces.cli.stderr import describe_stopped, print_message
from halocline.surfaces.terminal.view import View

UNTIL_PROMPT = "Make this command pass: `{command}`"


def command(arguments: argparse.Namespace) -> int:
    """`halo [prompt]`, `halo run [prompt]`, and the prompt of a code action."""
    if arguments.until and not arguments.prompt:
        arguments.prompt = [UNTIL_PROMPT.format(command=arguments.until)]
    if arguments.after and not arguments.background:
        raise UsageError("--after goes with --bg.", 'Use: halo run --bg --after ID "what to do"')
    if arguments.best_of or arguments.models is not None:
        return cli.background.best_of.run_attempts(arguments)
    if arguments.merge:
        raise UsageError("--merge goes with --best-of.", 'Use: halo run --best-of 3 --merge best "what to do"')
    if arguments.background:
        return cli.background.hand_over.hand_over_prompt(arguments)
    if arguments.input_format == "stream-json":
        return cli.stream_input.serve.serve_stream(arguments, _schema_of(arguments))
    return _run_prompt(arguments)


def _run_prompt(arguments: argparse.Namespace) -> int:
    is_for_person = arguments.command == "" and is_for_a_person(arguments)
    piped_text = take_terminal(arguments.prompt) if is_for_person else None
    view = _make_view(arguments, attended=is_attended(arguments))
    try:
        task_opening.refuse_ephemeral(arguments)
        task_opening.enter_worktree(arguments)
        workspace = workspace_of(arguments.cwd)
        schema = _schema_of(arguments)
        stays = view.asks and arguments.command != "run"
        resumes = arguments.continue_ or arguments.resume is not None
        if resumes:
            _refuse_another_prompt(arguments)
        prompt, piped = prompt_text(arguments.prompt, needed=not resumes, piped=piped_text)
        piped = (*arguments.along, *piped)
        if not (prompt or stays or resumes or arguments.images):
            raise UsageError("No prompt.", 'Add one: halo "what to do", or pipe it in. See: halo --help')
        if arguments.images:
            arguments.images = session.images.read_images(arguments.images)
        arguments.unattended = not view.asks
        client = open_client(choices_of(arguments), "cli", folder=workspace)
        if client.may_have_background:
            cli.background.cut_short.report_cut_short(client)
        if arguments.resume == "":
            arguments.resume = cli.pickers.task_picker.pick_task(client, workspace, plain=bool(arguments.plain))
        markdown, collapse = client.shows_foreign
        view.show_foreign(markdown=markdown, collapse=collapse)
        if not arguments.trust:
            task_opening.settle_folders(client, arguments, workspace, attended=view.asks)
        if stays and resumes and (busy := _to_join(client, arguments, workspace)):
            from halocline.surfaces.cli.session.join import join_task

            return event_loop.run_loop(join_task(client, busy, view, prompt, piped, arguments.base_url))
        return event_loop.run_loop(
            _run_conversation(client, arguments, workspace, prompt, piped, schema, view, stays=stays)
        )
    except (HaloclineError, ExceptionGroup) as error:
        view.fail(explain_error(error))
        raise


def is_attended(arguments: argparse.Namespace) -> bool:
    """True if a person can be asked."""
    return is_for_a_person(arguments) and plain.questions.on_terminal()


def is_for_a_person(arguments: argparse.Namespace) -> bool:
    """True if the output is not for a program."""
    return arguments.output_format in (None, "text") and not arguments.print


def _schema_of(arguments: argparse.Namespace) -> JsonObject | None:
    """Read the JSON Schema of the answer. Raises UsageError."""
    if arguments.output_schema is None:
        return None
    return client.prompts.read_schema(arguments.output_schema)


def _refuse_another_prompt(arguments: argparse.Namespace) -> None:
    """Raise UsageError when a resumed task should get another system prompt."""
    if arguments.system_prompt_file or arguments.append_system_prompt:
        raise UsageError(
            "A task's system prompt cannot change after it starts.", "Start a new task, or put it in the prompt."
        )


def _to_join(client: Client, arguments: argparse.Namespace, workspace: Path) -> str:
    """Return the task to join: the one to resume, if another process has it open and the person agrees."""
    name = client.find(arguments.resume) if arguments.resume else task_opening.find_newest(client, workspace)
    pid = client.tasks.writer(name)
    if not pid:
        return ""
    if arguments.roots:
        raise UsageError(f"Task {name} is open in process {pid}.", "Add the folder there, with /add-dir.")
    if pid == client.background.pid:
        return name  # it has no other terminal
    return name if plain.questions.ask_yes_no(f"Task {name} is open in another process (pid {pid}). Join it?") else ""


async def _run_conversation(
    client: Client,
    arguments: argparse.Namespace,
    workspace: Path,
    prompt: str,
    piped: tuple[UserPart, ...],
    schema: JsonObject | None,
    view: View,
    *,
    stays: bool,
) -> int:
    options = replace(options_of(arguments, attended=view.asks), asks_again=view.asks and not prompt)
    ended: tuple[str, ...] = ()
    try:
        async with view, task_opening.open_debug_log(arguments, client) as follow:
            opens = partial(task_opening.open_task, client, arguments, workspace, options, view)
            task, after = await _open_with_model(opens, client, view, stays=stays)
            if follow:
                follow(task, after)
            kept = session.piped_input.keep_large_input(client, task, piped) if piped else ()
            along = (*kept, *await _attach_images(client, arguments, task))
            conversation = Conversation(client, task, view, schema, along, stays=stays)
            try:
                first = find_first_prompt(client.state(task), prompt, needed=not (stays or along))
                code = await conversation.run(first, after)
            except UsageError:
                await task_opening.forget_empty(client, task)
                raise
            code, conversation = await follow_switches(conversation, code, client, options, view)
            last, ended = session.closing.describe_last(client, conversation.task), client.running(conversation.task)
    finally:
        await session.closing.close_client(client)
        if ended:
            print_message(describe_stopped(ended))
    session.closing.finish_run(client, last, stays=stays, is_moved=bool(arguments.base_url))
    task_opening.forget_ephemeral(client, arguments, last.name)
    return code


async def _open_with_model(
    opens: Callable[[], Awaitable[tuple[str, int]]], client: Client, view: View, *, stays: bool
) -> tuple[str, int]:
    """Open the task; if there is no model, a person at the screen chooses one first. Raises NoModel."""
    while True:
        try:
            return await opens()
        except NoModel:
            if not (stays and view.draws and await session.first_model.choose_first(client, view)):
                raise


async def _attach_images(client: Client, arguments: argparse.Namespace, task: str) -> tuple[UserPart, ...]:
    """Return the images of `--image`, for the first prompt."""
    if not arguments.images:
        return ()
    try:
        return await session.images.attach_images(client, task, arguments.images)
    except HaloclineError:
        await task_opening.forget_empty(client, task)
        raise


def _make_view(arguments: argparse.Namespace, *, attended: bool) -> View:
    """Choose the view by the flags and the terminal. Raises UsageError."""
    if arguments.include_partial_messages and arguments.output_format != "stream-json":
        raise UsageError("--include-partial-messages needs --output-format stream-json.", "Add it.")
    if arguments.output_format in ("json", "stream-json"):
        is_stream = arguments.output_format == "stream-json"
        views = plain.json_results
        return views.StreamJson(with_deltas=arguments.include_partial_messages) if is_stream else views.Json()
    if arguments.print or (arguments.output_schema is not None and not attended):
        return Answer()
    if attended and arguments.command != "run" and plain.questions.can_draw(plain=bool(arguments.plain)):
        return cli.live.live_mode.LiveMode(getattr(arguments, "frame", None))
    return plain.line_mode.LineMode(attended=attended, aloud=plain.questions.wants_words(arguments.plain))
