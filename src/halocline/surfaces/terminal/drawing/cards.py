"""Transcript rows as rich renderables. All text from models, tools and files passes `clean` or `reveal`."""

from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from halocline.protocol.events.hooks import HookDecision, HookStatus
from halocline.protocol.events.rewind import brief_target
from halocline.protocol.kinds import TodoStatus
from halocline.protocol.messages import StopReason
from halocline.protocol.state.todo_markdown import count_done
from halocline.surfaces import figures
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.theme import Band, Wide, draw_end, line, marked, wrapped

PROMPT_LINES, PROMPT_LETTERS = 20, 8_000
LONGEST_LINE = 1_000

_TODO = {
    TodoStatus.PENDING: ("○", "", "quiet"),
    TodoStatus.IN_PROGRESS: ("▸", "title", "accent"),
    TodoStatus.COMPLETED: ("✓", "quiet", "good"),
}


def start_card(row: r.StartRow) -> RenderableType:
    facts = (figures.model_name(row.model), f"{row.mode} mode", f"approvals: {row.approval_mode}", *row.folders)
    return marked(line(clean(" · ".join(filter(None, facts))), "quiet"), "◇", "accent")


def prompt_card(row: r.PromptRow) -> RenderableType:
    """The prompt; of a long one, its beginning. What came with it is always named."""
    lines = clean(row.typed if row.names else row.text).strip("\n").split("\n")
    beginning = "\n".join(lines[:PROMPT_LINES])
    body: list[RenderableType] = [wrapped(beginning[:PROMPT_LETTERS], "prompt")] if beginning or not row.names else []
    if hidden := lines[PROMPT_LINES:]:
        body.append(line(f"… {figures.format_plural(len(hidden), 'more line')}", "quiet"))
    elif (letters := len(beginning) - PROMPT_LETTERS) > 0:
        body.append(line(f"… {figures.format_plural(letters, 'more character')}", "quiet"))
    body += [wrapped(clean(name), "prompt") for name in row.names]
    return Wide(Band(marked(Group(*body), "❯", "accent")))


def thought_card(row: r.ThoughtRow, *, details: bool) -> RenderableType:
    """A thought: its first line, or all of it."""
    text = clean(row.text).strip()
    body = wrapped(text, "thought") if details else line(text[:LONGEST_LINE].split("\n", 1)[0], "thought")
    return marked(body, "∴", "quiet")


def question_card(row: r.QuestionRow) -> RenderableType:
    """A question with its options; empty text means it was already printed above them."""
    body: list[RenderableType] = [wrapped(clean(row.question), "title")] if row.question else []
    for number, option in enumerate(row.options, 1):
        body.append(marked(wrapped(clean(option)), str(number), "accent"))
    return marked(Group(*body), "?", "accent")


def answer_line(row: r.QuestionRow) -> RenderableType:
    if row.by != "user":
        return draw_end(_UNANSWERED.get(row.by, "no one was available to answer"), "warn")
    return marked(wrapped(clean(row.answer)), "└", "quiet")


_UNANSWERED = {"interrupt": "interrupted", "message": "answered with a message", "withdrawn": "withdrawn"}


def todos_card(row: r.TodosRow) -> RenderableType:
    edited = ", edited by you" if row.by == "person" else ""
    head = Text.assemble(("Plan", "title"), (f"  {count_done(row.todos)}/{len(row.todos)}{edited}", "quiet"))
    items = [_draw_todo(todo.text, todo.status) for todo in row.todos]
    return marked(Group(head, *items), "≡", "accent")


def _draw_todo(text: str, status: TodoStatus) -> RenderableType:
    mark, style, mark_style = _TODO[status]
    return marked(wrapped(clean(text), style), mark, mark_style)


def restored_card(row: r.RestoredRow) -> RenderableType:
    text = f"restored {brief_target(clean(row.checkpoint))} · {figures.format_plural(len(row.changed), 'file')} changed"
    undo = f" · undo: {brief_target(clean(row.undo))}" if row.undo else ""
    left_out = "".join(f"\n{clean(one)}" for one in row.left_out)
    return marked(wrapped(text + undo + left_out, "quiet"), "↺", "accent")


def retry_card(row: r.RetryRow) -> RenderableType:
    return marked(wrapped(clean(figures.describe_retry(row)), "quiet"), "↻", "warn")


def job_end_card(row: r.JobEndRow) -> RenderableType:
    command = clean(row.command).split("\n", 1)[0]
    good = row.exit_code == 0 and not row.stopped
    return marked(line(f"{clean(figures.job_ending(row))} · {command}", "quiet"), "◂", "good" if good else "warn")


def message_card(text: str) -> RenderableType:
    return marked(Group(*(wrapped(clean(part)) for part in text.split("\n"))), "◇", "accent")


def command_card(text: str) -> RenderableType:
    """A slash command as it was typed."""
    return marked(wrapped(clean(text).strip(), "quiet"), "❯", "accent")


def rules_card(row: r.RulesRow) -> RenderableType:
    return marked(wrapped(clean(figures.describe_rules(row)), "quiet"), "§", "quiet")


def compaction_card(row: r.CompactionRow) -> RenderableType:
    return marked(wrapped(figures.describe_compaction(row), "quiet"), "⇣", "quiet")


def hook_card(row: r.HookRow) -> RenderableType:
    good = row.status is HookStatus.COMPLETED and row.decision is not HookDecision.BLOCK
    return marked(wrapped(clean(figures.hook_ending(row)), "quiet"), "⚑", "quiet" if good else "warn")


def notice_card(row: r.NoticeRow) -> RenderableType:
    mark, style = {None: ("!", "warn"), True: ("✓", "good"), False: ("✗", "warn")}[row.met]
    return marked(wrapped(clean(row.text), "quiet"), mark, style)


def error_card(row: r.ErrorRow) -> RenderableType:
    body = [wrapped(clean(row.text)), *([wrapped(clean(row.hint), "quiet")] if row.hint else [])]
    return marked(Group(*body), "✗", "bad")


def end_card(row: r.TurnEndRow, checkpoints: int = 0) -> RenderableType:
    """The end of a turn, and how many `checkpoints` were taken in it: each is a state to go back to."""
    saved = [figures.format_plural(checkpoints, "checkpoint")] if checkpoints else []
    match row.reason:
        case StopReason.END_TURN if not (row.failed or row.evidence.not_confirmed):
            mark, style = "✓", "good"
        case StopReason.ERROR | StopReason.REFUSAL:
            mark, style = "✗", "bad"
        case _:
            mark, style = "■", "warn"
    style_of = {row.evidence.doubt: "warn" if row.evidence.not_confirmed else "quiet"}
    more = [line(clean(text), style_of.get(text, "quiet")) for text in row.evidence.lines]
    return marked(Group(wrapped(clean(figures.describe_ending(row, *saved)), "quiet"), *more), mark, style)


CARDS: dict[type, tuple[Callable[[Any], RenderableType], str]] = {
    r.StartRow: (start_card, ""),
    r.PromptRow: (prompt_card, ""),
    r.TodosRow: (todos_card, ""),
    r.RestoredRow: (restored_card, ""),
    r.RetryRow: (retry_card, "line"),
    r.JobEndRow: (job_end_card, "line"),
    r.RulesRow: (rules_card, "line"),
    r.CompactionRow: (compaction_card, "line"),
    r.HookRow: (hook_card, "line"),
    r.NoticeRow: (notice_card, "line"),
    r.ErrorRow: (error_card, ""),
}
"""The card of each kind of row that looks the same everywhere, and the group of rows without blank lines between."""
