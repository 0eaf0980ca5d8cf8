"""`halo run --best-of N`: the same prompt in several worktrees, judged side by side; one is merged, the others stay.

Each attempt is an ordinary task. Nothing here decides what it may do: this starts them, waits, compares and merges.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.client.worktrees import WorktreeService
from halocline.protocol import commands as cmd, events as ev, json_output
from halocline.protocol.errors import HaloclineError, NotWhole, UsageError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.surfaces import event_loop, worktree_text
from halocline.surfaces.cli import session
from halocline.surfaces.cli.args.task_options import choices_of, options_of, workspace_of
from halocline.surfaces.cli.exit_codes import ExitCode, of_state
from halocline.surfaces.cli.plain.json_results import Result
from halocline.surfaces.cli.plain.questions import on_terminal, pick_option
from halocline.surfaces.cli.session import task_opening
from halocline.surfaces.cli.session.closing import close_client
from halocline.surfaces.cli.session.prompt_source import prompt_text
from halocline.surfaces.cli.session.signals import handle_signals
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.figures import format_duration, format_known_cost, model_name
from halocline.surfaces.rows.words import describe_check
from halocline.surfaces.sanitize import clean

MOST = 8
_NOT_WITH = {
    "continue_": "--continue",
    "resume": "--resume",
    "worktree": "--worktree",
    "background": "--bg",
    "after": "--after",
    "session_id": "--session-id",
    "name": "--name",
    "ephemeral": "--ephemeral",
    "output_schema": "--output-schema",
    "images": "--image",
    "debug": "--debug",
    "record": "--record",
}
"""Options of one task, each with its flag."""
_STREAMS = {"input_format": "--input-format", "output_format": "--output-format"}
_HEAD = ("", "model", "end", "goal", "files", "lines", "cost", "time", "task", "worktree")
NONE = "none"


class Attempt(Value, frozen=True):
    """One attempt: its worktree, and its task once that has ended."""

    name: str
    folder: Path
    model: str | None
    state: State = State()
    seconds: float = 0.0
    files: int = 0
    added: int = 0
    removed: int = 0
    problem: str = ""
    """Why its changes are not known."""

    @property
    def code(self) -> ExitCode:
        return of_state(self.state)

    @property
    def is_good(self) -> bool:
        """True if it came to its end and, where there is a goal, met it."""
        return self.code is ExitCode.FINISHED and not (self.state.goal.is_open or self.problem)

    @property
    def rank(self) -> tuple[bool, bool, bool, int, int]:
        """Order of the attempts: those that are good, then those that changed anything, then the smallest change.

        One whose changes are not known is the last.
        """
        is_idle = not self.files and not self.state.goal.is_set
        return (bool(self.problem), not self.is_good, is_idle, self.added + self.removed, self.files)


def run_attempts(arguments: argparse.Namespace) -> int:
    """Run the attempts, show them side by side, and merge one. Raises UsageError."""
    _refuse_options(arguments)
    workspace, models = workspace_of(arguments.cwd), _assign_models(arguments)
    prompt, piped = prompt_text(arguments.prompt, needed=True)
    if not prompt:
        raise UsageError("No prompt.", 'Add one: halo run --best-of 3 "what to do"')
    arguments.unattended = True
    client = open_client(_share(choices_of(arguments), len(models)), "cli", folder=workspace)
    content, service = (Text(prompt), *arguments.along, *piped), client.worktrees_in(workspace)
    attempts = _open_worktrees(client, arguments, workspace, models)
    try:
        ended, is_stopped = event_loop.run_loop(Race(client, arguments, attempts, content).run())
    except HaloclineError:  # nothing was asked of any model
        _discard(service, [one.name for one in attempts])
        raise
    ended = event_loop.run_loop(_measure(service, ended))
    order = sorted(ended, key=lambda one: one.rank)
    if arguments.output_format == "json":
        print_raw(json_output.encode([_as_json(one) for one in order]).decode())
    else:
        _print_table(order)
    if is_stopped:
        print_message("Stopped, and nothing is merged.", _explain_rest(order))
        return ExitCode.INTERRUPTED
    return _settle(arguments, service, order)


def _refuse_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options that several attempts cannot heed."""
    given = [flag for option, flag in _NOT_WITH.items() if getattr(arguments, option) not in (None, False, [])]
    given += [f"{flag} stream-json" for option, flag in _STREAMS.items() if getattr(arguments, option) == "stream-json"]
    if given:
        raise UsageError(f"{given[0]} does not go with --best-of.", "Leave it out.")


def _assign_models(arguments: argparse.Namespace) -> list[str | None]:
    """Return the model of each attempt: those of `--models` in turn. Raises UsageError."""
    given = [one.strip() for one in (arguments.models or "").split(",") if one.strip()]
    if arguments.models is not None and not given:
        raise UsageError("--models names no model.", "To list models: halo models")
    count = arguments.best_of or len(given)
    if not 2 <= count <= MOST or count < len(given):
        raise UsageError(
            f"--best-of makes 2 to {MOST} attempts, at least one for each of --models.", "To list models: halo models"
        )
    return [given[at % len(given)] if given else arguments.model for at in range(count)]


def _share(choices: Choices, count: int) -> Choices:
    """Return the choices with an equal part of the money and the tokens for each attempt."""
    cost, tokens = choices.max_cost, choices.token_limit
    return replace(choices, max_cost=cost and cost / count, token_limit=tokens and max(1, tokens // count))


def _open_worktrees(
    client: Client, arguments: argparse.Namespace, workspace: Path, models: Sequence[str | None]
) -> list[Attempt]:
    """Make a worktree for each attempt, set up as one of `--worktree` is. All of them, or none."""
    stamp, attempts = session.worktree.make_name(), list[Attempt]()
    names = [f"{stamp}-{number}" for number, _ in enumerate(models, 1)]
    try:
        for name, model in zip(names, models, strict=True):
            arguments.worktree = name
            folder = session.worktree.work_in_worktree(arguments, workspace)
            if not arguments.trust:
                task_opening.settle_folders(client, arguments, folder, attended=on_terminal())
            attempts.append(Attempt(name, folder, model))
    except BaseException:  # Ctrl-C at a question, too
        _discard(client.worktrees_in(workspace), names, force=True)
        raise
    return attempts


def _discard(service: WorktreeService, names: Sequence[str], *, force: bool = False) -> None:
    """Discard those of these worktrees that are there; `force` is for what only the setup command wrote."""
    for name in names:
        with suppress(HaloclineError):
            event_loop.run_loop(service.discard(name, force=force))


class Race:
    """The attempts while they run. The first signal interrupts all turns, the second waits for none of them."""

    def __init__(
        self, client: Client, arguments: argparse.Namespace, attempts: Sequence[Attempt], content: tuple[UserPart, ...]
    ) -> None:
        self._client = client
        self._options = options_of(arguments, attended=False)
        self._attempts = attempts
        self._content = content
        self._tasks: list[str] = []
        self._is_stopped = False
        self._main: asyncio.Task[Any] | None = None

    async def run(self) -> tuple[list[Attempt], bool]:
        """Run all to their ends; True if a person stopped them. Raises HaloclineError."""
        self._main, ended = asyncio.current_task(), [*self._attempts]
        try:
            with handle_signals(self._on_signal):
                for one in self._attempts:  # a model that cannot be used is known before any is asked
                    options = replace(self._options, model=one.model)
                    self._tasks.append(await self._client.start(one.folder, options))
                pairs = zip(self._attempts, self._tasks, strict=True)
                ended = [*await asyncio.gather(*(self._follow(one, task) for one, task in pairs))]
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
        finally:
            for task in self._tasks:
                await task_opening.forget_empty(self._client, task)
            await close_client(self._client)
        return ended, self._is_stopped

    async def _follow(self, attempt: Attempt, task: str) -> Attempt:
        began, number = time.monotonic(), attempt.name.rpartition("-")[2]
        command = cmd.SubmitPrompt(task=task, content=self._content)
        if not self._is_stopped:
            command = await self._client.prepared(command)
        if not self._is_stopped:  # a signal while it was prepared found no turn to interrupt
            self._client.send(command)
            async for event in self._client.events(task, 0):
                match event:
                    case ev.GoalChecked():
                        print_message(f"[{number}] {clean(describe_check(event))}")
                    case ev.ErrorRaised():
                        print_message(f"[{number}] {clean(event.text)}")
                    case ev.TurnEnded():
                        print_message(f"[{number}] ended: {event.reason}")
                        break
        return replace(attempt, state=self._client.state(task), seconds=time.monotonic() - began)

    def _on_signal(self, number: int) -> None:
        if self._is_stopped and self._main:
            self._main.cancel()
        self._is_stopped = True
        for task in self._tasks:
            self._client.send(cmd.Interrupt(task=task))


async def _measure(service: WorktreeService, attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts with the size of their changes."""
    measured = []
    for one in attempts:
        try:
            found = await service.diff(one.name)
        except HaloclineError as error:  # the attempt did something odd to its worktree; the others count all the same
            measured.append(replace(one, problem=error.text))
        else:
            measured.append(replace(one, files=len(found.files), added=found.added, removed=found.removed))
    return measured


def _as_json(attempt: Attempt) -> Mapping[str, Any]:
    result = Result.of(attempt.state, attempt.seconds, None)
    return {
        "worktree": attempt.name,
        "folder": str(attempt.folder),
        "model": attempt.state.model.name,
        "files": attempt.files,
        "added": attempt.added,
        "removed": attempt.removed,
        "problem": attempt.problem,
        "result": result,
    }


def _print_table(order: Sequence[Attempt]) -> None:
    """Print the attempts side by side, the best first."""
    rows = [_HEAD, *(_list_cells(at, one) for at, one in enumerate(order, 1))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print_raw("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for one in order:
        if one.problem:
            print_message(f"The changes of {one.name} are not known: {clean(one.problem)}")


def _list_cells(at: int, one: Attempt) -> tuple[str, ...]:
    goal, end = one.state.goal, one.state.last_end
    how = (end.limit or end.reason.value) if end else "not started"
    met = ("met" if goal.is_met else "not met") if goal.is_set else "-"
    changes = ("?", "?") if one.problem else (str(one.files), f"+{one.added} -{one.removed}")
    figures = (*changes, format_known_cost(one.state.budget), format_duration(one.seconds))
    return (str(at), clean(model_name(one.state.model.name)), how, met, *figures, one.state.task, one.name)


def _settle(arguments: argparse.Namespace, service: WorktreeService, order: Sequence[Attempt]) -> int:
    """Merge the best attempt or the one that the person picks, and say how to go on with the others."""
    chosen = order[0] if order[0].is_good and arguments.merge == "best" else None
    if arguments.merge is None and on_terminal() and arguments.output_format is None and not arguments.print:
        options = {str(at): f"{one.name} ({model_name(one.state.model.name)})" for at, one in enumerate(order, 1)}
        picked = pick_option("Merge which one into the main folder?", {**options, "0": NONE})
        chosen = None if picked == "0" else order[int(picked) - 1]
    code = int(order[0].code) if order[0].is_good else int(order[0].code) or int(ExitCode.LIMIT)
    if chosen is None:
        print_message("Nothing is merged.", _explain_rest(order))
        return code
    done = event_loop.run_loop(service.merge(chosen.name))
    for line in worktree_text.describe_merge(chosen.name, done):
        print_message(line) if arguments.output_format == "json" else print_raw(line)
    print_message(_explain_rest([one for one in order if one is not chosen]))
    if (rest := worktree_text.explain_rest(chosen.name, done))[0]:
        raise NotWhole(*rest)
    return code


def _explain_rest(order: Sequence[Attempt]) -> str:
    names = ", ".join(one.name for one in order)
    return f"Kept until you discard them: {names}. See: halo worktrees diff, merge or discard NAME"
