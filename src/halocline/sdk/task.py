"""An open task: prompts, what comes of them as events, and its past."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload
from uuid import uuid4

from halocline.client.history import Fork
from halocline.client.tasks import Client
from halocline.context.notes.answer_schema import build_mismatch_note
from halocline.ports.model import Model
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import Diff, Mode
from halocline.protocol.messages import Text
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.runtime.parts.hook_functions import settle
from halocline.runtime.parts.program_parts import OWN_HOST
from halocline.sdk.decisions import decide
from halocline.sdk.option_types import require_model, require_text
from halocline.sdk.options import Options, name_model, read_options, read_word
from halocline.sdk.raised import Raised
from halocline.sdk.result import Restored, Result, TaskFailed, Turns, read_restored, read_result, wanted_schema
from halocline.surfaces.export.task import Form, export_task

if TYPE_CHECKING:
    from typing_extensions import TypeForm  # what type checkers have; classes alone need none

T = TypeVar("T")
CORRECTIONS = 2
"""How often the model is asked again for an answer that fits the schema of a type, but that the type refuses."""


class Task:
    """A task that is open in this program. Get one by `halocline.open`."""

    def __init__(self, client: Client, name: str, options: Options, raised: Raised) -> None:
        self._client = client
        self._options = options
        self._raised = raised
        self._raised.interrupt = self.interrupt
        self.id = name
        self.result: Result[Any] | None = None
        """The result of the latest run that ended; None before that."""
        self._forks = list[Task]()
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
    @overload
    async def run(self, prompt: str, *, result: "TypeForm[T]") -> Result[T]: ...
    async def run(self, prompt: str, *, result: Any = None) -> Result[Any]:
        """Send a prompt and return what came of it, also if that is an error (`Result.error`).

        Args:
            prompt: what to do.
            result: the type of the answer: a dataclass, TypedDict, pydantic model, `list[str]`, `int | None` and so on.

        Raises:
            UsageError: the type has no schema, or a callback gave no decision.
            Exception: what a callback or a hook raised; the turn has ended, and `Task.result` is there.
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
        require_model(model)
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
        raised = Raised()
        await self._client.resume(name, read_options(self._options, raised))
        self._forks.append(Task(self._client, name, self._options, raised))
        return self._forks[-1]

    async def rewind(self, to: int, *, files: bool = True) -> Restored:
        """Take conversation, and files, back to what they were after event `to`. A running turn is interrupted.

        Raises UsageError, and HaloclineError if the files cannot be restored: then nothing is changed.
        """
        if files and self._options.get("host"):
            raise UsageError(OWN_HOST, "Rewind the conversation alone: files=False")
        restored = await self._client.time.go_back(cmd.GoBack(task=self.id, to=to, files=files))
        return read_restored(restored) if restored else Restored()

    async def restore(self, to: int | None = None, *, overwrite: bool = False) -> Restored:
        """Restore the files alone to what they were after event `to`; before the latest run if left out.

        A running turn is interrupted first.

        Args:
            to: the number of an event.
            overwrite: restore files, too, that someone else changed since.

        Raises:
            UsageError: there is no such event.
        """
        if self._options.get("host"):
            raise UsageError(OWN_HOST, "Restore them where the program keeps them.")
        await self._client.time.come_to_rest(self.id)
        target = f"{self.id}@{self._find_latest() if to is None else to}"
        return read_restored(await self._client.time.restore(self.workspace, target, overwrite=overwrite))

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
        """Return the whole task as `markdown`, `html`, `jsonl` (its events) or `atif`, without known secrets.

        Raises UsageError for another form.
        """
        if form not in [*Form]:
            raise UsageError(f"{form!r} is no form of an export.", f"Choose one of {', '.join(Form)}.")
        return export_task(self.past, Form(form), self._client.build_redactor(), self._client.past)

    async def close(self) -> None:
        """Close the task once its turn has ended. Raises the error that broke it, if one did."""
        await end_tasks(self._answering)
        for fork in self._forks:
            await fork.close()
        if self._client.is_open(self.id):
            await self._client.let_go(self.id)

    def raise_first(self) -> None:
        """Raise what a callback or a hook raised that no run has raised, in this task or a fork of it."""
        for task in (self, *self._forks):
            task._raised.raise_first()

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
        """Send a prompt and yield the events of its turn, and of those that ask for another answer of that type.

        Raises what a callback or a hook raised meanwhile.
        """
        turns = Turns(self.state)
        for asked_again in range(CORRECTIONS + 1):
            async with aclosing(self._follow_turn(prompt, kind, turns)) as events:
                async for event in events:
                    yield event
            self.result = await self._read_result(turns, kind)
            self._raised.raise_first()
            if not self.result._refusal or asked_again == CORRECTIONS:
                return
            prompt = build_mismatch_note([self.result._refusal]).text

    async def _follow_turn(self, prompt: str, kind: Any, turns: Turns) -> AsyncGenerator[ev.Event]:
        turn = uuid4().hex
        await self._submit(prompt, kind, turn)
        async for event in self.events(turns.after.seq):
            if turns.add(event, turn):
                yield event
                if isinstance(event, ev.TurnEnded):
                    return
        self._raised.raise_first()
        raise TaskFailed(f"The task {self.id} was closed before it answered.", "Resume it: halocline.open(resume=…)")

    async def _read_result(self, turns: Turns, kind: Any) -> Result[Any]:
        changes = await self.changes(turns.before.seq) if _may_have_changed(turns.events) else ()
        result = read_result(turns, kind, changes, self.workspace)
        result.tool_errors = self._raised.take_calls(
            event.call for event in turns.events if isinstance(event, ev.ToolCallEnded)
        )
        return result

    def _find_latest(self) -> int:
        """Return the event after which the latest run began, also if it has several turns."""
        latest = int(self._client.time.since(self.id, completion=True).rpartition("@")[2])
        events = self.result.events if self.result else ()
        return events[0].seq - 1 if events and events[0].seq <= latest < events[-1].seq else latest

    async def _answer(self) -> None:
        """Answer what the task asks, until it closes. A callback's error ends the turn, and the run raises it."""
        async for event in self.events(self.state.seq):
            if not isinstance(event, ev.ApprovalRequested | ev.QuestionAsked):
                continue
            try:
                await self._answer_one(event)
            except BaseException as error:
                self._raised.end_turn(error)

    async def _answer_one(self, asked: ev.ApprovalRequested | ev.QuestionAsked) -> None:
        if isinstance(asked, ev.ApprovalRequested):
            if on_approval := self._options.get("on_approval"):
                self._client.send(await decide(on_approval, asked))
                return
        elif on_question := self._options.get("on_question"):
            answer = await settle(on_question, asked)
            if answer is not None:
                self._client.send(cmd.AnswerQuestion(task=self.id, request=asked.request, answer=answer))
                return
        self._client.end_unanswered(self.id, asked.request)


def _may_have_changed(events: Sequence[ev.DurableEvent]) -> bool:
    """True if a call may have changed files."""
    started = (event for event in events if isinstance(event, ev.ToolCallStarted))
    return any(event.kind not in ("read", "search", "think", "fetch") for event in started)
