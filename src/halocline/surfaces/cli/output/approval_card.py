"""The card of an approval: exactly what would happen, and what a permission would allow."""

from collections.abc import Sequence

from rich.console import Group, RenderableType

from halocline.protocol.kinds import Choice, Grant, Scope, ToolKind
from halocline.protocol.permission_rules import CommandPart, Effect
from halocline.surfaces import row_kinds as r
from halocline.surfaces.cli.output.call_cards import CHANGES, DIFF_LINES, MARKS, WHOLE, draw_headline, indent_cards
from halocline.surfaces.cli.output.diff_view import diff_view
from halocline.surfaces.cli.output.sanitize import reveal
from halocline.surfaces.cli.output.theme import marked, wrapped
from halocline.surfaces.figures import (
    EFFECTS,
)

_EFFECT_STYLES = {Effect.DESTRUCTIVE: "bad", Effect.WRITES_OUTSIDE: "warn", Effect.NETWORK: "warn"}


def approval_card(row: r.CallRow, *, whole: bool = False) -> RenderableType:
    """An approval: exactly what would happen, and which rule asks. Nothing is hidden or cut within a line."""
    approval = row.approval or r.Approval("", "")
    head = marked(
        draw_headline(reveal(approval.detail or row.title), approval.diffs), MARKS.get(row.kind, "•"), "accent"
    )
    where = f" · runs in {approval.place}" if approval.place else ""
    where += f" · {approval.sandbox}" if approval.sandbox else ""
    reason = marked(wrapped(reveal(approval.reason + where), "quiet"), "│", "quiet", "│")
    diffs = diff_view(approval.diffs, WHOLE if whole else DIFF_LINES, whole_lines=True)
    return Group(head, reason, *_draw_parts(approval.parts), *indent_cards(diffs))


def _draw_parts(parts: Sequence[CommandPart]) -> list[RenderableType]:
    """Each command of a command line and its effect. A command that is the whole line is not repeated."""
    drawn: list[RenderableType] = []
    for part in parts:
        text = reveal(part.text).replace("\n", "␊")
        style = _EFFECT_STYLES.get(part.effect, "quiet")
        line_of_it = f"{text} · {EFFECTS[part.effect]}" if text else EFFECTS[part.effect]
        drawn.append(marked(wrapped(line_of_it, style), "│", "quiet", "│"))
        if part.targets:
            drawn.append(marked(wrapped(reveal(f"  → {', '.join(part.targets)}"), style), "│", "quiet", "│"))
    return drawn


def is_cut(row: r.CallRow) -> bool:
    """True if an approval card shows only the beginning of its diff."""
    return row.approval is not None and sum(diff.text.count("\n") for diff in row.approval.diffs) > DIFF_LINES


_REACH = {Scope.TASK: "in this task", Scope.PROJECT: "in this project", Scope.EVERYWHERE: "everywhere"}


def describe_grant(grant: Grant, scope: Scope = Scope.TASK) -> str:
    """Describe what *always* allows."""
    names = ", ".join(entry.rpartition("=")[0] for entry in grant.scripts)
    return f"{_describe_rule(grant)} {_REACH[scope]}" + (
        f", as long as {reveal(names)} does not change" if names else ""
    )


def _describe_rule(grant: Grant) -> str:
    subject = f"`{reveal(grant.subject)}`" if grant.subject else ""
    match grant.kind:
        case _ if grant.mcp:
            return (
                f"the tool {reveal(grant.mcp)}"
                if not grant.mcp.endswith("/*")
                else f"all tools of {reveal(grant.mcp[:-2])}"
            )
        case _ if grant.argv:
            return f"`{reveal(' '.join(grant.argv))} …`"
        case ToolKind.EXECUTE:
            return subject or "all commands"
        case ToolKind.FETCH:
            return f"fetching from {subject}"
        case kind if kind in CHANGES:
            return f"edits to {subject}" if subject else "edits in the workspace"
        case kind:
            return f"{kind} of {subject}" if subject else f"all {kind} actions"


def decision_line(row: r.CallRow) -> RenderableType | None:
    """A line for a decision that grants a permission; None for others."""
    approval = row.approval
    if approval and approval.decision is Choice.ALLOW_ALWAYS and approval.grant:
        return marked(wrapped(f"always allow {describe_grant(approval.grant, approval.scope)}", "quiet"), "│", "quiet")
    return None
