"""Transcript rows as rich renderables. All text from models, tools and files passes `clean` or `reveal`."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from halocline.protocol.events.hooks import HookDecision, HookStatus
from halocline.protocol.events.rewind import brief_target
from halocline.protocol.events.subagents import LaneEnd
from halocline.protocol.kinds import CallStatus, Choice, Diff, Grant, Scope, TodoStatus, ToolKind
from halocline.protocol.messages import StopReason
from halocline.protocol.permission_rules import CommandPart, Effect
from halocline.protocol.state.todo_markdown import count_done
from halocline.surfaces import row_kinds as r
from halocline.surfaces.cli.output.diff_view import diff_view, draw_stat
from halocline.surfaces.cli.output.sanitize import clean, reveal
from halocline.surfaces.cli.output.theme import line, marked, wrapped
from halocline.surfaces.figures import (
    EFFECTS,
    describe_compaction,
    describe_ending,
    describe_lane,
    describe_retry,
    describe_rules,
    format_plural,
    hook_ending,
    job_ending,
    model_name,
)

OUTPUT_LINES = 12
DIFF_LINES = 40
PROMPT_LINES, PROMPT_LETTERS = 20, 8_000
LONGEST_LINE = 1_000
WHOLE = 1_000_000
"""Effectively unlimited lines."""
LOOKS = frozenset({ToolKind.READ, ToolKind.SEARCH})
CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})

_MARKS = {ToolKind.EXECUTE: "$", ToolKind.FETCH: "↓"} | dict.fromkeys(CHANGES, "±") | dict.fromkeys(LOOKS, "▸")
_EFFECT_STYLES = {Effect.DESTRUCTIVE: "bad", Effect.WRITES_OUTSIDE: "warn", Effect.NETWORK: "warn"}
_TODO = {
    TodoStatus.PENDING: ("○", "", "quiet"),
    TodoStatus.IN_PROGRESS: ("▸", "title", "accent"),
    TodoStatus.COMPLETED: ("✓", "quiet", "good"),
}


def start_card(row: r.StartRow) -> RenderableType:
    facts = (model_name(row.model), f"{row.mode} mode", f"approvals: {row.approval_mode}", *row.folders)
    return marked(line(clean(" · ".join(filter(None, facts))), "quiet"), "◇", "accent")


def prompt_card(row: r.PromptRow) -> RenderableType:
    """The prompt; of a long one, its beginning."""
    lines = clean(row.text).strip("\n").split("\n")
    beginning = "\n".join(lines[:PROMPT_LINES])
    body: list[RenderableType] = [wrapped(beginning[:PROMPT_LETTERS], "prompt")]
    if hidden := lines[PROMPT_LINES:]:
        body.append(line(f"… {format_plural(len(hidden), 'more line')}", "quiet"))
    elif (letters := len(beginning) - PROMPT_LETTERS) > 0:
        body.append(line(f"… {format_plural(letters, 'more character')}", "quiet"))
    return marked(Group(*body), "❯", "accent")


def thought_card(row: r.ThoughtRow, *, details: bool) -> RenderableType:
    """A thought: its first line, or all of it."""
    text = clean(row.text).strip()
    body = wrapped(text, "thought") if details else line(text[:LONGEST_LINE].split("\n", 1)[0], "thought")
    return marked(body, "∴", "quiet")


def looks_card(rows: Sequence[r.CallRow]) -> RenderableType:
    """Consecutive reads, lists and searches as one line."""
    return marked(wrapped(summarize_looks(rows), "quiet"), "▸", "quiet")


def summarize_looks(rows: Sequence[r.CallRow], limit: int = 8) -> str:
    """`Read a.py, b.py · Search "x"`: consecutive titles with the same verb share it."""
    parts: list[tuple[str, list[str]]] = []
    for row in rows[:limit]:
        verb, _, rest = clean(row.title).replace("\n", " ").partition(" ")
        if parts and parts[-1][0] == verb:
            parts[-1][1].append(rest)
        else:
            parts.append((verb, [rest]))
    groups = [f"{verb} {', '.join(rests)}" for verb, rests in parts]
    if more := rows[limit:]:
        groups.append(f"{len(more)} more")
    return " · ".join(groups)


def call_card(row: r.CallRow, *, headed: bool = True, details: bool = False) -> RenderableType:
    """A finished call: its title, result and end. `headed` is false below its approval card."""
    head = [call_head(row)] if headed else []
    if row.status is not CallStatus.COMPLETED and not row.own:
        return Group(*head, _unhappy_end(row))
    if row.kind is ToolKind.EXECUTE:
        return Group(*head, *_command_output(row, details=details))
    if row.diffs:
        seen = row.approval is not None and row.approval.diffs == row.diffs and not headed
        explained = any(diff.remarks for diff in row.diffs)
        limit = 0 if seen else (WHOLE if details or explained else DIFF_LINES)
        return Group(*head, *([_draw_end("applied", "good")] if seen else _indent(diff_view(row.diffs, limit))))
    body = [marked(line(text, "quiet"), "│", "quiet") for text in _split_lines(row.output)] if details else []
    return Group(*head, *body, *([] if headed else [_draw_end("done", "good")]))


def foreign_card(row: r.CallRow, *, headed: bool, whole: bool, markdown: bool) -> RenderableType:
    """Result of an MCP tool; only its beginning unless `whole`."""
    lines = _split_lines(row.output)
    shown = lines if whole or len(lines) <= OUTPUT_LINES + 1 else lines[:OUTPUT_LINES]
    body: RenderableType = Group(*(wrapped(text, "quiet") for text in shown))
    if markdown and shown:
        from halocline.surfaces.cli.output.markdown import Prose

        body = Prose("\n".join(shown))
    more = (
        [_draw_end(f"… {format_plural(len(lines) - len(shown), 'more line')}", "quiet")]
        if len(lines) > len(shown)
        else []
    )
    head = [call_head(row)] if headed else []
    return Group(*head, *([marked(body, "│", "quiet", "│")] if shown else []), *more)


def lane_card(lane: r.Lane, *, details: bool) -> RenderableType:
    """A finished sub-agent in one line; with `details`, also its prompt and report."""
    mark, style = _LANE_ENDS[lane.end or LaneEnd.STOPPED]
    child = f" · task {lane.child}" if lane.model else ""
    head = Text.assemble(
        (clean(lane.name), "title"), "  ", (clean(describe_lane(lane)) + child, "quiet"), overflow="fold"
    )
    texts = [*lane.remarks, *([lane.prompt, lane.report] if details else [])]
    body = [wrapped(text, "quiet") for part in texts for text in _split_lines(part)]
    return marked(Group(head, *body), mark, style)


_LANE_ENDS = {
    LaneEnd.DONE: ("✓", "good"),
    LaneEnd.LIMIT: ("■", "warn"),
    LaneEnd.STOPPED: ("■", "warn"),
    LaneEnd.FAILED: ("✗", "bad"),
}


def call_head(row: r.CallRow) -> RenderableType:
    """Title of a call in one line; a long command in a few."""
    title = clean(row.title)
    if row.kind in LOOKS:
        return marked(line(title, "quiet"), _MARKS[row.kind], "quiet")
    if row.own:
        return marked(Text.assemble(wrapped(title, "title"), ("  you", "quiet"), overflow="fold"), "$", "accent")
    head = _draw_headline(title, row.diffs)
    if row.approval and row.approval.edited:
        head = Text.assemble(head, ("  edited by you", "quiet"), overflow="fold")
    return marked(head, _MARKS.get(row.kind, "•"), "accent")


def approval_card(row: r.CallRow, *, whole: bool = False) -> RenderableType:
    """An approval: exactly what would happen, and which rule asks. Nothing is hidden or cut within a line."""
    approval = row.approval or r.Approval("", "")
    head = marked(
        _draw_headline(reveal(approval.detail or row.title), approval.diffs), _MARKS.get(row.kind, "•"), "accent"
    )
    where = f" · runs in {approval.place}" if approval.place else ""
    where += f" · {approval.sandbox}" if approval.sandbox else ""
    reason = marked(wrapped(reveal(approval.reason + where), "quiet"), "│", "quiet", "│")
    diffs = diff_view(approval.diffs, WHOLE if whole else DIFF_LINES, whole_lines=True)
    return Group(head, reason, *_draw_parts(approval.parts), *_indent(diffs))


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


def _draw_headline(title: str, diffs: tuple[Diff, ...]) -> Text:
    head = wrapped(title, "title")
    return Text.assemble(head, "  ", draw_stat(diffs), overflow="fold") if diffs else head


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


def question_card(row: r.QuestionRow) -> RenderableType:
    """A question with its options; empty text means it was already printed above them."""
    body: list[RenderableType] = [wrapped(clean(row.question), "title")] if row.question else []
    for number, option in enumerate(row.options, 1):
        body.append(marked(wrapped(clean(option)), str(number), "accent"))
    return marked(Group(*body), "?", "accent")


def answer_line(row: r.QuestionRow) -> RenderableType:
    if row.by != "user":
        return _draw_end(_UNANSWERED.get(row.by, "no one was available to answer"), "warn")
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


def checkpoint_card(row: r.CheckpointRow) -> RenderableType:
    return marked(line(f"checkpoint {clean(row.checkpoint)[:12]} · {clean(row.label)}", "quiet"), "◦", "quiet")


def restored_card(row: r.RestoredRow) -> RenderableType:
    text = f"restored {brief_target(clean(row.checkpoint))} · {format_plural(len(row.changed), 'file')} changed"
    undo = f" · undo: {brief_target(clean(row.undo))}" if row.undo else ""
    return marked(wrapped(text + undo, "quiet"), "↺", "accent")


def retry_card(row: r.RetryRow) -> RenderableType:
    return marked(wrapped(clean(describe_retry(row)), "quiet"), "↻", "warn")


def job_end_card(row: r.JobEndRow) -> RenderableType:
    command = clean(row.command).split("\n", 1)[0]
    good = row.exit_code == 0 and not row.stopped
    return marked(line(f"{clean(job_ending(row))} · {command}", "quiet"), "◂", "good" if good else "warn")


def message_card(text: str) -> RenderableType:
    return marked(Group(*(wrapped(clean(part)) for part in text.split("\n"))), "◇", "accent")


def rules_card(row: r.RulesRow) -> RenderableType:
    return marked(wrapped(clean(describe_rules(row)), "quiet"), "§", "quiet")


def compaction_card(row: r.CompactionRow) -> RenderableType:
    return marked(wrapped(describe_compaction(row), "quiet"), "⇣", "quiet")


def hook_card(row: r.HookRow) -> RenderableType:
    good = row.status is HookStatus.COMPLETED and row.decision is not HookDecision.BLOCK
    return marked(wrapped(clean(hook_ending(row)), "quiet"), "⚑", "quiet" if good else "warn")


def notice_card(row: r.NoticeRow) -> RenderableType:
    return marked(wrapped(clean(row.text), "quiet"), "!", "warn")


def error_card(row: r.ErrorRow) -> RenderableType:
    body = [wrapped(clean(row.text)), *([wrapped(clean(row.hint), "quiet")] if row.hint else [])]
    return marked(Group(*body), "✗", "bad")


def end_card(row: r.TurnEndRow) -> RenderableType:
    match row.reason:
        case StopReason.END_TURN:
            mark, style = "✓", "good"
        case StopReason.ERROR | StopReason.REFUSAL:
            mark, style = "✗", "bad"
        case _:
            mark, style = "■", "warn"
    return marked(wrapped(clean(describe_ending(row)), "quiet"), mark, style)


def _split_lines(text: str) -> list[str]:
    return clean(text).rstrip().split("\n") if text.strip() else []


def _indent(body: Sequence[RenderableType]) -> list[RenderableType]:
    return [marked(part) for part in body]


def _draw_end(text: str, style: str) -> RenderableType:
    return marked(wrapped(text, style), "└", "quiet")


def _command_output(row: r.CallRow, *, details: bool) -> list[RenderableType]:
    """The last lines of output, then the command's status line."""
    *lines, status = _split_lines(row.output) or [""]
    if lines == ["[no output]"]:
        lines = []
    shown = lines if details or len(lines) == OUTPUT_LINES + 1 else lines[-OUTPUT_LINES:]
    parts: list[RenderableType] = []
    if hidden := len(lines) - len(shown):
        parts.append(marked(line(f"… {format_plural(hidden, 'earlier line')}", "quiet"), "│", "quiet"))
    parts += [marked(line(text, "quiet"), "│", "quiet") for text in shown]
    outcome = status.strip("[]")
    return [*parts, _draw_end(f"✗ {outcome}", "bad") if row.failure else _draw_end(outcome, _outcome_style(status))]


def _outcome_style(status: str) -> str:
    """Green for exit code 0."""
    return "good" if status.startswith("[exit code 0") else "quiet"


_REFUSALS = (Choice.REJECT_ONCE, Choice.REJECT_ALWAYS)


def _unhappy_end(row: r.CallRow) -> RenderableType:
    match row.status:
        case CallStatus.REJECTED if row.approval and row.approval.decision in _REFUSALS and row.approval.by == "user":
            note = clean(row.approval.note)
            return _draw_end(f"rejected: {note}" if note else "rejected", "warn")
        case CallStatus.REJECTED if row.approval and row.approval.by == "message":
            return _draw_end("not run: you sent a message instead", "warn")
        case CallStatus.REJECTED if row.approval and row.approval.by == "nobody":
            return _draw_end(f"not approved: {clean(row.approval.reason)}, and no one could be asked", "warn")
        case CallStatus.CANCELLED:
            return _draw_end("interrupted", "warn")
        case CallStatus.SKIPPED:
            return _draw_end("skipped", "quiet")
        case _:
            lines = _split_lines(row.output)
            text = "\n".join(lines[:6]) + (f"\n… {format_plural(len(lines) - 6, 'more line')}" if lines[6:] else "")
            return _draw_end(text or "failed", "bad" if row.status is CallStatus.FAILED else "warn")
