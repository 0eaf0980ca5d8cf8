"""The card of an approval: exactly what would happen, and what a permission would allow."""

from collections.abc import Sequence

from rich.console import Group, RenderableType

from halocline.protocol.kinds import Choice
from halocline.protocol.permission_rules import CommandPart, Effect, Grade
from halocline.surfaces.figures import EFFECTS, GRADES, name_grade, sort_parts
from halocline.surfaces.grants import describe_grant
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.drawing.call_cards import DIFF_LINES, MARKS, WHOLE, draw_headline, indent_cards
from halocline.surfaces.terminal.drawing.diff_view import diff_view
from halocline.surfaces.terminal.drawing.theme import Wide, marked, wrapped

_EFFECT_STYLES = {Effect.DESTRUCTIVE: "bad", Effect.WRITES_OUTSIDE: "warn", Effect.NETWORK: "warn"}


def approval_card(row: r.CallRow, *, whole: bool = False) -> RenderableType:
    """An approval: exactly what would happen, and which rule asks. Nothing is hidden or cut within a line.

    It begins with the reason if that is not an ordinary one, or an agent asks.
    """
    approval = row.approval or r.Approval("", "")
    head = marked(
        draw_headline(reveal(approval.detail or row.title), approval.diffs), MARKS.get(row.kind, "•"), "accent"
    )
    where = f" · runs in {approval.place}" if approval.place else ""
    where += f" · {approval.sandbox}" if approval.sandbox else ""
    _, style = GRADES.get(approval.grade, ("", "quiet"))
    shown = reveal(name_grade(approval.grade, approval.reason, approval.agent) + where)
    reason = marked(wrapped(shown, style), "│", style, "│")
    diffs = diff_view(approval.diffs, WHOLE if whole else DIFF_LINES, whole_lines=True)
    first = (head, reason) if approval.grade is Grade.ORDINARY and not approval.agent else (reason, head)
    body = Group(*first, *_draw_parts(sort_parts(approval)), *indent_cards(diffs))
    return Wide(body) if diffs else body


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


def decision_line(row: r.CallRow) -> RenderableType | None:
    """A line for a decision that grants a permission; None for others."""
    approval = row.approval
    if approval and approval.decision is Choice.ALLOW_ALWAYS and approval.grant:
        return marked(wrapped(f"always allow {describe_grant(approval.grant, approval.scope)}", "quiet"), "│", "quiet")
    return None
