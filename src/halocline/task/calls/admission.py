"""Takes a call through every gate, to a run that may start: arguments, hooks, policy, approval, changed files."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from halocline.policy.gate import Decision, decide_call
from halocline.policy.holding import NO_SANDBOX, needs_sandbox
from halocline.ports.tool import PROGRESS, AnyTool, Summary, Toolset
from halocline.protocol import events as ev
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.errors import WRONG_CALL, ToolFailure
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import FINISHES, ApprovalMode, CallStatus, Choice, Diff, Scope, ToolKind, bound_mode
from halocline.protocol.messages import Note, ToolCall, UserPart
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.state.state import State
from halocline.task.calls.ask_person import Asking
from halocline.task.calls.cut_calls import answer_cut_call
from halocline.task.calls.events import (
    Run,
    approval_requested,
    approval_resolved,
    grant_of,
    let_through,
    require_unmarked,
    todos_changed,
)
from halocline.task.calls.pending_approvals import Pending, name_changes
from halocline.task.calls.policy_input import summary_of, with_roots
from halocline.task.calls.tool_context import ToolContexts
from halocline.task.host import TaskHost

if TYPE_CHECKING:
    from halocline.ports.hooks import Outcome

DENIED = "Not allowed: {reason} (rule {rule}). Nothing was run; continue without it."
NOBODY = (
    "Not done: this needs the user's approval ({reason}; rule {rule}), and nobody can give it in this run. "
    "Do not try to work around it. Do what you can without it, or finish and say what is left."
)
DECLINED = "The user declined this call. It was not run and nothing changed."
CHANGED = "Not done: a file changed after the user saw this edit, and was left as it is. Read it again, then edit."
UNKNOWN_TOOL = "There is no tool"
NOT_ALONE = (
    "The task is not finished yet: {tool} stood beside other calls, whose results you had not read. Read them now; "
    "if they are as you expected, call {tool} again, alone."
)
SKIPPED = "Skipped because the user declined an earlier call in this message."
LONGEST_CHANGE = 8_000
"""Characters of a changed edit that the model is told."""
IN_PART = "The user refused the changes to {files}, which stay as they are, and allowed the rest. What ran: {title}"
OVERTAKEN = "Declined: the user sent a new message, which follows. This was not run and nothing changed."


class NotAdmitted(Exception):
    """Raised when a gate stops a call; `text` is for the model, `person` for people, `status` is how the call ends."""

    def __init__(
        self,
        text: str,
        status: CallStatus = CallStatus.REJECTED,
        *,
        person: str = "",
        notes: tuple[UserPart, ...] = (),
        stops: bool = False,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.person = person
        self.status = status
        self.notes = notes
        self.stops = stops


class Admission:
    """The gates of one task."""

    def __init__(
        self,
        *,
        emit: Callable[..., None],
        state: Callable[[], State],
        toolset: Toolset,
        host: TaskHost,
        contexts: ToolContexts,
        asking: Asking,
        pending: Pending,
    ) -> None:
        self._emit = emit
        self._state = state
        self._toolset = toolset
        self._host = host
        self._contexts = contexts
        self._asking = asking
        self._pending = pending
        self._explained = False

    async def admit(self, call: ToolCall) -> Run:
        """Take the call through every gate.

        Raises:
            NotAdmitted: a gate stopped it.
            Overtaken: the user sent a message instead of an answer.
            ToolFailure: it cannot run as the model sent it.
        """
        if self._state().pending.declined:
            if self._state().pending.interjected:
                raise NotAdmitted(OVERTAKEN, CallStatus.SKIPPED, person="skipped: you sent a message instead")
            raise NotAdmitted(SKIPPED, CallStatus.SKIPPED, person="skipped: you declined an earlier call")
        if call.name == FINISHES and self._stands_beside_others(call):
            raise NotAdmitted(
                NOT_ALONE.format(tool=call.name), CallStatus.SKIPPED, person="skipped: the other calls come first"
            )
        if PROGRESS in call.arguments:
            self._emit(*todos_changed(call, self._state().plan.todos))
        return await self._pass_gates(self.parse_call(call, self._state().last_message.model))

    def _stands_beside_others(self, call: ToolCall) -> bool:
        """True if the reply has other calls whose results matter; a to-do list's does not."""
        others = [other for other in self._state().last_message.tool_calls if other.id != call.id]
        return any(self._kind_of(other) is not ToolKind.THINK for other in others)

    def _kind_of(self, call: ToolCall) -> ToolKind | None:
        with suppress(ToolFailure):
            return self._find_tool(call)[1].kind
        return None

    def parse_call(self, call: ToolCall, model: str) -> Run:
        """Return a call as its tool takes it. Raises ToolFailure."""
        call, tool = self._find_tool(call)
        if call.malformed:
            raise ToolFailure(answer_cut_call(call, tool.spec, self._state()))
        call = replace(call, arguments=with_roots(call, self._state()))
        try:
            given, summary = summary_of(call, tool, model, self._state())
        except msgspec.ValidationError as error:
            raise ToolFailure(
                f"Invalid arguments for {call.name}: {error}. Nothing was run; correct them and send it again.",
                person=WRONG_CALL,
            ) from error
        if tool.instead and (other := tool.instead(given, self._state().host.shell.cwd)):
            name, meant = other
            return self.parse_call(replace(call, name=name, arguments=meant), model="")
        return require_unmarked(Run(call, tool, given, summary))

    def _find_tool(self, call: ToolCall) -> tuple[ToolCall, AnyTool]:
        """Return the tool of a call, and the call as that tool's: translated at most once, so that it ends."""
        state = self._state()
        if tool := self._toolset.find(call.name, state):
            return call, tool
        meant = self._toolset.translate(call, state)
        if meant and (tool := self._toolset.find(meant.name, state)):
            return meant, tool
        known = ", ".join(spec.name for spec in self._toolset.specs(state))
        raise ToolFailure(f"{UNKNOWN_TOOL} {call.name!r}. Available tools: {known}.", person=WRONG_CALL)

    async def _pass_gates(self, run: Run) -> Run:
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
            text, person = f"Not done. {outcome.blocked} Nothing was run.", f"not done: {outcome.blocked}"
            raise NotAdmitted(text, person=person, notes=outcome.notes, stops=outcome.stops)
        if outcome.arguments is not None:
            run = self._change_arguments(run, outcome.arguments)
            decision = self._judge(run)
        if outcome.asks:
            decision = replace(decision, verdict=Verdict.ASK, rule="hook", reason=outcome.asks, grant=None)
        elif outcome.allows and decision.verdict is Verdict.ASK:
            policy = self._contexts.policy_context()
            loosest = bound_mode(ApprovalMode.YOLO, policy.book.modes_off)
            decision = decide_call(run.summary, replace(policy, approval_mode=loosest))
        return replace(run, notes=(*run.notes, *outcome.notes)), decision

    def _change_arguments(self, run: Run, arguments: dict[str, Any]) -> Run:
        try:
            changed = self.parse_call(replace(run.call, arguments=arguments), model="")
        except ToolFailure as failure:
            raise NotAdmitted(
                f"Not done. A hook changed this call into one that cannot run: {failure.text}",
                person="not done: a hook changed this call into one that cannot run",
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
        decision = decide_call(run.summary, self._contexts.policy_context())
        if decision.verdict is Verdict.DENY:
            text, person = DENIED.format(reason=decision.reason, rule=decision.rule), f"blocked: {decision.reason}"
            raise NotAdmitted(text, person=person)
        return decision

    async def _approve(self, run: Run, decision: Decision) -> Run:
        self._explain_questions(decision)
        diffs = await self._preview(run)
        request = f"r{self._asking.next_seq}"
        shown = self._pending.shown(request, diffs, partial(self._preview, replace(run, accepted=True)))
        answer = await self._asking.ask_approval(
            approval_requested(request, run, decision, diffs, self._state().host.sandbox), run.call, shown
        )
        if answer is None:
            refused = NOBODY.format(reason=decision.reason, rule=decision.rule)
            person = f"not approved: {decision.reason}, and no one could be asked"
            raise NotAdmitted(refused + await self._suggest_paths(run), person=person)
        answer = _without_refused(run, diffs, answer)
        self._emit(approval_resolved(request, run, answer, grant_of(answer, decision)))
        if answer.decision.refuses:
            reason = f' They said: "{answer.note}"' if answer.note else ""
            raise NotAdmitted(DECLINED + reason, notes=answer.content)
        await self._keep_grant(answer, decision)
        run = replace(run, accepted=bool(answer.seen), approved=True)
        await self._require_same_diffs(run, diffs, answer.seen)
        return await self._apply_answer(run, answer)

    async def _suggest_paths(self, run: Run) -> str:
        """Say what a path outside the workspace may have meant in it: `/src/app.py` is often `src/app.py`."""
        outside = [path for path in run.summary.paths if path.startswith(("/", "~"))]
        meant = await self._contexts.find_meant(run, outside[0]) if outside and not run.summary.command else []
        return f" Did you mean {' or '.join(map(make_printable, meant))}, in the workspace?" if meant else ""

    def _explain_questions(self, decision: Decision) -> None:
        """Say once why auto mode asks without a sandbox, and what would change that."""
        state = self._state()
        if not self._explained and needs_sandbox(decision.rule, state.permissions.approval_mode, state.host.sandbox):
            self._explained = True
            self._emit(ev.Noticed(NO_SANDBOX))

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
        return await run.tool.preview(run.input, self._contexts.build(run)) if run.tool.preview else ()

    async def _require_same_diffs(self, run: Run, diffs: tuple[Diff, ...], seen: str) -> None:
        """Fail if the edit would now do something else than the user saw, because a file changed."""
        if diffs and (now := await self._preview(run)) != diffs and name_changes(now) != seen:
            raise ToolFailure(CHANGED, person="not applied: a file changed after you saw the edit")

    async def _apply_answer(self, run: Run, answer: ResolveApproval) -> Run:
        remark = (Note(f"The user approved this and said: {answer.note}", "approval"),) if answer.note else ()
        notes = (*remark, *answer.content)
        if answer.arguments is None:
            return replace(run, notes=(*run.notes, *notes))
        edited = self.parse_call(replace(run.call, arguments=answer.arguments), model="")
        judged = self._judge(edited)
        edited = replace(let_through(edited, judged), accepted=run.accepted, approved=True)
        changed = f"The user changed this call before it ran. What ran: {edited.summary.title}"
        if answer.refused:
            changed = IN_PART.format(files=" and ".join(answer.refused), title=edited.summary.title)
        elif diffs := await self._preview(edited):
            shown = "\n".join(diff.text for diff in diffs)[:LONGEST_CHANGE]
            changed += f"\nThe change as it was made:\n{self._host.secrets.redact(shown)}"
        return replace(edited, notes=(Note(changed, "approval"), *notes))


def _without_refused(run: Run, diffs: tuple[Diff, ...], answer: ResolveApproval) -> ResolveApproval:
    """Return the answer with the arguments for what is allowed; a rejection if that is nothing, or cannot be told."""
    if not answer.refused or answer.decision.refuses:
        return answer
    kept = [place for place, diff in enumerate(diffs) if diff.path not in answer.refused]
    if not kept or run.tool.keep is None or len(diffs) - len(kept) < len(set(answer.refused)):
        return replace(answer, decision=Choice.REJECT_ONCE)
    return replace(answer, decision=Choice.ALLOW_ONCE, arguments=run.tool.keep(run.input, kept))
