"""The card of an approval: exactly what would happen, and what a permission would allow."""

from rich.console import Group, RenderableType

from halocline.protocol.kinds import Choice
from halocline.protocol.permission_rules import Effect, Grade
from halocline.surfaces.figures import GRADES, describe_effect
from halocline.surfaces.grants import describe_grant
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.drawing.call_cards import DIFF_LINES, MARKS, WHOLE, draw_headline, indent_cards
from halocline.surfaces.terminal.drawing.diff_view import diff_view
from halocline.surfaces.terminal.drawing.theme import Wide, marked, wrapped

_EFFECT_STYLES = {Effect.DESTRUCTIVE: "bad", Effect.WRITES_OUTSIDE: "warn", Effect.NETWORK: "warn"}


def approval_card(row: r.CallRow, *, whole: bool = False) -> RenderableType:
    """An approval: exactly what would happen, and its effect in the color of its grade. Nothing is hidden or cut.

    It begins with the effect if that is not an ordinary one, or an agent asks.
    """
    approval = row.approval or r.Approval("", "")
    head = marked(
        draw_headline(reveal(approval.detail or row.title), approval.diffs), MARKS.get(row.kind, "•"), "accent"
    )
    where = [f"runs in {approval.place}" if approval.place else "", approval.sandbox]
    shown = " · ".join(filter(None, [describe_effect(approval), *where]))
    style = _find_style(approval)
    effect = [marked(wrapped(reveal(shown), style), "→", style)] if shown else []
    diffs = diff_view(approval.diffs, WHOLE if whole else DIFF_LINES, whole_lines=True)
    is_plain = approval.grade is Grade.ORDINARY and not approval.agent
    body = Group(*([head, *effect] if is_plain else [*effect, head]), *indent_cards(diffs))
    return Wide(body) if diffs else body


def _find_style(approval: r.Approval) -> str:
    """The color of the grade; of an ordinary one, that of its worst part."""
    found = [GRADES[approval.grade][1]] if approval.grade in GRADES else []
    found += [
        style for effect, style in _EFFECT_STYLES.items() if any(part.effect is effect for part in approval.parts)
    ]
    return next(iter(found), "quiet")


def is_cut(row: r.CallRow) -> bool:
    """True if an approval card shows only the beginning of its diff."""
    return row.approval is not None and sum(diff.text.count("\n") for diff in row.approval.diffs) > DIFF_LINES


def decision_line(row: r.CallRow) -> RenderableType | None:
    """A line for a decision that grants a permission; None for others."""
    approval = row.approval
    if approval and approval.decision is Choice.ALLOW_ALWAYS and approval.grant:
        return marked(wrapped(f"always allow {describe_grant(approval.grant, approval.scope)}", "quiet"), "│", "quiet")
    return None
