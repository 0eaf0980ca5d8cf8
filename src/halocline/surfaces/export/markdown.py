"""Export a task's rows as Markdown."""

import re
from collections.abc import Iterable

from halocline.protocol.kinds import CallStatus
from halocline.protocol.state.todo_markdown import BOXES
from halocline.surfaces import figures
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.words import describe_change, describe_decision


def to_markdown(rows: Iterable[r.Row], title: str = "Task") -> str:
    """Render the whole task: prompts as sections, calls with output, edits as diffs."""
    parts = [f"# {_one_line(title) or 'Task'}", *filter(None, map(_export_row, rows))]
    return "\n\n".join(parts) + "\n"


def fence_code(text: str, language: str = "") -> str:
    """Make a code block whose fence is longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _export_row(row: r.Row) -> str:
    match row:
        case r.StartRow():
            model = f"Model {inline_code(figures.model_name(row.model))}" if row.model else "No model"
            folders = " and ".join(map(inline_code, row.folders))
            return f"{model}, {row.mode} mode, approvals {row.approval_mode}, in {folders}."
        case r.PromptRow():
            return f"## {'Steering' if row.steering else 'Prompt'}\n\n{_quote_text(row.text)}"
        case r.ThoughtRow():
            return f"<details><summary>Thought</summary>\n\n{fence_code(row.text)}\n\n</details>"
        case r.ReplyRow():
            return row.text.strip()
        case r.CallRow():
            return _export_call(row)
        case r.QuestionRow():
            options = "".join(f"\n> {number}. {_one_line(text)}" for number, text in enumerate(row.options, 1))
            answer = _one_line(row.answer) or "none"
            return f"**Question.**\n\n{_quote_text(row.question)}{options}\n\n**Answer:** {answer}"
        case r.TodosRow():
            return "\n".join(f"- {BOXES[todo.status]} {_one_line(todo.text)}" for todo in row.todos)
        case _:
            return _export_remark(row)


def _export_remark(row: r.Row) -> str:
    match row:
        case r.CheckpointRow():
            return f"*Checkpoint {inline_code(row.checkpoint)}: {_one_line(row.label)}*"
        case r.RestoredRow():
            left_out = "".join(f" {_one_line(one)}" for one in row.left_out)
            return f"*Restored {inline_code(row.checkpoint)}; undo: {inline_code(row.undo)}.{left_out}*"
        case r.RetryRow():
            return f"*{_one_line(figures.describe_retry(row))}*"
        case r.JobEndRow():
            return f"*{_one_line(figures.job_ending(row))}: {inline_code(row.command)}*"
        case r.RulesRow():
            return f"*{_one_line(figures.describe_rules(row))}*"
        case r.CompactionRow():
            return f"*{_one_line(figures.describe_compaction(row))}*"
        case r.HookRow():
            return f"*{_one_line(figures.hook_ending(row))}*"
        case r.NoticeRow():
            return f"*{_one_line(row.text)}*"
        case r.ErrorRow():
            return f"**Error:** {_one_line(row.text)} {_one_line(row.hint)}".rstrip()
        case r.TurnEndRow():
            return "---\n\n" + "\n\n".join(f"*{_one_line(one)}*" for one in figures.list_ending(row))
        case _:
            return ""


def _export_call(row: r.CallRow) -> str:
    """Render a call with its title. The report that ends a turn is rendered as a reply."""
    if row.ends_turn and row.status is CallStatus.COMPLETED:
        return row.output.strip()
    head = f"### {'you ran' if row.own else row.name}: {inline_code(row.title)}\n\n{_export_outcome(row)}"
    head += "".join(
        f"\n- {_one_line(lane.name)}: {_one_line(figures.describe_lane(lane))} (task {lane.child})"
        for lane in row.lanes
    )
    if row.diffs:
        return "\n\n".join([head, *(fence_code(diff.text, "diff") for diff in row.diffs)])
    return f"{head}\n\n{fence_code(row.output)}" if row.output.strip() else head


def _export_outcome(row: r.CallRow) -> str:
    facts = [row.failure or row.answer or (row.status.value if row.status else "not finished")]
    if row.seconds is not None:
        facts.append(figures.format_duration(row.seconds))
    if row.approval and row.approval.decision:
        facts.append(describe_decision(row.approval))
        facts += filter(None, [describe_change(row.approval)])
        facts += [f"note: {_one_line(row.approval.note)}"] if row.approval.note else []
    return f"*{' · '.join(facts)}*"


def inline_code(text: str) -> str:
    """Make inline code from text with any backticks."""
    text = _one_line(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{'`' * (longest + 1)}{pad}{text}{pad}{'`' * (longest + 1)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quote_text(text: str) -> str:
    return "\n".join(f"> {part}".rstrip() for part in text.strip().split("\n"))
