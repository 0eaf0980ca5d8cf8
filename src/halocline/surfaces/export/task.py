"""Export a task as a document, its events or a trajectory, with secrets redacted."""

import time
from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from halocline.protocol import codec, json_output
from halocline.protocol.errors import TaskNotFound
from halocline.protocol.events import DurableEvent
from halocline.protocol.messages import Image
from halocline.protocol.secrets.redaction import redacted_event
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.surfaces import figures
from halocline.surfaces.export.atif import to_trajectory
from halocline.surfaces.export.html import to_html
from halocline.surfaces.export.markdown import to_markdown
from halocline.surfaces.export.undone import find_undone
from halocline.surfaces.rows.fold import rows_of


class Form(StrEnum):
    """Export formats."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSONL = "jsonl"
    ATIF = "atif"


def no_others(task: str) -> Iterable[DurableEvent]:
    """Find no other task: for an export without its sub-agents."""
    raise TaskNotFound(f"Task {task} is not exported.", "")


def export_task(
    events: Iterable[DurableEvent],
    form: Form,
    redact: Callable[[str], str],
    others: Callable[[str], Iterable[DurableEvent]] = no_others,
    keep_image: Callable[[Image], str] | None = None,
) -> str:
    """Export a task's events in one of the formats, after `redact`.

    `others` returns the events of its sub-agents, or raises TaskNotFound; `keep_image` stores an image and returns
    where. Only a trajectory has them.
    """
    past = [redacted_event(event, redact) for event in events]
    if form is Form.JSONL:
        return "".join(f"{codec.encode(event).decode()}\n" for event in past)
    if form is Form.ATIF:
        told = to_trajectory(past, lambda task: (redacted_event(event, redact) for event in others(task)), keep_image)
        return msgspec.json.format(json_output.encode(told), indent=2).decode() + "\n"
    state = fold_events(past)
    title = state.title or "Task"
    if form is Form.HTML:
        return to_html(rows_of(past), title, _list_facts(state), find_undone(past))
    return to_markdown(rows_of(past), title)


def _list_facts(state: State) -> list[str]:
    """Facts for the page's header."""
    steps, took = (
        figures.format_plural(state.budget.steps, "step"),
        figures.format_tokens(state.budget.usage, state.budget.known_cost),
    )
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(state.started_at))
    return [
        state.task,
        began,
        figures.model_name(state.model.name),
        steps,
        took,
        figures.format_known_cost(state.budget),
    ]
