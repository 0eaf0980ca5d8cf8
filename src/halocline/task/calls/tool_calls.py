"""Takes a call from the model's request to its result: every call gets exactly one end.

`prepare` ends calls that cannot run (unknown tool, bad arguments, denied, rejected, skipped) and returns None for them.
`perform` runs the others and never raises except for cancellation and an unwritable log.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from halocline.context.budget import CEILING, fit_parts
from halocline.policy.gate import find_places, find_scripts
from halocline.ports.host import Cut, Files, ShellResult
from halocline.ports.tool import Overtaken, ToolContext, ToolOutput
from halocline.protocol import events as ev
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Event, FileChanged
from halocline.protocol.kinds import CallStatus, ToolKind
from halocline.protocol.messages import Note, ResultPart, Text, ToolCall, ToolResult, UserPart
from halocline.protocol.state.state import State
from halocline.protocol.terminal_text import plain_output
from halocline.protocol.waiting import end_tasks
from halocline.task import updates
from halocline.task.calls.admission import OVERTAKEN, Admission, NotAdmitted
from halocline.task.calls.ask_person import Asking
from halocline.task.calls.events import Run, call_started, name_cause, redact_output
from halocline.task.calls.goal_checks import GoalChecks
from halocline.task.calls.held_files import Admit
from halocline.task.calls.pending_approvals import Pending
from halocline.task.calls.tool_context import ToolContexts
from halocline.task.governor import note_repetition
from halocline.task.log import LogUnwritable
from halocline.task.parts import TaskParts

MOVED = (
    "Not done: a path of this call now leads to another place than the one approved. Nothing changed; send it again."
)
REWRITTEN = (
    "Not done: a script that this command runs changed after the command was allowed. Nothing was run; send it again."
)
GIVEN = "goal"
"""The call that a command of a goal runs as, which no model made."""
LONGEST = 3600.0
"""Seconds that it may take."""
OVERTAKEN_ANSWER = "The user sent a new message instead of an answer. It follows."

_log = logging.getLogger("halocline")


class ToolCalls:
    """The tool calls of one task."""

    def __init__(self, parts: TaskParts, emit: Callable[..., None], state: Callable[[], State]) -> None:
        log, host = parts.log, parts.host
        self._log = log
        self._emit = emit
        self._state = state
        self._host = host
        self._checkpoints = parts.checkpoints
        self._toolset = parts.toolset
        self.pending = Pending()
        self.asking = Asking(log=log, emit=emit, state=state, inbox=parts.inbox, host=host)
        self.contexts = ToolContexts(
            emit=emit, state=state, host=host, ask=self.asking.ask, home=parts.home, visible=parts.context.visible
        )
        self.admission = Admission(
            emit=emit,
            state=state,
            toolset=parts.toolset,
            host=host,
            contexts=self.contexts,
            asking=self.asking,
            pending=self.pending,
        )

    @cached_property
    def goal(self) -> GoalChecks:
        """The checks of the task's goal."""
        return GoalChecks(run=self._run_given, toolset=self._toolset, emit=self._emit, state=self._state)

    async def prepare(self, call: ToolCall) -> Run | None:
        """Take the call through every gate, or end it here and return None."""
        try:
            return await self.admission.admit(call)
        except NotAdmitted as stopped:
            self._end(call, stopped.status, stopped.text, stopped.person, stopped.notes, ends_turn=stopped.stops)
        except Overtaken:
            self._end(call, CallStatus.REJECTED, OVERTAKEN, "not run: you sent a message instead")
        except ToolFailure as failure:
            self._end(call, CallStatus.FAILED, failure.text, failure.person, outside=failure.outside)
        except LogUnwritable:
            raise
        except Exception as bug:
            self._end_crashed(call, bug)
        return None

    async def perform(self, run: Run) -> None:
        """Run the call and record its end. Other changes to known files during the run are attributed to it."""
        # First of all: parallel calls start in their order.
        self._emit(call_started(run, self._state().host.sandbox))
        attention, hooks = self._host.sources.changes, self._host.hooks
        may_change = run.tool.kind is ToolKind.EXECUTE and run.changes_files
        if not attention or not (may_change or run.summary.custom or (run.tool.edits and hooks)):
            await self._perform(run)
            return
        async with attention.watching(self._state, name_cause(run)):
            await self._perform(run)

    async def _perform(self, run: Run) -> None:
        call, began = run.call, time.monotonic()
        try:
            async with self._holding_changes(run) as admit:
                context = replace(self.contexts.build(run, admit), note_writes=self._note_writes)
                output = await self._run(run, context)
            output = redact_output(output, run, self._host.secrets.redact)
            self._emit(*output.events)
            self._note_writes(output.events)
            output = await self._check_written_files(run, output, context.host.files)
            if run.changes_files:
                self._log.sync_ahead()
        except Overtaken:
            self._end(call, CallStatus.REJECTED, OVERTAKEN_ANSWER, "answered below")
        except ToolFailure as failure:
            text = self._host.secrets.redact(failure.text)
            failed = partial(self._end, call, CallStatus.FAILED, text, failure.person, outside=failure.outside)
            await self._end_with_hooks(run, text, began, failed, failed=True)
        except LogUnwritable:
            raise
        except Exception as bug:
            self._end_crashed(call, bug)
        else:
            text = "\n".join(part.text for part in output.content if isinstance(part, Text))
            await self._end_with_hooks(run, text, began, partial(self._complete, run, output), failed=False)

    async def _run_given(self, command: str) -> ShellResult:
        """Run a command that the person gave: no approval is needed, but a rule may deny it. Raises ToolFailure."""
        order = replace(await self.contexts.admit_command(GIVEN, command, is_covered=True), fresh=True, timeout=LONGEST)
        await self._make_safe(self._checkpoints.barrier())
        attention, shell = self._host.sources.changes, self._host.tools.shell
        never: asyncio.Future[Cut] = asyncio.get_running_loop().create_future()  # no key moves it to the background
        async with attention.watching(self._state, command) if attention else nullcontext():
            result = await shell.run(order, lambda text: None, never)
        if result.left:
            self._emit(ev.JobStarted(job=result.job, command=command, call=GIVEN, by=result.left.value))
        self._checkpoints.take(f"goal: {command}")
        await self._checkpoints.settle()
        return replace(result, output=self._host.secrets.redact(result.output))

    async def _run(self, run: Run, context: ToolContext) -> ToolOutput:
        """Run the tool; one that is declared to change no files is watched."""
        start = partial(run.tool.run, run.input, context)
        if not run.summary.custom or run.tool.edits or self._host.sources.changes is None:
            return await start()
        return await updates.undeclared.run_watched(run.call.name, start, self._state())

    @asynccontextmanager
    async def _holding_changes(self, run: Run) -> AsyncIterator[Admit | None]:
        """Let nothing change before the call is on the disk and the present files are safe.

        An edit reads and plans meanwhile: only its writes wait, and these check their places themselves. Others wait as
        a whole, and what was judged before a wait is judged again.
        """
        is_edit = run.tool.kind is ToolKind.EDIT and not run.summary.custom
        waited = run.approved or (run.tool.edits and self._host.hooks)
        if not run.changes_files:
            if waited:
                self._require_same_places(run)
            yield None
            return
        present = self._checkpoints.barrier(run.may_change, ran=run.by_command, destroys=run.destroys)
        safe = self._make_safe(present)
        try:
            await (asyncio.sleep(0) if is_edit else safe)  # both begin
            if waited or not is_edit:
                self._require_same_places(run)
            yield (lambda: safe) if is_edit else None
            await safe
        finally:
            await end_tasks(safe)

    def _make_safe(self, present: Coroutine[Any, Any, None]) -> "asyncio.Future[tuple[None, None]]":
        """Begin to put on the disk what a change must find there: the log, and the files as they are."""
        return asyncio.gather(self._log.sync(), present)

    async def _end_with_hooks(
        self, run: Run, text: str, began: float, end: Callable[..., None], *, failed: bool
    ) -> None:
        """End a call that ran, with the notes of hooks. The call ends even if the hooks are interrupted."""
        outcome = None
        try:
            if hooks := self._host.hooks:
                outcome = await hooks.after(run.call, text, time.monotonic() - began, failed=failed)
        finally:
            if outcome is None:
                end()
            else:
                objection = (Note(outcome.blocked, "hook"),) if outcome.blocked else ()
                end((*outcome.notes, *objection), ends_turn=outcome.stops)

    async def _check_written_files(self, run: Run, output: ToolOutput, files: Files) -> ToolOutput:
        """Add the results of checks on the files it wrote; files it read are checked in the background."""
        host, sources = self._host.tools, self._host.sources
        if run.tool.kind is ToolKind.READ:
            workspace = Path(self._state().workspace)
            for path in run.summary.paths:
                sources.diagnostics.expect(workspace / path)
        if not any(isinstance(fact, ev.FileChanged) for fact in output.events):
            return output
        from halocline.task.calls.post_edit_checks import Follower

        formatters, workspace = self._host.editing.formatters, Path(self._state().workspace)
        follower = Follower(workspace, files, host.shell, host.blobs, sources.diagnostics, formatters)
        found = await follower.after(output.events)
        self._emit(*found.facts)
        self._note_writes(found.facts)
        return replace(output, content=(*output.content, *found.notes), diffs=(*output.diffs, *found.diffs))

    def _require_same_places(self, run: Run) -> None:
        """Fail if, since the decision, a path was redirected by a link or a script to run changed.

        An edit may meet another file of the same name: its diff covers that.
        """
        context = self.contexts.policy_context()
        where, what = find_places(run.summary, context)
        if where != run.places or (run.approved and not run.tool.edits and what != run.identities):
            raise ToolFailure(MOVED, person="not done: a path now leads to another place than the one approved")
        if run.summary.command and find_scripts(run.summary, context) != run.scripts:
            raise ToolFailure(REWRITTEN, person="not run: a script changed after the command was allowed")

    def _complete(self, run: Run, output: ToolOutput, notes: tuple[Note, ...] = (), *, ends_turn: bool = False) -> None:
        content: tuple[ResultPart, ...] = fit_parts(output.content, CEILING, self._host.tools.blobs.put)
        first = next((part.text for part in content if isinstance(part, Text)), "")
        content += (*run.notes, *notes, *self._note_repetition(run.call, first))
        self._emit(
            ev.ToolCallEnded(
                call=run.call.id,
                name=run.call.name,
                status=CallStatus.COMPLETED,
                result=ToolResult(run.call.id, content),
                diffs=output.diffs,
                ends_turn=output.ends_turn or ends_turn,
                seen=output.seen,
                for_person=self._host.secrets.redact(output.for_person),
            )
        )

    def _end_crashed(self, call: ToolCall, bug: Exception) -> None:
        """End a call whose tool has a bug: the trace goes to the program's log, one line to the model."""
        _log.error("the tool %s crashed on %s", call.name, call.arguments, exc_info=bug)
        text = f"The tool {call.name} crashed ({type(bug).__name__}: {bug}). Try it once more, or continue without it."
        self._end(call, CallStatus.FAILED, text, f"the tool {call.name} crashed")

    def _end(
        self,
        call: ToolCall,
        status: CallStatus,
        text: str,
        person: str = "",
        notes: tuple[UserPart, ...] = (),
        *,
        ends_turn: bool = False,
        outside: bool = False,
    ) -> None:
        (part,) = fit_parts((Text(self._host.secrets.redact(plain_output(text))),), CEILING, self._host.tools.blobs.put)
        result = ToolResult(call.id, (part, *notes, *self._note_repetition(call, text)), is_error=True)
        person = self._host.secrets.redact(plain_output(person))
        self._emit(
            ev.ToolCallEnded(
                call.id, call.name, status, result, ends_turn=ends_turn, for_person=person, outside=outside
            )
        )

    def _note_writes(self, facts: Iterable[Event]) -> None:
        """Report each file that was written, unless its content is no longer stored."""
        blobs = self._host.tools.blobs
        for fact in facts:
            if isinstance(fact, FileChanged):
                with suppress(KeyError):
                    before, after = (
                        None if blob is None else partial(blobs.get, blob) for blob in (fact.before, fact.after)
                    )
                    self._checkpoints.wrote(fact.path, before, after)

    def _note_repetition(self, call: ToolCall, text: str) -> tuple[Note, ...]:
        remark = note_repetition(self._state(), call, text)
        return (Note(remark, "repetition"),) if remark else ()
