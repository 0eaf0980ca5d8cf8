"""Export a task as Markdown, HTML or events, with secrets redacted."""

import time
from collections.abc import Callable, Iterable
from enum import StrEnum

from halocline.protocol import codec
from halocline.protocol.events import DurableEvent
from halocline.protocol.secrets.redaction import redacted_event
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.surfaces import figures
from halocline.surfaces.export.html import to_html
from halocline.surfaces.export.markdown import to_markdown
from halocline.surfaces.rows.fold import rows_of


class Form(StrEnum):
    """Export formats."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSONL = "jsonl"


def export_task(events: Iterable[DurableEvent], form: Form, redact: Callable[[str], str]) -> str:
    """Export a task's events in one of the formats, after `redact`."""
    past = [redacted_event(event, redact) for event in events]
    if form is Form.JSONL:
        return "".join(f"{codec.encode(event).decode()}\n" for event in past)
    state = fold_events(past)
    title = state.title or "Task"
    if form is Form.HTML:
        return to_html(rows_of(past), title, _list_facts(state))
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
