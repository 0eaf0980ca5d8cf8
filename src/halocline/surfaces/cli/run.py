"""One conversation on the command line: events in, rows out; keys in, commands out."""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path

from halocline.controller.assembly import Choices
from halocline.controller.client import Client, open_client
from halocline.controller.controller import TaskOptions
from halocline.protocol import commands as cmd
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import StopReason, Text
from halocline.surfaces.cli.arguments import prompt_text
from halocline.surfaces.cli.exit_codes import ExitCode, of_state
from halocline.surfaces.cli.output import View, make_view

CLOSING_TIME = 5.0
"""Seconds that a quitting program waits for its tasks to write their ends."""
CARRY_ON = "Go on where you were interrupted."


def command(arguments: argparse.Namespace) -> int:
    """`halo [prompt]` and `halo run [prompt]`."""
    workspace = workspace_of(arguments.cwd)
    prompt = prompt_text(arguments.prompt)
    attended = arguments.output_format in (None, "text") and not arguments.print and on_terminal()
    stays = attended and arguments.command == ""
    if not prompt and not stays and not (arguments.continue_ or arguments.resume):
        raise UsageError("There is no prompt.", 'Give one: halo "what to do", or pipe it in. See: halo --help')
    return asyncio.run(_run(arguments, workspace, prompt, attended=attended, stays=stays))


def workspace_of(text: str) -> Path:
    """The folder to work in. Raises UsageError when it is none, or cannot be read."""
    path = Path(text).expanduser().resolve()
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder.", "Name an existing one with -C DIR.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise UsageError(f"The folder {path} cannot be read.", "Check its permissions, or name another with -C DIR.")
    return path


def choices_of(arguments: argparse.Namespace) -> Choices:
    """What the flags say about the model and the limits."""
    return Choices(
        base_url=arguments.base_url,
        api_key=arguments.api_key,
        max_steps=arguments.max_steps,
        max_cost=arguments.max_cost,
        time_limit=arguments.time_limit,
    )


def options_of(arguments: argparse.Namespace, *, attended: bool) -> TaskOptions:
    """What the flags say about the task. `--approval-mode plan` is plan mode."""
    approval = "yolo" if arguments.yolo else arguments.approval_mode
    mode = "plan" if approval == "plan" else arguments.mode
    return TaskOptions(
        model=arguments.model,
        mode=ev.Mode(mode) if mode else None,
        approval_mode=ev.ApprovalMode(approval) if approval not in (None, "plan") else None,
        attended=attended,
    )


async def _run(arguments: argparse.Namespace, workspace: Path, prompt: str, *, attended: bool, stays: bool) -> int:
    client = open_client(choices_of(arguments))
    options = options_of(arguments, attended=attended)
    try:
        task = await _open(client, arguments, workspace, options)
        async with make_view(arguments, client, attended=attended) as view:
            return await converse(client, task, view, _first_prompt(client, task, prompt), stays=stays)
    finally:
        await asyncio.wait_for(client.close(), CLOSING_TIME)


async def _open(client: Client, arguments: argparse.Namespace, workspace: Path, options: TaskOptions) -> str:
    if arguments.resume:
        return await client.resume(arguments.resume, options)
    if not arguments.continue_:
        return await client.start(workspace, options)
    newest = next((info.task for info in client.history() if info.workspace == str(workspace)), None)
    if newest is None:
        raise UsageError(f"There is no task of {workspace} to go on with.", 'Begin one: halo "what to do"')
    return await client.resume(newest, options)


def _first_prompt(client: Client, task: str, prompt: str) -> str:
    """The prompt that was given; a task that was cut short can go on without one."""
    last = client.state(task).last_end
    if not prompt and last is not None and last.reason in (StopReason.CANCELLED, StopReason.ERROR):
        return CARRY_ON
    return prompt


async def converse(client: Client, task: str, view: View, prompt: str, *, stays: bool) -> int:
    """Serve prompts until one turn is over, or, when it `stays`, until the person leaves."""
    conversation = Conversation(client, task, view, stays=stays)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, conversation.on_signal, number)
    try:
        return await conversation.run(prompt)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


class Conversation:
    """The loop between a person and a task."""

    def __init__(self, client: Client, task: str, view: View, *, stays: bool) -> None:
        self._client = client
        self._task = task
        self._view = view
        self._stays = stays
        self._running = False
        self._interrupted = False
        self._waiting: asyncio.Task[None] | None = None
        self._main = asyncio.current_task()
        self._quit = False

    async def run(self, prompt: str) -> int:
        started = time.monotonic()
        try:
            await self._serve(prompt)
        except asyncio.CancelledError:
            if not self._quit:
                raise
            return ExitCode.INTERRUPTED
        state = self._client.state(self._task)
        code = of_state(state) if state.last_end else ExitCode.FINISHED
        self._view.result(state, time.monotonic() - started)
        return code

    async def _serve(self, prompt: str) -> None:
        state = self._client.state(self._task)
        events = self._client.events(self._task, after=state.seq if state.messages else 0)
        if not await self._submit(prompt):
            return
        async for event in events:
            self._view.show(event)
            match event:
                case ev.ApprovalRequested() if self._view.asks:
                    await self._wait_for(self._decide(event))
                case ev.QuestionAsked() if self._view.asks:
                    await self._wait_for(self._answer(event))
                case ev.TurnEnded():
                    self._running = self._interrupted = False
                    if not self._stays or not await self._submit(""):
                        return

    async def _submit(self, prompt: str) -> bool:
        """Hand a prompt to the task, asking for one when there is none. False when the person leaves."""
        text = prompt or (await self._view.compose() if self._stays else None)
        if not text:
            return False
        self._running = True
        self._client.send(cmd.SubmitPrompt(task=self._task, content=(Text(text),)))
        return True

    async def _wait_for(self, asking: Coroutine[None, None, None]) -> None:
        """Wait for the person, unless the turn is interrupted meanwhile."""
        self._waiting = asyncio.create_task(asking)
        with suppress(asyncio.CancelledError):
            await self._waiting
        self._waiting = None

    async def _decide(self, event: ev.ApprovalRequested) -> None:
        decision = await self._view.ask_approval(event)
        command = cmd.ResolveApproval(
            task=self._task,
            request=event.request,
            decision=decision.choice,
            note=decision.note,
            arguments=decision.arguments,
        )
        self._client.send(command)
        if decision.stop:
            self._client.send(cmd.Interrupt(task=self._task))

    async def _answer(self, event: ev.QuestionAsked) -> None:
        answer = await self._view.ask_question(event)
        if answer is None:
            self._client.send(cmd.Interrupt(task=self._task))
            return
        self._client.send(cmd.AnswerQuestion(task=self._task, request=event.request, answer=answer))

    def on_signal(self, number: int) -> None:
        """The first Ctrl-C ends the turn; the second one, or any other signal, quits."""
        if number == signal.SIGINT and self._running and not self._interrupted:
            self._interrupted = True
            self._client.send(cmd.Interrupt(task=self._task))
            if self._waiting is not None:
                self._waiting.cancel()
            return
        self._quit = True
        if self._main is not None:
            self._main.cancel()


def on_terminal() -> bool:
    """A person sits in front of both ends."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
