"""A call on its way through the gates, and the events that tell of it; pure."""

from collections.abc import Callable
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from halocline.policy.gate import Decision
from halocline.policy.holding import must_hold
from halocline.policy.named_writes import named_writes
from halocline.ports.tool import PROGRESS, AnyTool, Summary, ToolOutput
from halocline.protocol import events as ev
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Text, ToolCall, UserPart
from halocline.protocol.terminal_text import plain_output
from halocline.protocol.values import Value

OPTIONS = (ev.Choice.ALLOW_ONCE, ev.Choice.ALLOW_ALWAYS, ev.Choice.REJECT_ONCE)

MARKED = (
    "Nothing was run: the call holds a mark such as [redacted api-key 1a2b3c4d]. It stands in place of a secret that "
    "you are not shown, and would be taken for the secret itself. Let the command take the value from where it is "
    "(a variable or a file), or use replace_in_file, which keeps what a mark stands for."
)
_HEARS_A_PERSON = (ev.ToolKind.OTHER, ev.ToolKind.THINK)
_PASSES_ON = (ev.ToolKind.EXECUTE, ev.ToolKind.FETCH, ev.ToolKind.DELETE, ev.ToolKind.MOVE)


class Run(Value, frozen=True):
    """A call that passed every gate. `notes` are what a person or a hook said of it, for the model.

    `places` is where its paths led when that was judged, `identities` what was there, `rule` what let it pass, and
    `runs` the form in which its command is run, when that is not the command itself. `scripts` are what it runs, as
    they were when it was judged. `accepted`: a person saw its files as they are now, whatever the model knows of them.
    `approved`: a person let it run, who meant what was there then. `may_change` are the only files that it can change,
    none for one that only reads; None when it may be any.
    """

    call: ToolCall
    tool: AnyTool
    input: Any
    summary: Summary
    notes: tuple[UserPart, ...] = ()
    places: tuple[str, ...] = ()
    identities: tuple[str, ...] = ()
    rule: str = ""
    runs: str = ""
    scripts: tuple[str, ...] = ()
    accepted: bool = False
    approved: bool = False
    may_change: tuple[str, ...] | None = None

    @property
    def by_command(self) -> bool:
        """Tell whether it does not say what it writes, as an edit does."""
        return self.summary.may_change is None


def let_through(run: Run, decision: Decision) -> Run:
    """The call with what was found when it was judged."""
    return replace(
        run,
        places=decision.places,
        identities=decision.identities,
        rule=decision.rule,
        runs=decision.canonical or "",
        scripts=decision.scripts,
        may_change=_may_change(run.summary, decision),
    )


def _may_change(summary: Summary, decision: Decision) -> tuple[str, ...] | None:
    if summary.may_change is not None or not summary.command:
        return summary.may_change
    return () if decision.canonical is not None else named_writes(decision.parts)


def call_started(run: Run, sandbox: ev.SandboxChecked) -> ev.ToolCallStarted:
    """The call runs now."""
    summary = run.summary
    return ev.ToolCallStarted(
        call=run.call.id,
        name=run.call.name,
        title=summary.title,
        kind=summary.kind,
        locations=summary.locations,
        rule=run.rule,
        runs=run.runs,
        sandbox=must_hold(summary, sandbox),
        scripts=run.scripts,
    )


def approval_requested(
    request: str, run: Run, decision: Decision, diffs: tuple[ev.Diff, ...], sandbox: ev.SandboxChecked
) -> ev.ApprovalRequested:
    """A person has to decide about the call."""
    return ev.ApprovalRequested(
        request=request,
        call=run.call.id,
        name=run.call.name,
        title=run.summary.title,
        kind=run.summary.kind,
        reason=decision.reason,
        options=OPTIONS,
        detail=run.summary.command or run.summary.detail,
        diffs=diffs,
        grant=decision.grant,
        place=run.summary.place,
        rule=decision.rule,
        wider=decision.wider,
        parts=_shorten_parts(decision.parts, run.summary.command),
        sandbox=must_hold(run.summary, sandbox),
    )


def grant_of(answer: ResolveApproval, decision: Decision) -> ev.Grant | None:
    """What a person gave leave for, or refused, for good."""
    if answer.decision not in (ev.Choice.ALLOW_ALWAYS, ev.Choice.REJECT_ALWAYS):
        return None
    return decision.wider if answer.wider and decision.wider else decision.grant


def redact_output(output: ToolOutput, run: Run, redact: Callable[[str], str]) -> ToolOutput:
    """What a tool found, without secrets. What a person said to it stays as they said it."""
    if run.tool.kind in _HEARS_A_PERSON:
        return output
    read = redact if run.tool.kind is not ev.ToolKind.FETCH else lambda text: redact(plain_output(text))
    content = tuple(replace(part, text=read(part.text)) if isinstance(part, Text) else part for part in output.content)
    return output if content == output.content else replace(output, content=content)


def require_unmarked(run: Run) -> Run:
    """Give the call back; raise ToolFailure for one that would pass a mark on as if it were the secret itself.

    Tools that edit give the secret back where they can, and refuse by themselves.
    """
    if run.tool.kind not in _PASSES_ON or b"[redacted " not in (said := encode(run.call.arguments)):
        return run
    from halocline.protocol.secrets.redaction import holds_mark  # hardly ever

    if holds_mark(said.decode()):
        raise ToolFailure(MARKED)
    return run


def _shorten_parts(parts: tuple[ev.CommandPart, ...], command: str) -> tuple[ev.CommandPart, ...]:
    """The parts of a command as an event holds them: the text of one that is the whole command is not said again."""
    if len(parts) == 1 and parts[0].text == command.strip():
        return (replace(parts[0], text=""),)
    return parts


def approval_resolved(request: str, run: Run, answer: ResolveApproval, grant: ev.Grant | None) -> ev.ApprovalResolved:
    """A person has decided."""
    return ev.ApprovalResolved(
        request=request,
        call=run.call.id,
        decision=answer.decision,
        by="user",
        note=answer.note,
        client=answer.client,
        grant=grant,
        scope=answer.scope if grant else ev.Scope.TASK,
        arguments=None if answer.decision.refuses else answer.arguments,
        content=answer.content,
    )


def todos_changed(call: ToolCall, todos: tuple[ev.Todo, ...]) -> tuple[ev.TodosChanged, ...]:
    """The list that came along with a call, when it is another one."""
    from halocline.protocol.state.todo_markdown import from_markdown

    said = call.arguments[PROGRESS]
    along = isinstance(said, str) and call.name != "update_todos"  # there it is what the call itself is about
    new = from_markdown(said) if along else ()
    return (ev.TodosChanged(todos=new),) if new and new != todos else ()
