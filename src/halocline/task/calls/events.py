"""A call on its way through the gates, and the events about it. Pure."""

from collections.abc import Callable
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from halocline.policy.gate import Decision
from halocline.policy.holding import must_hold
from halocline.policy.paths import Folders
from halocline.ports.permissions import JUDGE
from halocline.ports.tool import PROGRESS, AnyTool, Summary, ToolOutput
from halocline.protocol import events as ev, secrets
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import Choice, Diff, Grant, Scope, Todo, ToolKind
from halocline.protocol.messages import Text, ToolCall, UserPart
from halocline.protocol.permission_rules import CommandPart, Effect
from halocline.protocol.terminal_text import plain_output
from halocline.protocol.values import Value

OPTIONS = (Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS, Choice.REJECT_ONCE)

MARKED = (
    "Nothing was run: the call contains a mark such as [redacted api-key 1a2b3c4d]. It stands for a secret hidden from "
    "you and would be used literally. Let the command read the value from its source (a variable or a file), or use "
    "replace_in_file, which keeps the secret behind a mark."
)
UNDECLARED = "declared to change no files"
"""Said of a tool of the program during whose call files changed."""
_HEARS_A_PERSON = (ToolKind.OTHER, ToolKind.THINK)
_PASSES_ON = (ToolKind.EXECUTE, ToolKind.FETCH, ToolKind.DELETE, ToolKind.MOVE)


class Run(Value, frozen=True):
    """A call that passed every gate. `notes` are remarks of the user or a hook, for the model.

    As of the decision: `places` are the resolved paths, `identities` the files there, `scripts` those that its command
    runs, `rule` the rule that allowed it, and `runs` the command in the form that runs, if that differs. `accepted`:
    the user saw its files as they are now, whatever the model knows. `approved`: the user allowed it, with the files as
    they were then. `may_change` and `left_out` are as in a `Decision`; a call that only reads may change no entries.
    `destroys`: part of its command deletes or overwrites files. `folders` are those of its decision.
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
    mixed: str = ""
    left_out: str = ""
    scripts: tuple[str, ...] = ()
    accepted: bool = False
    approved: bool = False
    may_change: tuple[str, ...] | None = None
    destroys: bool = False
    folders: Folders | None = None

    @property
    def changes_files(self) -> bool:
        """True unless it is known to change none."""
        return self.tool.edits and self.may_change != ()

    @property
    def by_command(self) -> bool:
        """True if the files it writes are unknown in advance, unlike those of an edit."""
        return self.may_change is None or self.summary.may_change is None


def name_cause(run: Run) -> str:
    """Return what changes during a call are attributed to: a command, a tool of the program, or a hook."""
    if not run.summary.custom:
        return run.summary.command or f"a hook on {run.call.name}"
    return run.call.name if run.tool.edits else f"{run.call.name} ({UNDECLARED})"


def let_through(run: Run, decision: Decision) -> Run:
    """Return the call with the findings of its decision."""
    return replace(
        run,
        places=decision.places,
        identities=decision.identities,
        rule=decision.rule,
        runs=decision.canonical or "",
        mixed=decision.mixed,
        left_out=decision.left_out,
        scripts=decision.scripts,
        may_change=() if decision.canonical is not None else decision.changes,
        destroys=any(part.effect is Effect.DESTRUCTIVE for part in decision.parts),
        folders=decision.folders,
    )


def call_started(run: Run, sandbox: ev.SandboxChecked) -> ev.ToolCallStarted:
    """Build the event of a call that starts."""
    summary = run.summary
    return ev.ToolCallStarted(
        call=run.call.id,
        name=run.call.name,
        title=summary.title,
        kind=summary.kind,
        locations=summary.locations,
        rule=run.rule,
        runs=run.runs or run.mixed,
        sandbox=must_hold(summary, sandbox),
        scripts=run.scripts,
    )


def approval_requested(
    request: str, run: Run, decision: Decision, diffs: tuple[Diff, ...], sandbox: ev.SandboxChecked
) -> ev.ApprovalRequested:
    """Build the event that asks the user about a call."""
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
        grade=decision.grade,
        lost=decision.lost,
    )


def grant_of(answer: ResolveApproval, decision: Decision) -> Grant | None:
    """Return what the user allowed or refused permanently; None for a single decision."""
    if answer.decision not in (Choice.ALLOW_ALWAYS, Choice.REJECT_ALWAYS):
        return None
    return decision.wider if answer.wider and decision.wider else decision.grant


def redact_output(output: ToolOutput, run: Run, redact: Callable[[str], str]) -> ToolOutput:
    """Redact secrets in a tool's output, once. What the user answered stays unchanged."""
    if output.redacted or run.tool.kind in _HEARS_A_PERSON:
        return output
    read = redact if run.tool.kind is not ToolKind.FETCH else lambda text: redact(plain_output(text))
    content = tuple(replace(part, text=read(part.text)) if isinstance(part, Text) else part for part in output.content)
    return output if content == output.content else replace(output, content=content)


def require_unmarked(run: Run) -> Run:
    """Return the call; raise ToolFailure if it would use a redaction mark as if it were the secret itself.

    Editing tools restore the secret where they can, and refuse otherwise.
    """
    if run.tool.kind not in _PASSES_ON or b"[redacted " not in (arguments := encode(run.call.arguments)):
        return run
    if secrets.redaction.holds_mark(arguments.decode()):
        raise ToolFailure(MARKED, person="not run: the model wrote a mark that stands for a secret")
    return run


def _shorten_parts(parts: tuple[CommandPart, ...], command: str) -> tuple[CommandPart, ...]:
    """Return the parts of a command for an event; a part that is the whole command does not repeat its text."""
    if len(parts) == 1 and parts[0].text == command.strip():
        return (replace(parts[0], text=""),)
    return parts


def approval_resolved(request: str, run: Run, answer: ResolveApproval, grant: Grant | None) -> ev.ApprovalResolved:
    """Build the event of the user's decision."""
    return ev.ApprovalResolved(
        request=request,
        call=run.call.id,
        decision=answer.decision,
        by=JUDGE if answer.client == JUDGE else "user",
        note=answer.note,
        client=answer.client,
        grant=grant,
        scope=answer.scope if grant else Scope.TASK,
        arguments=None if answer.decision.refuses else answer.arguments,
        content=answer.content,
        refused=() if answer.decision.refuses else answer.refused,
        goes_on=answer.decision.refuses and answer.goes_on,
    )


def todos_changed(call: ToolCall, todos: tuple[Todo, ...]) -> tuple[ev.TodosChanged, ...]:
    """Return the to-do list that came with a call, if it changed."""
    from halocline.protocol.state.todo_markdown import from_markdown

    text = call.arguments[PROGRESS]
    along = isinstance(text, str) and call.name != "update_todos"  # there the list is the call's own argument
    new = from_markdown(text) if along else ()
    return (ev.TodosChanged(todos=new),) if new and new != todos else ()
