"""The draft: what was streamed of a reply that is not complete, and the message that keeps it when it never will be."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from halocline.protocol import events as ev, messages as msg

Delta = ev.TextDelta | ev.ThinkingDelta
DRAFT_ENDS = (ev.StepStarted, ev.AssistantMessageCompleted, ev.TurnEnded, ev.TurnResumed)
"""The durable events that end a draft. `StepRetried`, which is in no log, ends one, too."""


def list_deltas(cell: Any) -> list[Delta]:
    """Return the deltas of a state's draft in their order."""
    deltas: list[Delta] = []
    while cell is not None:
        cell, delta = cell
        deltas.append(delta)
    return deltas[::-1]


def join_deltas(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield the fewest deltas that give the same draft."""
    run: list[Delta] = []
    for delta in deltas:
        if run and begins_anew(delta, run[0]):
            yield _join_run(run)
            run = []
        run.append(delta)
    if run:
        yield _join_run(run)


def begins_anew(delta: Delta, last: Delta) -> bool:
    """True if a delta begins a part of its own instead of continuing the last one."""
    return type(delta) is not type(last) or (isinstance(delta, ev.TextDelta) and delta.apart)


def interrupted_message(deltas: Sequence[Delta], model: str) -> msg.AssistantMessage | None:
    """Return the message that keeps a draft; None if there is nothing in it. Unfinished calls are left out.

    Reasoning is kept for people: without a signature and the provider's name, no provider is sent it.
    """
    parts = tuple(
        msg.Text(delta.text) if isinstance(delta, ev.TextDelta) else msg.Thinking(delta.text)
        for delta in join_deltas(deltas)
        if delta.text.strip()
    )
    if not parts:
        return None
    return msg.AssistantMessage(content=parts, model=model, stop_reason=msg.StopReason.CANCELLED, interrupted=True)


def _join_run(run: list[Delta]) -> Delta:
    text = "".join(delta.text for delta in run)
    first = run[0]
    return ev.TextDelta(text, first.apart) if isinstance(first, ev.TextDelta) else ev.ThinkingDelta(text)
