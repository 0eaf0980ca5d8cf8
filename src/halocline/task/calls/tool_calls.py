"""Takes a call from the model's request to its result: every call gets exactly one end.

`prepare` ends calls that cannot run (unknown tool, bad arguments, denied, rejected, skipped) and returns None for them.
`perform` runs the others and never raises except for cancellation and an unwritable log.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from halocline.context.budget import CEILING, fit_parts
from halocline.policy.gate import Decision, PolicyContext, decide_call, find_places, find_scripts
from halocline.policy.paths import Judged
from halocline.ports.checkpoints import Checkpoints
from halocline.ports.tool import PROGRESS, CurrentCall, Overtaken, Summary, TaskView, ToolContext, ToolOutput, Toolset
from halocline.protocol import events as ev
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ApprovalMode, CallStatus, Diff, Scope, ToolKind
from halocline.protocol.messages import Message, Note, ResultPart, Text, ToolCall, ToolResult, UserPart
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.state.state import State
from halocline.protocol.terminal_text import plain_output
from halocline.task.calls.ask_person import Asking
from halocline.task.calls.events import (
    Run,
    approval_requested,
    approval_resolved,
    call_started,
    grant_of,
    let_through,
    redact_output,
    require_unmarked,
    todos_changed,
)
from halocline.task.calls.network_access import Reach
from halocline.task.calls.pending_approvals import Pending, name_changes
from halocline.task.calls.policy_input import lapsed_grants, make_policy_context, scope_of, summary_of
from halocline.task.calls.written_files import tell_of_writes
from halocline.task.governor import note_repetition
from halocline.task.host import TaskHost
from halocline.task.inbox import Inbox
from halocline.task.log import Log, LogUnwritable

if TYPE_CHECKING:
    from halocline.ports.hooks import Outcome


NOT_EXECUTED = (
    "Nothing was run: the arguments of this call are incomplete or malformed{why}. "
    "Send the whole call again{advice}. Received: {received}"
)
DENIED = "Not allowed: {reason} (rule {rule}). Nothing was run; continue without it."
NOBODY = (
    "Not done: this needs the user's approval ({reason}; rule {rule}), and nobody can give it in this run. "
    "Do not try to work around it. Do what you can without it, or finish and say what is left."
)
DECLINED = "The user declined this call. It was not run and nothing changed."
MOVED = (
    "Not done: a path of this call now leads to another place than the one approved. Nothing changed; send it again."
)
REWRITTEN = (
    "Not done: a script that this command runs changed after the command was allowed. Nothing was run; send it again."
)
CHANGED = "Not done: a file changed after the user saw this edit, and was left as it is. Read it again, then edit."
UNKNOWN_TOOL = "There is no tool"
SKIPPED = "Skipped because the user declined an earlier call in this message."
OVERTAKEN = "Declined: the user sent a new message, which follows. This was not run and nothing changed."
OVERTAKEN_ANSWER = "The user sent a new message instead of an answer. It follows."

_log = logging.getLogger("halocline")


class NotAdmitted(Exception):
    """Raised when a gate stops a call; `text` is for the model, `status` is how the call ends."""

    def __init__(
        self,
        text: str,
        status: CallStatus = CallStatus.REJECTED,
        *,
        notes: tuple[UserPart, ...] = (),
        stops: bool = False,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.notes = notes
        self.stops = stops


class ToolCalls:
    """The tool calls of one task."""

    def __init__(
        self,
        *,
        log: Log,
        emit: Callable[..., None],
        state: Callable[[], State],
        toolset: Toolset,
        inbox: Inbox,
        host: TaskHost,
        checkpoints: Checkpoints,
        home: Path,
        visible: Callable[[State], tuple[Message, ...]],
    ) -> None:
        self._log = log
        self._emit = emit
        self._state = state
        self._toolset = toolset
        self._host = host
        self._checkpoints = checkpoints
        self._home = home
        self._visible = visible
        self.pending = Pending()
        self.asking = Asking(log=log, emit=emit, state=state, inbox=inbox, host=host)
        if host.hooks:
            host.hooks.attach(emit, state)

    async def prepare(self, call: ToolCall) -> Run | None:
        """Take the call through every gate, or end it here and return None."""
        try:
            if self._state().pending.declined:
                raise NotAdmitted(OVERTAKEN if self._state().pending.interjected else SKIPPED, CallStatus.SKIPPED)
            if PROGRESS in call.arguments:
                self._emit(*todos_changed(call, self._state().plan.todos))
            return await self._admit(self._parse_call(call, self._state().last_message.model))
        except NotAdmitted as stopped:
            self._end(call, stopped.status, stopped.text, stopped.notes, ends_turn=stopped.stops)
        except Overtaken:
            self._end(call, CallStatus.REJECTED, OVERTAKEN)
        except ToolFailure as failure:
            self._end(call, CallStatus.FAILED, failure.text)
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
        if not attention or not (run.tool.kind is ToolKind.EXECUTE or (run.tool.edits and hooks)):
            await self._perform(run)
            return
        async with attention.watching(self._state, run.summary.command or f"a hook on {run.call.name}"):
            await self._perform(run)

    async def _perform(self, run: Run) -> None:
        call, began = run.call, time.monotonic()
        try:
            if run.tool.edits:
                await asyncio.gather(self._checkpoints.barrier(run.may_change, ran=run.by_command), self._log.sync())
            if run.tool.edits or run.approved:
                self._require_same_places(run)
            output = await run.tool.run(run.input, self._context(run))
            output = redact_output(output, run, self._host.secrets.redact)
            self._emit(*output.events)
            tell_of_writes(output.events, self._checkpoints, self._host.tools.blobs)
            output = await self._check_written_files(run, output)
        except Overtaken:
            self._end(call, CallStatus.REJECTED, OVERTAKEN_ANSWER)
        except ToolFailure as failure:
            text = self._host.secrets.redact(failure.text)
            failed = partial(self._end, call, CallStatus.FAILED, text)
            await self._end_with_hooks(run, text, began, failed, failed=True)
        except LogUnwritable:
            raise
        except Exception as bug:
            self._end_crashed(call, bug)
        else:
            text = "\n".join(part.text for part in output.content if isinstance(part, Text))
            await self._end_with_hooks(run, text, began, partial(self._complete, run, output), failed=False)

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

    async def _check_written_files(self, run: Run, output: ToolOutput) -> ToolOutput:
        """Add the results of checks on the files it wrote; files it read are checked in the background."""
        host, sources, workspace = self._host.tools, self._host.sources, Path(self._state().workspace)
        if run.tool.kind is ToolKind.READ:
            for path in run.summary.paths:
                sources.diagnostics.expect(workspace / path)
        if not any(isinstance(fact, ev.FileChanged) for fact in output.events):
            return output
        from halocline.task.calls.post_edit_checks import Follower

        files, formatters = self._context(run).host.files, self._host.editing.formatters
        follower = Follower(workspace, files, host.shell, host.blobs, sources.diagnostics, formatters)
        found = await follower.after(output.events)
        self._emit(*found.facts)
        tell_of_writes(found.facts, self._checkpoints, host.blobs)
        return replace(output, content=(*output.content, *found.notes), diffs=(*output.diffs, *found.diffs))

    def _require_same_places(self, run: Run) -> None:
        """Fail if, since the decision, a path was redirected by a link or a script to run changed.

        An edit may meet another file of the same name: its diff covers that.
        """
        where, what = find_places(run.summary, self._policy_context())
        if where != run.places or (run.approved and not run.tool.edits and what != run.identities):
            raise ToolFailure(MOVED)
        if run.summary.command and find_scripts(run.summary, self._policy_context()) != run.scripts:
            raise ToolFailure(REWRITTEN)

    def _parse_call(self, call: ToolCall, model: str) -> Run:
        tool = self._toolset.find(call.name, self._state())
        if tool is None:
            known = ", ".join(spec.name for spec in self._toolset.specs(self._state()))
            raise ToolFailure(f"{UNKNOWN_TOOL} {call.name!r}. Available tools: {known}.")
        if call.malformed:
            raise ToolFailure(self._not_executed(call))
        try:
            given, summary = summary_of(call, tool, model, self._state())
        except msgspec.ValidationError as error:
            raise ToolFailure(
                f"Invalid arguments for {call.name}: {error}. Nothing was run; correct them and send it again."
            ) from error
        if tool.instead and (other := tool.instead(given, self._state().host.shell.cwd)):
            name, meant = other
            return self._parse_call(replace(call, name=name, arguments=meant), model="")
        return require_unmarked(Run(call, tool, given, summary))

    def _not_executed(self, call: ToolCall) -> str:
        cut = self._state().last_message.stop_reason.value == "max_tokens"
        return NOT_EXECUTED.format(
            why=" (the reply was cut off by the output limit)" if cut else "",
            advice=" in smaller pieces: several short edits instead of one long one" if cut else "",
            received=call.malformed[:200] + ("…" if len(call.malformed) > 200 else ""),
        )

    async def _admit(self, run: Run) -> Run:
        await self._look_at_sandbox(run.summary)
        decision = self._judge(run)
        if self._host.hooks:
            run, decision = self._apply_hooks(run, decision, await self._host.hooks.before(run.call))
        run = let_through(run, decision)
        return run if decision.verdict is Verdict.ALLOW else await self._approve(run, decision)

    def _apply_hooks(self, run: Run, decision: Decision, outcome: "Outcome") -> tuple[Run, Decision]:
        """Apply the outcome of the hooks to the call and its decision.

        Changed arguments are judged again. A hook can only skip the approval, and only as far as yolo mode would.
        """
        if outcome.blocked:
            raise NotAdmitted(f"Not done. {outcome.blocked} Nothing was run.", notes=outcome.notes, stops=outcome.stops)
        if outcome.arguments is not None:
            run = self._change_arguments(run, outcome.arguments)
            decision = self._judge(run)
        if outcome.asks:
            decision = replace(decision, verdict=Verdict.ASK, rule="hook", reason=outcome.asks, grant=None)
        elif outcome.allows and decision.verdict is Verdict.ASK:
            decision = decide_call(run.summary, replace(self._policy_context(), approval_mode=ApprovalMode.YOLO))
        return replace(run, notes=(*run.notes, *outcome.notes)), decision

    def _change_arguments(self, run: Run, arguments: dict[str, Any]) -> Run:
        try:
            changed = self._parse_call(replace(run.call, arguments=arguments), model="")
        except ToolFailure as failure:
            raise NotAdmitted(
                f"Not done. A hook changed this call into one that cannot run: {failure.text}"
            ) from failure
        note = Note(f"A hook changed this call before it ran. What ran: {changed.summary.title}", "hook")
        return replace(changed, notes=(note,))

    async def _look_at_sandbox(self, summary: Summary) -> None:
        """Record the sandbox before the first command is judged, and again after a resume."""
        if summary.in_sandbox is None:
            return
        found = await self._host.tools.shell.sandbox(self._state().permissions.approval_mode)
        if found != self._state().host.sandbox:
            self._emit(found)

    def _judge(self, run: Run) -> Decision:
        decision = decide_call(run.summary, self._policy_context())
        if decision.verdict is Verdict.DENY:
            raise NotAdmitted(DENIED.format(reason=decision.reason, rule=decision.rule))
        return decision

    async def _approve(self, run: Run, decision: Decision) -> Run:
        diffs = await self._preview(run)
        request = f"r{self.asking.next_seq}"
        shown = self.pending.shown(request, diffs, partial(self._preview, replace(run, accepted=True)))
        answer = await self.asking.ask_approval(
            approval_requested(request, run, decision, diffs, self._state().host.sandbox), shown
        )
        if answer is None:
            raise NotAdmitted(NOBODY.format(reason=decision.reason, rule=decision.rule))
        self._emit(approval_resolved(request, run, answer, grant_of(answer, decision)))
        if answer.decision.refuses:
            reason = f' They said: "{answer.note}"' if answer.note else ""
            raise NotAdmitted(DECLINED + reason, notes=answer.content)
        await self._keep_grant(answer, decision)
        run = replace(run, accepted=bool(answer.seen), approved=True)
        await self._require_same_diffs(run, diffs, answer.seen)
        return self._apply_answer(run, answer)

    async def _keep_grant(self, answer: ResolveApproval, decision: Decision) -> None:
        grant = grant_of(answer, decision)
        if grant is None or answer.scope is Scope.TASK:
            return
        folder = Path(self._state().workspace) if answer.scope is Scope.PROJECT else None
        try:
            by = f"in task {self._state().task}{f', through {answer.client}' if answer.client else ''}"
            await asyncio.to_thread(self._host.permissions.keep, grant, folder, by)
        except OSError as error:
            self._emit(ev.Noticed(f"Allowed for this call only: the permission could not be saved ({error})."))

    async def _preview(self, run: Run) -> tuple[Diff, ...]:
        return await run.tool.preview(run.input, self._context(run)) if run.tool.preview else ()

    async def _require_same_diffs(self, run: Run, diffs: tuple[Diff, ...], seen: str) -> None:
        """Fail if the edit would now do something else than the user saw, because a file changed."""
        if diffs and (now := await self._preview(run)) != diffs and name_changes(now) != seen:
            raise ToolFailure(CHANGED)

    def _apply_answer(self, run: Run, answer: ResolveApproval) -> Run:
        remark = (Note(f"The user approved this and said: {answer.note}", "approval"),) if answer.note else ()
        notes = (*remark, *answer.content)
        if answer.arguments is None:
            return replace(run, notes=(*run.notes, *notes))
        edited = self._parse_call(replace(run.call, arguments=answer.arguments), model="")
        judged = self._judge(edited)
        edited = replace(let_through(edited, judged), accepted=run.accepted, approved=True)
        changed = f"The user changed this call before it ran. What ran: {edited.summary.title}"
        return replace(edited, notes=(Note(changed, "approval"), *notes))

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
            ),
        )

    def _end_crashed(self, call: ToolCall, bug: Exception) -> None:
        """End a call whose tool has a bug: the trace goes to the program's log, one line to the model."""
        _log.error("the tool %s crashed on %s", call.name, call.arguments, exc_info=bug)
        text = f"The tool {call.name} crashed ({type(bug).__name__}: {bug}). Try it once more, or continue without it."
        self._end(call, CallStatus.FAILED, text)

    def _end(
        self,
        call: ToolCall,
        status: CallStatus,
        text: str,
        notes: tuple[UserPart, ...] = (),
        *,
        ends_turn: bool = False,
    ) -> None:
        (part,) = fit_parts((Text(self._host.secrets.redact(plain_output(text))),), CEILING, self._host.tools.blobs.put)
        result = ToolResult(call.id, (part, *notes, *self._note_repetition(call, text)), is_error=True)
        self._emit(ev.ToolCallEnded(call=call.id, name=call.name, status=status, result=result, ends_turn=ends_turn))

    def _note_repetition(self, call: ToolCall, text: str) -> tuple[Note, ...]:
        remark = note_repetition(self._state(), call, text)
        return (Note(remark, "repetition"),) if remark else ()

    def _policy_context(self) -> PolicyContext:
        book = self._host.permissions.book()
        if book != self._state().permissions.rules:
            self._emit(ev.RulesChanged(book=book))
        if self._state().permissions.kept_grants:
            self._emit(*lapsed_grants(self._state(), self._host.permissions))
        return make_policy_context(self._state(), self._home, self._host.shell_facts)

    def _context(self, run: Run) -> ToolContext:
        state = self._state()
        own = tuple(filter(None, (self._host.folder, run.tool.keeps_in)))
        scope = scope_of(run, make_policy_context(state, self._home, self._host.shell_facts), own)
        host = self._host
        return ToolContext(
            call=CurrentCall(run.call.id, run.rule, run.runs),
            workspace=Path(state.workspace),
            host=replace(
                host.tools,
                files=host.tools.files.only(Judged(run.places, *own), scope),
                search=host.tools.search.only(scope),
            ),
            task=self._task_view(state, run),
            ask=self.asking.ask,
            reach=Reach(run.summary, self._policy_context, host.tools.web),
            report=partial(self._progress, run.call.id),
            secrets=host.secrets,
        )

    def _task_view(self, state: State, run: Run) -> TaskView:
        host = self._host
        return TaskView(
            folder=host.folder,
            roots=tuple(map(Path, state.roots)),
            mode=state.plan.mode,
            approval_mode=state.permissions.approval_mode,
            model=state.model.name,
            takes_images=partial(host.takes_images, state.last_message.model or state.model.name),
            messages=self._visible(state),
            todos=state.plan.todos,
            known={} if run.accepted else state.files.known,
            syntax_errors=host.editing.syntax_errors,
            partial_edits=host.editing.partial,
            new_task_id=host.new_task_id,
        )

    def _progress(self, call: str, text: str) -> None:
        self._emit(ev.ToolCallProgressed(call, self._host.secrets.redact(plain_output(text))))
