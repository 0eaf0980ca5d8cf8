"""`halo [prompt]`: start or resume a task as the flags say, and run its conversation."""

import argparse
import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.client import Client, TaskOptions, open_client
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.messages import StopReason, UserPart
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.surfaces import event_loop
from halocline.surfaces.cli import live, session
from halocline.surfaces.cli.args.parser import PICK
from halocline.surfaces.cli.args.run import APPROVALS
from halocline.surfaces.cli.args.task_options import choices_of, options_of, workspace_of
from halocline.surfaces.cli.exit_codes import explain_error
from halocline.surfaces.cli.input.plain_questions import ask_yes_no, on_terminal
from halocline.surfaces.cli.output.headless import Answer, Json, StreamJson
from halocline.surfaces.cli.output.view import Foreign, View
from halocline.surfaces.cli.session.closing import close_client, describe_last, finish_run
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.cli.session.following_tasks import follow_switches
from halocline.surfaces.cli.session.images import attach_images, read_images
from halocline.surfaces.cli.session.prompt_source import prompt_text
from halocline.surfaces.cli.stderr import describe_stopped, print_message
from halocline.surfaces.sanitize import clean

if TYPE_CHECKING:
    from halocline.surfaces.cli.input.approver import Approver

CUT_SHORT = (StopReason.CANCELLED, StopReason.ERROR, StopReason.MAX_TURN_REQUESTS, StopReason.MAX_TOKENS)
"""Ends of a turn after which a task can continue without a prompt."""
CARRY_ON = "Continue where you left off."


def command(arguments: argparse.Namespace) -> int:
    """`halo [prompt]`, `halo run [prompt]`, and the prompt of a code action."""
    view = _make_view(arguments, attended=is_attended(arguments))
    folder = arguments.approvals or ("" if view.asks else os.environ.get(APPROVALS, ""))
    try:
        workspace = workspace_of(arguments.cwd)
        schema = _schema_of(arguments)
        stays = view.asks and arguments.command != "run"
        resumes = arguments.continue_ or bool(arguments.resume)
        if resumes:
            _refuse_another_prompt(arguments)
        prompt, piped = prompt_text(arguments.prompt, needed=not resumes)
        piped = (*arguments.along, *piped)
        if not (prompt or stays or resumes):
            raise UsageError("No prompt.", 'Add one: halo "what to do", or pipe it in. See: halo --help')
        if arguments.images:
            arguments.images = read_images(arguments.images)
        arguments.unattended = not view.asks
        client = open_client(choices_of(arguments), "approver" if folder else "cli")
        if arguments.resume == PICK:
            arguments.resume = session.task_picker.pick_task(client, str(workspace))
        approver = open_approver(client, folder) if folder else None
        view.show_foreign(Foreign(*client.shows_foreign))
        if not (stays or resumes) and prompt.lstrip().startswith("/"):
            _check_word(client, workspace, prompt, attended=view.asks)
        if not arguments.trust:
            _settle_trust(client, arguments, workspace, attended=view.asks)
        if stays and resumes and (busy := _to_join(client, arguments, workspace)):
            from halocline.surfaces.cli.session.join import join_task

            return event_loop.run_loop(join_task(client, busy, view, prompt, piped))
        return event_loop.run_loop(
            _run_conversation(client, arguments, workspace, prompt, piped, schema, view, approver, stays=stays)
        )
    except (HaloclineError, ExceptionGroup) as error:
        view.fail(explain_error(error))
        raise


def is_attended(arguments: argparse.Namespace) -> bool:
    """True if a person can be asked."""
    by_person = not (arguments.print or arguments.approvals)
    return arguments.output_format in (None, "text") and by_person and on_terminal()


def can_draw(*, screen_reader: bool) -> bool:
    """True if the terminal can show the live screen and the person wants it."""
    return not screen_reader and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


def open_approver(client: Client, folder: str) -> "Approver":
    """Open the approval folder. Raises UsageError."""
    from halocline.client import ApprovalFolder
    from halocline.surfaces.cli.input.approver import Approver

    return Approver(ApprovalFolder.open(client.home, folder))


def _schema_of(arguments: argparse.Namespace) -> JsonObject | None:
    """Read the JSON Schema of the answer. Raises UsageError."""
    if arguments.output_schema is None:
        return None
    from halocline.client import read_schema

    return read_schema(arguments.output_schema)


def _refuse_another_prompt(arguments: argparse.Namespace) -> None:
    """Raise UsageError when a resumed task should get another system prompt."""
    if arguments.system_prompt_file or arguments.append_system_prompt:
        raise UsageError(
            "A task's system prompt cannot change after it starts.", "Start a new task, or put it in the prompt."
        )


def _check_word(client: Client, workspace: Path, prompt: str, *, attended: bool) -> None:
    """Raise UsageError for an unknown slash command before a task is created."""
    from halocline.client import SlashPlace

    client.words(workspace).check(prompt, SlashPlace.TERMINAL if attended else SlashPlace.RUN)


def _settle_trust(client: Client, arguments: argparse.Namespace, workspace: Path, *, attended: bool) -> None:
    """Ask about trust before an event loop runs, as the loop would catch Ctrl-C."""
    info = None
    if arguments.resume:
        info = client.tasks.info(client.find(arguments.resume))
    elif arguments.continue_:
        info = client.tasks.newest(workspace)
    workspace = Path(info.workspace) if info else workspace
    known = info.roots if info else None
    for problem in client.rule_problems(workspace):
        print_message(f"{clean(problem)} Until you fix it, every call needs approval.")
    if asked := client.with_code(workspace, options_of(arguments, attended=attended).roots, known):
        from halocline.surfaces.cli.commands.trust import settle_trust

        for folder in asked:
            settle_trust(client, folder, attended=attended)


def _to_join(client: Client, arguments: argparse.Namespace, workspace: Path) -> str:
    """Return the task to join: the one to resume, if another process has it open and the person agrees."""
    name = client.find(arguments.resume) if arguments.resume else _newest_task(client, workspace)
    pid = client.tasks.writer(name)
    if not pid:
        return ""
    if arguments.roots:
        raise UsageError(f"Task {name} is open in process {pid}.", "Add the folder there, with /add-dir.")
    return name if ask_yes_no(f"Task {name} is open in another process (pid {pid}). Join it?") else ""


async def _run_conversation(
    client: Client,
    arguments: argparse.Namespace,
    workspace: Path,
    prompt: str,
    piped: tuple[UserPart, ...],
    schema: JsonObject | None,
    view: View,
    approver: "Approver | None",
    *,
    stays: bool,
) -> int:
    can_ask = view.asks or approver is not None
    options = replace(options_of(arguments, attended=can_ask), asks_again=can_ask and not prompt)
    ended: tuple[str, ...] = ()
    try:
        async with view, approver or nullcontext():
            task, after = await _open_task(client, arguments, workspace, options, view)
            along = (*piped, *await _attach_images(client, arguments, task, view))
            conversation = Conversation(client, task, view, schema, along, stays=stays, approver=approver)
            try:
                conversation.attend()
                code = await conversation.run(_first_prompt(client.state(task), prompt, stays=stays), after)
            except UsageError:
                await _forget_empty(client, task)
                raise
            code, task = await follow_switches(conversation, code, client, options, view)
            last, ended = describe_last(client, task), client.running(task)
    finally:
        await close_client(client)
        if ended:
            print_message(describe_stopped(ended))
    finish_run(client, last, stays=stays)
    return code


async def _attach_images(client: Client, arguments: argparse.Namespace, task: str, view: View) -> tuple[UserPart, ...]:
    """Return the images of `--image`, for the first prompt."""
    if not arguments.images:
        return ()
    try:
        return await attach_images(client, task, arguments.images, view)
    except HaloclineError:
        await _forget_empty(client, task)
        raise


async def _forget_empty(client: Client, task: str) -> None:
    """Delete a task that was created for a prompt that failed."""
    if client.state(task).is_empty:
        await client.let_go(task)
        client.tasks.forget(task)


async def _open_task(
    client: Client, arguments: argparse.Namespace, workspace: Path, options: TaskOptions, view: View
) -> tuple[str, int]:
    """Return the task and the number of the last event before this run."""
    name = client.find(arguments.resume) if arguments.resume else ""
    if arguments.continue_ and not name:
        name = _newest_task(client, workspace)
    if not name:
        name = await client.start(workspace, options)
        for remark in client.remarks(name):
            view.show(ev.Noticed(remark))
        return name, 0
    past = client.past(name)
    _require_folder(past)
    task = await client.resume(name, options)
    view.recall(past)
    place = client.state(task).workspace
    workspace_of(place)
    if place != str(workspace):
        view.show(ev.Noticed(f"This task works in its own folder: {place}"))
    return task, past[-1].seq if past else 0


def _require_folder(past: Sequence[ev.DurableEvent]) -> None:
    """Raise UsageError when the task's folder does not exist."""
    match past:
        case [ev.TaskStarted(workspace=place, origin=origin, task=task), *later] if not Path(place).is_dir():
            if origin and not any(isinstance(event, ev.TaskAdopted) for event in later):
                hint = f"Import it for another folder: halo import {origin.tool} {origin.id} --workspace DIR"
            else:
                hint = "Restore the folder, then resume the task."
            raise UsageError(f"The folder of task {task} does not exist: {place}", hint)


def _newest_task(client: Client, workspace: Path) -> str:
    if info := client.tasks.newest(workspace):
        return info.task
    raise UsageError(f"No task to resume in {workspace}.", 'Start one: halo "what to do"')


def _first_prompt(state: State, prompt: str, *, stays: bool) -> str:
    """Return the first prompt; a task that was cut short or has an open turn needs none. Raises UsageError."""
    if prompt or state.turn is not None:
        return prompt
    if state.last_end is not None and state.last_end.reason in CUT_SHORT:
        return CARRY_ON
    if not stays:
        raise UsageError(
            f"Task {state.task} is finished and needs a prompt.", f'Use: halo -r {state.task} "what to do"'
        )
    return ""


def _make_view(arguments: argparse.Namespace, *, attended: bool) -> View:
    """Choose the view by the flags and the terminal."""
    match arguments.output_format:
        case "json":
            return Json()
        case "stream-json":
            return StreamJson()
    if arguments.print or (arguments.output_schema is not None and not attended):
        return Answer()
    if attended and arguments.command != "run" and can_draw(screen_reader=arguments.screen_reader):
        return live.live_mode.LiveMode()
    from halocline.surfaces.cli.output.line_mode import LineMode

    return LineMode(attended=attended)
