"""From what the model asked to what it hears back: every call gets exactly one end.

`prepare` answers by itself whatever cannot run (unknown tool, bad arguments, denied, rejected, skipped) and gives
nothing then. `perform` runs what may run and never raises except for cancellation and an unwritable log.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from halocline.context.budget import CEILING, within
from halocline.policy.gate import Decision, Posture, decide
from halocline.policy.holding import holding
from halocline.ports.checkpoints import Checkpoints
from halocline.ports.tool import AnyTool, Summary, ToolContext, ToolOutput, Toolset
from halocline.protocol import events as ev
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Note, ResultPart, Text, ToolCall, ToolResult
from halocline.protocol.rules import Verdict
from halocline.protocol.state import State
from halocline.protocol.values import Value
from halocline.task.governor import remark
from halocline.task.inbox import Inbox
from halocline.task.judging import posture, summary_of
from halocline.task.log import Log, LogUnwritable
from halocline.task.machine import Machine
from halocline.task.reach import Reach

if TYPE_CHECKING:
    pass  # most tasks have none

OPTIONS = (ev.Choice.ALLOW_ONCE, ev.Choice.ALLOW_ALWAYS, ev.Choice.REJECT_ONCE)
ALLOWED = (ev.Choice.ALLOW_ONCE, ev.Choice.ALLOW_ALWAYS)

NOT_EXECUTED = (
    "Nothing was executed: the arguments of this call are not complete and well-formed{why}. "
    "Send the whole call again{advice}. Received: {received}"
)
DENIED = "Not allowed: {reason} (rule {rule}). Nothing was run; go on without it."
NOBODY = (
    "Not done: this needs a person's approval ({reason}) and nobody can give it in this run. "
    "Do not try to get around it. Do what you can without it, or finish and say what is left."
)
DECLINED = "The person declined this call; it was not run and nothing changed."
MOVED = "Not done: a path of this call leads elsewhere than when it was judged. Nothing was changed; send it again."
CHANGED = "Not done: a file changed after the person saw this edit. It is as it is now; read it again, then edit."
UNKNOWN_TOOL = "There is no tool"
SKIPPED = "Skipped, because the person declined an earlier call of this message."

_log = logging.getLogger("halocline")


class NotAdmitted(Exception):
    """A gate was closed; `text` tells the model, `status` is how the call ends."""

    def __init__(self, text: str, status: ev.CallStatus = ev.CallStatus.REJECTED) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


class Run(Value, frozen=True):
    """A call that passed every gate. `notes` are a person's words on the approval, for the model.

    `places` is where its paths led when that was judged, `rule` what let it pass, and `runs` the form in which its
    command is run, when that is not the command itself.
    """

    call: ToolCall
    tool: AnyTool
    input: Any
    summary: Summary
    notes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    rule: str = ""
    runs: str = ""


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
        machine: Machine,
        checkpoints: Checkpoints,
        home: Path,
    ) -> None:
        self._log = log
        self._emit = emit
        self._state = state
        self._toolset = toolset
        self._inbox = inbox
        self._machine = machine
        self._checkpoints = checkpoints
        self._home = home

    async def prepare(self, call: ToolCall) -> Run | None:
        """Pass every gate, or end the call here."""
        try:
            if self._state().declined:
                raise NotAdmitted(SKIPPED, ev.CallStatus.SKIPPED)
            return await self._admit(self._understand(call, self._state().last_message.model))
        except NotAdmitted as stopped:
            self._end(call, stopped.status, stopped.text)
        except ToolFailure as failure:
            self._end(call, ev.CallStatus.FAILED, failure.text)
        except LogUnwritable:
            raise
        except Exception as bug:
            self._broke(call, bug)
        return None

    async def perform(self, run: Run) -> None:
        """Do it, and say how it ended."""
        call, summary = run.call, run.summary
        self._emit(_started(run, self._state().sandbox))
        try:
            if run.tool.edits:
                await asyncio.gather(self._checkpoints.barrier(summary.may_change), self._log.sync())
                self._require_same_places(run)
            output = await run.tool.run(run.input, self._context(run))
            self._emit(*output.events)
            output = await self._followed(run, output)
        except ToolFailure as failure:
            self._end(call, ev.CallStatus.FAILED, failure.text)
        except LogUnwritable:
            raise
        except Exception as bug:
            self._broke(call, bug)
        else:
            self._complete(run, output)

    async def _followed(self, run: Run, output: ToolOutput) -> ToolOutput:
        """With what became of the files that it wrote; those that were read are looked at in the background."""
        machine, workspace = self._machine, Path(self._state().workspace)
        if run.tool.kind is ev.ToolKind.READ:
            for path in run.summary.paths:
                machine.diagnostics.expect(workspace / path)
        if not any(isinstance(fact, ev.FileChanged) for fact in output.events):
            return output
        from halocline.task.aftermath import Follower

        follower = Follower(
            workspace, machine.files, machine.shell, machine.blobs, machine.diagnostics, machine.formatters
        )
        found = await follower.after(output.events)
        self._emit(*found.facts)
        return replace(output, content=(*output.content, *found.notes), diffs=(*output.diffs, *found.diffs))

    def _require_same_places(self, run: Run) -> None:
        """A link may have been put in the way while a person was thinking."""
        if decide(run.summary, self._posture()).places != run.places:
            raise ToolFailure(MOVED)

    def _understand(self, call: ToolCall, model: str) -> Run:
        tool = self._toolset.find(call.name)
        if tool is None:
            known = ", ".join(spec.name for spec in self._toolset.specs(self._state()))
            raise ToolFailure(f"{UNKNOWN_TOOL} {call.name!r}. The tools are: {known}.")
        if call.malformed:
            raise ToolFailure(self._not_executed(call))
        try:
            given, summary = summary_of(call, tool, model, self._state())
        except msgspec.ValidationError as error:
            raise ToolFailure(f"Wrong arguments for {call.name}: {error}. Nothing was run; send it again.") from error
        if tool.instead and (other := tool.instead(given, self._state().shell.cwd)):
            name, meant = other
            return self._understand(replace(call, name=name, arguments=meant), model="")
        return Run(call, tool, given, summary)

    def _not_executed(self, call: ToolCall) -> str:
        cut = self._state().last_message.stop_reason.value == "max_tokens"
        return NOT_EXECUTED.format(
            why=" (the reply was cut off by the output limit)" if cut else "",
            advice=", in smaller pieces: several short edits instead of one long one" if cut else "",
            received=call.malformed[:200] + ("…" if len(call.malformed) > 200 else ""),
        )

    async def _admit(self, run: Run) -> Run:
        await self._look_at_sandbox(run.summary)
        decision = self._judge(run)
        run = replace(run, places=decision.places, rule=decision.rule, runs=decision.canonical or "")
        return run if decision.verdict is Verdict.ALLOW else await self._approve(run, decision)

    async def _look_at_sandbox(self, summary: Summary) -> None:
        """Before the first command is judged, and when another process has taken the task up: is there one?"""
        if summary.in_sandbox is None:
            return
        found = await self._machine.shell.sandbox()
        if found != self._state().sandbox:
            self._emit(found)

    def _judge(self, run: Run) -> Decision:
        decision = decide(run.summary, self._posture())
        if decision.verdict is Verdict.DENY:
            raise NotAdmitted(DENIED.format(reason=decision.reason, rule=decision.rule))
        return decision

    async def _approve(self, run: Run, decision: Decision) -> Run:
        diffs = await run.tool.preview(run.input, self._context(run)) if run.tool.preview else ()
        request = f"r{self._state().seq + 1}"
        with self._inbox.decision(request) as decision_of_person:
            self._emit(_asked(request, run, decision, diffs, self._state().sandbox))
            await self._log.sync()
            answer = await decision_of_person.arrives()
        if answer is None:
            self._emit(ev.ApprovalResolved(request, run.call.id, ev.Choice.REJECT_ONCE, "nobody"))
            raise NotAdmitted(NOBODY.format(reason=decision.reason))
        self._emit(_resolved(request, run, answer, _granted(answer, decision)))
        if answer.decision not in ALLOWED:
            raise NotAdmitted(DECLINED + (f' They said: "{answer.note}"' if answer.note else ""))
        await self._keep_leave(answer, decision)
        await self._require_same_diffs(run, diffs)
        return self._approved(run, answer.note, answer.arguments)

    async def _keep_leave(self, answer: ResolveApproval, decision: Decision) -> None:
        grant = _granted(answer, decision)
        if grant is None or answer.scope is ev.Scope.TASK:
            return
        folder = Path(self._state().workspace) if answer.scope is ev.Scope.PROJECT else None
        try:
            await asyncio.to_thread(self._machine.leave.keep, grant, folder)
        except OSError as error:
            self._emit(ev.Noticed(f"Leave was given for this task only: it cannot be kept ({error})."))

    async def _require_same_diffs(self, run: Run, diffs: tuple[ev.Diff, ...]) -> None:
        """A person approves what they saw: a file that changed meanwhile would be edited into something else."""
        if diffs and run.tool.preview and await run.tool.preview(run.input, self._context(run)) != diffs:
            raise ToolFailure(CHANGED)

    def _approved(self, run: Run, note: str, arguments: dict[str, object] | None) -> Run:
        notes = (f"The person said on approving: {note}",) if note else ()
        if arguments is None:
            return replace(run, notes=notes)
        edited = self._understand(replace(run.call, arguments=arguments), model="")
        edited = replace(edited, places=self._judge(edited).places)
        changed = f"The person changed this call before it ran. What ran: {edited.summary.title}"
        return replace(edited, notes=(changed, *notes))

    def _complete(self, run: Run, output: ToolOutput) -> None:
        content: tuple[ResultPart, ...] = within(output.content, CEILING, self._machine.blobs.put)
        first = next((part.text for part in content if isinstance(part, Text)), "")
        content += (*(Note(said, "approval") for said in run.notes), *self._remark(run.call, first))
        self._emit(
            ev.ToolCallEnded(
                call=run.call.id,
                name=run.call.name,
                status=ev.CallStatus.COMPLETED,
                result=ToolResult(run.call.id, content),
                diffs=output.diffs,
                ends_turn=output.ends_turn,
            ),
        )

    def _broke(self, call: ToolCall, bug: Exception) -> None:
        """A tool's bug must not end the task: the trace goes to the program's log, one line to the model."""
        _log.error("the tool %s broke on %s", call.name, call.arguments, exc_info=bug)
        self._end(call, ev.CallStatus.FAILED, f"The tool {call.name} broke ({type(bug).__name__}: {bug}).")

    def _end(self, call: ToolCall, status: ev.CallStatus, text: str) -> None:
        (said,) = within((Text(text),), CEILING, self._machine.blobs.put)
        result = ToolResult(call.id, (said, *self._remark(call, text)), is_error=True)
        self._emit(ev.ToolCallEnded(call=call.id, name=call.name, status=status, result=result))

    def _remark(self, call: ToolCall, text: str) -> tuple[Note, ...]:
        said = remark(self._state(), call, text)
        return (Note(said, "repetition"),) if said else ()

    def _posture(self) -> Posture:
        book = self._machine.leave.book()
        if book != self._state().rules:
            self._emit(ev.RulesChanged(book=book))
        return posture(self._state(), self._home, self._machine.facts)

    def _context(self, run: Run) -> ToolContext:
        state = self._state()
        files, search = self._machine.files, self._machine.search
        if lines := state.rules.ignored:
            from halocline.task.hiding import Hidden, HidingFiles, HidingSearch  # few workspaces have ignore files

            hidden = Hidden(Path(state.workspace), lines)
            files, search = HidingFiles(files, hidden), HidingSearch(search, hidden)
        return ToolContext(
            call=run.call.id,
            workspace=Path(state.workspace),
            files=files,
            shell=self._machine.shell,
            search=search,
            web=self._machine.web,
            blobs=self._machine.blobs,
            ask=self.ask,
            reach=Reach(run.summary, self._posture, self._machine.web),
            progress=partial(self._progress, run.call.id),
            code=self._machine.code,
            documents=self._machine.documents,
            browser=self._machine.browser,
            takes_images=partial(self._machine.takes_images, state.last_message.model or state.model),
            syntax_errors=self._machine.syntax_errors,
            partial_edits=self._machine.partial_edits,
            messages=state.messages,
            todos=state.todos,
            mode=state.mode,
            approval_mode=state.approval_mode,
            model=state.model,
            folder=self._machine.folder,
            revisions=self._machine.revisions,
            web_search=self._machine.web_search,
            redact=self._machine.redact,
            new_task_id=self._machine.new_task_id,
            runs=run.runs,
        )

    def _progress(self, call: str, text: str) -> None:
        self._emit(ev.ToolCallProgressed(call, text))

    async def ask(self, question: str, options: Sequence[str], call: str) -> str | None:
        """Put a question to the person; None when nobody can answer."""
        request = f"q{self._state().seq + 1}"
        with self._inbox.answer(request) as answer_of_person:
            self._emit(ev.QuestionAsked(request=request, question=question, options=tuple(options), call=call))
            await self._log.sync()
            answer = await answer_of_person.arrives()
        by, text, client = ("user", answer.answer, answer.client) if answer else ("nobody", "", "")
        self._emit(ev.QuestionAnswered(request=request, answer=text, by=by, client=client))
        return answer.answer if answer else None


def _started(run: Run, sandbox: ev.SandboxChecked) -> ev.ToolCallStarted:
    summary = run.summary
    return ev.ToolCallStarted(
        call=run.call.id,
        name=run.call.name,
        title=summary.title,
        kind=summary.kind,
        locations=summary.locations,
        rule=run.rule,
        runs=run.runs,
        sandbox=holding(summary, sandbox),
    )


def _asked(
    request: str, run: Run, decision: Decision, diffs: tuple[ev.Diff, ...], sandbox: ev.SandboxChecked
) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        request=request,
        call=run.call.id,
        name=run.call.name,
        title=run.summary.title,
        kind=run.summary.kind,
        reason=decision.reason,
        options=OPTIONS,
        detail=run.summary.command,
        diffs=diffs,
        grant=decision.grant,
        place=run.summary.place,
        rule=decision.rule,
        wider=decision.wider,
        parts=_told(decision.parts, run.summary.command),
        sandbox=holding(run.summary, sandbox),
    )


def _granted(answer: ResolveApproval, decision: Decision) -> ev.Grant | None:
    """What a person gave leave for, or refused, for good."""
    if answer.decision not in (ev.Choice.ALLOW_ALWAYS, ev.Choice.REJECT_ALWAYS):
        return None
    return decision.wider if answer.wider and decision.wider else decision.grant


def _told(parts: tuple[ev.CommandPart, ...], command: str) -> tuple[ev.CommandPart, ...]:
    """The parts of a command as an event holds them: the text of one that is the whole command is not said again."""
    if len(parts) == 1 and parts[0].text == command.strip():
        return (replace(parts[0], text=""),)
    return parts


def _resolved(request: str, run: Run, answer: ResolveApproval, grant: ev.Grant | None) -> ev.ApprovalResolved:
    return ev.ApprovalResolved(
        request=request,
        call=run.call.id,
        decision=answer.decision,
        by="user",
        note=answer.note,
        client=answer.client,
        grant=grant,
        scope=answer.scope if grant else ev.Scope.TASK,
        arguments=answer.arguments if answer.decision in ALLOWED else None,
    )
