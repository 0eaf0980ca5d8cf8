"""A task as a Markdown document, made from its rows."""

import re
from collections.abc import Iterable

from halocline.protocol.events import CallStatus
from halocline.protocol.state.todo_markdown import BOXES
from halocline.surfaces import row_kinds as r
from halocline.surfaces.figures import (
    compaction_said,
    duration,
    ending,
    hook_ending,
    job_ending,
    lane_said,
    model_name,
    retrying,
    rules_said,
)
from halocline.surfaces.row_words import decided


def to_markdown(rows: Iterable[r.Row], title: str = "Task") -> str:
    """The whole task: prompts and plans as sections, calls as folded output, edits as diffs."""
    parts = [f"# {_line(title) or 'Task'}", *filter(None, map(_section, rows))]
    return "\n\n".join(parts) + "\n"


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _section(row: r.Row) -> str:
    match row:
        case r.StartRow():
            model = f"Model {code(model_name(row.model))}" if row.model else "No model"
            folders = " and ".join(map(code, row.folders))
            return f"{model}, {row.mode} mode, approvals {row.approval_mode}, in {folders}."
        case r.PromptRow():
            return f"## {'Steering' if row.steering else 'Prompt'}\n\n{_quoted(row.text)}"
        case r.ThoughtRow():
            return f"<details><summary>Thought</summary>\n\n{fenced(row.text)}\n\n</details>"
        case r.ReplyRow():
            return row.text.strip()
        case r.CallRow():
            return _call(row)
        case r.QuestionRow():
            options = "".join(f"\n> {number}. {_line(text)}" for number, text in enumerate(row.options, 1))
            return f"**Question.**\n\n{_quoted(row.question)}{options}\n\n**Answer:** {_line(row.answer) or 'none'}"
        case r.TodosRow():
            return "\n".join(f"- {BOXES[todo.status]} {_line(todo.text)}" for todo in row.todos)
        case _:
            return _remark(row)


def _remark(row: r.Row) -> str:
    match row:
        case r.CheckpointRow():
            return f"*Checkpoint {code(row.checkpoint)}: {_line(row.label)}*"
        case r.RestoredRow():
            return f"*Restored {code(row.checkpoint)}; undo: {code(row.undo)}*"
        case r.RetryRow():
            return f"*{_line(retrying(row))}*"
        case r.JobEndRow():
            return f"*{_line(job_ending(row))}: {code(row.command)}*"
        case r.RulesRow():
            return f"*{_line(rules_said(row))}*"
        case r.CompactionRow():
            return f"*{_line(compaction_said(row))}*"
        case r.HookRow():
            return f"*{_line(hook_ending(row))}*"
        case r.NoticeRow():
            return f"*{_line(row.text)}*"
        case r.ErrorRow():
            return f"**Error:** {_line(row.text)} {_line(row.hint)}".rstrip()
        case r.TurnEndRow():
            return f"---\n\n*{_line(ending(row))}*"
        case _:
            return ""


def _call(row: r.CallRow) -> str:
    """A call under its title; the report that ends a turn is the agent's own words."""
    if row.ends_turn and row.status is CallStatus.COMPLETED:
        return row.output.strip()
    head = f"### {'you ran' if row.own else row.name}: {code(row.title)}\n\n{_outcome(row)}"
    head += "".join(f"\n- {_line(lane.name)}: {_line(lane_said(lane))} (task {lane.child})" for lane in row.lanes)
    if row.diffs:
        return "\n\n".join([head, *(fenced(diff.text, "diff") for diff in row.diffs)])
    return f"{head}\n\n{fenced(row.output)}" if row.output.strip() else head


def _outcome(row: r.CallRow) -> str:
    facts = [row.failure or row.answer or (row.status.value if row.status else "not ended")]
    if row.seconds is not None:
        facts.append(duration(row.seconds))
    if row.approval and row.approval.decision:
        facts.append(decided(row.approval))
        facts += ["edited before it was judged"] if row.approval.edited else []
        facts += [f"note: {_line(row.approval.note)}"] if row.approval.note else []
    return f"*{' · '.join(facts)}*"


def code(text: str) -> str:
    """Inline code, whatever backticks the text holds."""
    text = _line(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{'`' * (longest + 1)}{pad}{text}{pad}{'`' * (longest + 1)}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return "\n".join(f"> {part}".rstrip() for part in text.strip().split("\n"))
