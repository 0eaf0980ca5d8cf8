"""An open task: prompts, what comes of them as events, and its past."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar, overload
from uuid import uuid4

from halocline.client.history import Fork
from halocline.client.tasks import Client
from halocline.ports.model import Model
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import Diff, Mode
from halocline.protocol.messages import Text
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.runtime.parts.hook_functions import settle
from halocline.sdk.decisions import decide
from halocline.sdk.option_types import require_text
from halocline.sdk.options import Options, name_model, read_options, read_word
from halocline.sdk.result import Result, TaskFailed, read_result, wanted_schema
from halocline.sdk.threads import is_cancelled
from halocline.surfaces.export.task import Form, export_task

T = TypeVar("T")
CANCELLED = (
    "A callback waited for something that was cancelled, and decided nothing.",
    "Catch asyncio.CancelledError in it.",
)


class Task:
    """A task that is open in this program. Get one by `halocline.open`."""

    def __init__(self, client: Client, name: str, options: Options) -> None:
        self._client = client
        self._options = options
        self._failed: BaseException | None = None
        self.id = name
        self.result: Result[Any] | None = None
        """The result of the latest run that ended; None before that."""
        asks = options.get("on_approval") or options.get("on_question")
        self._answering = asyncio.create_task(self._answer(), name=f"answers {name}") if asks else None

    @property
    def state(self) -> State:
        """All that is known about the task now: messages, plan, usage, what waits."""
        return self._client.state(self.id)

    @property
    def workspace(self) -> Path:
        """The folder it works in."""
        return Path(self.state.workspace)

    @overload
    async def run(self, prompt: str, *, result: None = None) -> Result[None]: ...
    @overload
    async def run(self, prompt: str, *, result: type[T]) -> Result[T]: ...
    async def run(self, prompt: str, *, result: Any = None) -> Result[Any]:
        """Send a prompt and return what came of it, also if that is an error (`Result.error`).

        Args:
            prompt: what to do.
            result: the type of the answer: a dataclass, TypedDict, pydantic model, `list[str]` and so on.

        Raises:
            UsageError: the type has no schema, or a callback gave no decision.
        """
        async with aclosing(self._follow(prompt, result)) as events:
            async for _ in events:
                pass
        assert self.result is not None
        return self.result

    async def stream(self, prompt: str, *, result: Any = None) -> AsyncGenerator[ev.Event]:
        """Send a prompt and yield the events of its turn as they happen; `Task.result` has the result then.

        Raises as `run` does.
        """
        async with aclosing(self._follow(prompt, result)) as events:
            async for event in events:
                yield event

    async def send(self, prompt: str) -> None:
        """Start a turn with a prompt, or queue it while one runs. Read what comes of it with `events`."""
        await self._submit(prompt, None, "")

    async def steer(self, text: str) -> None:
        """Send a message to the running turn; the model reads it before its next step."""
        await self._client.pass_on(cmd.Steer(task=self.id, content=(Text(text),)))

    def interrupt(self) -> None:
        """End the running turn now; its result says `cancelled`."""
        self._client.send(cmd.Interrupt(task=self.id))

    def events(self, after: int = 0) -> AsyncIterator[ev.Event]:
        """Yield the events after number `after`, then new ones as they happen, until the task closes."""
        return self._client.events(self.id, after)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notices about its start: what of the settings is not in force, a model that is unknown; usually none."""
        return self._client.remarks(self.id)

    @property
    def past(self) -> list[ev.DurableEvent]:
        """All events of the task that the log keeps."""
        return self._client.past(self.id)

    def send_command(self, command: cmd.AnyCommand) -> bool:
        """Send any command of the protocol. Return False if it came too late. Raises UsageError."""
        return self._client.send(command)

    async def switch_model(self, model: str | Model) -> None:
        """Use another model from the next request on. Raises UsageError, also while a turn runs."""
        if not isinstance(model, str):
            self._client.attach_model(model)
        await self._client.change_model(self.id, name_model(model) or "")

    def switch_mode(self, mode: Mode | str) -> None:
        """Switch to `plan` or `act` mode. Raises UsageError."""
        self._client.send(cmd.SetMode(task=self.id, mode=read_word(Mode, "mode", mode) or Mode.ACT))

    async def fork(self, *, at: int = 0, folder: Path | str | None = None) -> "Task":
        """Open a copy of the task as it was after event `at`; 0 is now.

        Args:
            at: the number of an event (`event.seq`).
            folder: a new folder for a copy of the files as they were then; the same folder if left out.

        Raises:
            UsageError: there is no such event, or no checkpoint of the files then.
        """
        place = Path(os.getcwd(), folder) if folder else None
        name = await self._client.time.fork(Fork("", self.id, at), place)
        await self._client.resume(name, read_options(self._options))
        return Task(self._client, name, self._options)

    async def rewind(self, to: int, *, files: bool = True) -> None:
        """Take conversation, and files, back to what they were after event `to`. A running turn is interrupted.

        Raises UsageError, and HaloclineError if the files cannot be restored: then nothing is changed.
        """
        await self._client.time.go_back(cmd.GoBack(task=self.id, to=to, files=files))

    async def restore(self, to: int | None = None, *, overwrite: bool = False) -> tuple[str, ...]:
        """Restore the files alone to what they were after event `to`; before the latest turn if left out.

        Args:
            to: the number of an event.
            overwrite: restore files, too, that someone else changed since.

        Returns:
            The files that changed.

        Raises:
            UsageError: there is no such event.
        """
        target = self._client.time.since(self.id, completion=True) if to is None else f"{self.id}@{to}"
        restored = await self._client.time.restore(self.workspace, target, overwrite=overwrite)
        return tuple(restored.changed)

    async def changes(self, since: int = 1) -> tuple[Diff, ...]:
        """Return what changed in the files since event `since`, by whatever means, each file as a unified diff.

        Without checkpoints of the files, these are the edits as their tools reported them.
        """
        try:
            found = await self._client.time.compare(self.workspace, f"{self.id}@{since}")
        except HaloclineError:
            return tuple(
                diff
                for event in self.past
                if isinstance(event, ev.ToolCallEnded) and event.seq > since
                for diff in event.diffs
            )
        return tuple(Diff(file.path, file.diff, file.added or 0, file.removed or 0) for file in found.files)

    def export(self, form: str = "markdown") -> str:
        """Return the whole task as `markdown`, `html` or `jsonl` (its events), without known secrets.

        Raises UsageError for another form.
        """
        if form not in [*Form]:
            raise UsageError(f"{form!r} is no form of an export.", f"Choose one of {', '.join(Form)}.")
        return export_task(self.past, Form(form), self._client.build_redactor())

    async def close(self) -> None:
        """Close the task once its turn has ended. Raises the error that broke it, if one did."""
        if self._answering:
            self._answering.cancel()
            await asyncio.wait([self._answering])
        if self._client.is_open(self.id):
            await self._client.let_go(self.id)

    async def _submit(self, prompt: str, kind: Any, turn: str) -> None:
        require_text(prompt)
        schema = None if kind is None else wanted_schema(kind)
        content = (Text(prompt),)
        await self._client.pass_on(
            cmd.SubmitPrompt(
                task=self.id, content=content, output_schema=schema, verbatim=True, turn=turn, after_stop=True
            )
        )

    async def _follow(self, prompt: str, kind: Any) -> AsyncGenerator[ev.Event]:
        """Send a prompt and yield the events of its turn. Raises what a callback raised meanwhile."""
        state, turn = self.state, uuid4().hex
        await self._submit(prompt, kind, turn)
        before, events = state, list[ev.DurableEvent]()
        async for event in self.events(state.seq):
            if events or (isinstance(event, ev.TurnStarted) and event.name == turn):
                events += [] if isinstance(event, ev.Transient) else [event]
            state = state if isinstance(event, ev.Transient) else reduce_event(state, event)
            if not events:
                before = state  # other turns may come first, and the task itself may be further
                continue
            yield event
            if isinstance(event, ev.TurnEnded):
                break
        self._raise_failure(events)
        changes = await self.changes(before.seq) if _may_have_changed(events) else ()
        self.result = read_result(before, state, kind, events, changes, self.workspace)

    def _raise_failure(self, events: Sequence[ev.DurableEvent]) -> None:
        """Raise what a callback raised in the turn, or that the turn has no end."""
        failed, self._failed = self._failed, None
        if failed:
            raise failed
        if not events or not isinstance(events[-1], ev.TurnEnded):
            raise TaskFailed(
                f"The task {self.id} was closed before it answered.", "Resume it: halocline.open(resume=…)"
            )

    async def _answer(self) -> None:
        """Answer what the task asks, until it closes. A callback's error ends the turn, and the run raises it."""
        async for event in self.events(self.state.seq):
            if not isinstance(event, ev.ApprovalRequested | ev.QuestionAsked):
                continue
            try:
                await self._answer_one(event)
            except (Exception, asyncio.CancelledError) as error:
                if is_cancelled(error):
                    raise
                self._failed = error if isinstance(error, Exception) else UsageError(*CANCELLED)
                self.interrupt()

    async def _answer_one(self, asked: ev.ApprovalRequested | ev.QuestionAsked) -> None:
        if isinstance(asked, ev.ApprovalRequested):
            if on_approval := self._options.get("on_approval"):
                self._client.send(await decide(on_approval, asked))
                return
        elif on_question := self._options.get("on_question"):
            answer = await settle(on_question(asked))
            if answer is not None:
                self._client.send(cmd.AnswerQuestion(task=self.id, request=asked.request, answer=answer))
                return
        self._client.end_unanswered(self.id, asked.request)


def _may_have_changed(events: Sequence[ev.DurableEvent]) -> bool:
    """True if a call may have changed files."""
    started = (event for event in events if isinstance(event, ev.ToolCallStarted))
    return any(event.kind not in ("read", "search", "think", "fetch") for event in started)
