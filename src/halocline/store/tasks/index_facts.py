"""The index's knowledge of a task, from the lines of its log: facts for lists, and words for searches. Pure.

Most lines do not matter here: only lines of relevant types, which come first on a line, are decoded.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.protocol import codec, events as ev
from halocline.protocol.events.labels import Labels
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.messages import Text
from halocline.protocol.queries.tasks import TaskInfo
from halocline.protocol.values import Value

LONGEST = 60_000
"""Maximum characters per task for each kind of words."""
TITLE = 120
OWN = "!"
"""Prefix of a title that is a command of the user; the first prompt replaces such a title."""
_BEGIN = b'{"type":"'
_REPORT = b'"ends_turn":true'


class Words(Value, frozen=True):
    """Searchable text of a task."""

    name: str = ""
    prompts: str = ""
    answers: str = ""
    actions: str = ""
    paths: str = ""


class Facts(Value, frozen=True):
    """A task, as far as its log has been read."""

    info: TaskInfo
    words: Words = Words()


def learn_facts(facts: Facts, lines: Iterable[bytes]) -> Facts:
    """Return the facts after more complete lines of the log. Unreadable lines are skipped."""
    for line in lines:
        kind = line[len(_BEGIN) : line.find(b'"', len(_BEGIN))]
        if kind == b"tool_call_ended" and _REPORT not in line:
            continue
        if learn := _LEARN.get(kind):
            try:
                facts = learn(facts, codec.decode(line))
            except msgspec.DecodeError:
                continue
    return facts


def nothing_known(task: str) -> Facts:
    """Return the facts of a task whose log has not been read."""
    return Facts(TaskInfo(task, "", "", "", 0.0, 0.0, "unfinished", 0))


def _apply_event(facts: Facts, event: ev.Durable, **changes: object) -> Facts:
    return replace(facts, info=replace(facts.info, changed_at=event.at, **changes))


def _on_start(facts: Facts, e: ev.TaskStarted) -> Facts:
    now = _apply_event(facts, e, workspace=e.workspace, roots=e.roots, model=e.model, started_at=e.at)
    if e.subtask is None:
        return now
    return replace(now, info=replace(now.info, parent=e.subtask.parent, title=e.subtask.name))


def _on_question(facts: Facts, e: ev.TurnStarted | ev.SteeringReceived) -> Facts:
    text = "".join(part.text for part in e.content if isinstance(part, Text)).strip()
    known = "" if facts.info.title.startswith(OWN) else facts.info.title
    title = known or text.split("\n", 1)[0][:TITLE]
    status = "unfinished" if isinstance(e, ev.TurnStarted) else facts.info.status
    return _add_words(_apply_event(facts, e, title=title, status=status), prompts=text)


def _on_step(facts: Facts, e: ev.StepStarted) -> Facts:
    return _apply_event(facts, e, steps=facts.info.steps + 1, status="unfinished")


def _on_usage(facts: Facts, e: ev.UsageReported | ev.McpSampled | SubagentEnded) -> Facts:
    cost = None if e.cost is None or facts.info.cost is None else facts.info.cost + e.cost
    return _apply_event(facts, e, cost=cost, tokens=facts.info.tokens + e.usage.total)


def _on_answer(facts: Facts, e: ev.AssistantMessageCompleted) -> Facts:
    return _add_words(_apply_event(facts, e), answers="".join(p.text for p in e.message.content if isinstance(p, Text)))


def _on_call(facts: Facts, e: ev.ToolCallStarted) -> Facts:
    return _add_words(_apply_event(facts, e), actions=e.title)


def _on_run(facts: Facts, e: ev.OwnCommandStarted) -> Facts:
    title = facts.info.title or f"{OWN}{e.command}".split("\n", 1)[0][:TITLE]
    return _add_words(_apply_event(facts, e, title=title), actions=e.command)


def _on_report(facts: Facts, e: ev.ToolCallEnded) -> Facts:
    """Treat a result that ends a turn as an answer."""
    return _add_words(_apply_event(facts, e), answers=e.result.text)


def _on_change(facts: Facts, e: ev.FileChanged) -> Facts:
    is_known = f"\n{e.path}\n" in f"\n{facts.words.paths}\n"
    return _apply_event(facts, e) if is_known else _add_words(_apply_event(facts, e), paths=e.path)


def _on_label(facts: Facts, e: ev.TaskLabelled) -> Facts:
    """Apply labels without updating `changed_at`."""
    info = facts.info
    labels = Labels(info.name, info.tags, info.favourite).after(e)
    info = replace(info, name=labels.name, tags=labels.tags, favourite=labels.favourite)
    return Facts(info, replace(facts.words, name=" ".join([info.name, *info.tags])))


def _add_words(facts: Facts, **texts: str) -> Facts:
    """Add words, up to `LONGEST` characters per kind."""
    known = {kind: getattr(facts.words, kind) for kind, text in texts.items() if text}
    more = {kind: f"{said}\n{texts[kind]}"[:LONGEST].lstrip() for kind, said in known.items() if len(said) < LONGEST}
    return replace(facts, words=replace(facts.words, **more)) if more else facts


_LEARN: dict[bytes, Callable[[Facts, Any], Facts]] = {
    b"task_started": _on_start,
    b"roots_changed": lambda facts, e: _apply_event(facts, e, roots=e.roots),
    b"task_adopted": lambda facts, e: _apply_event(facts, e, model=e.model),
    b"turn_started": _on_question,
    b"steering_received": _on_question,
    b"step_started": _on_step,
    b"usage_reported": _on_usage,
    b"mcp_sampled": _on_usage,
    b"subagent_ended": _on_usage,
    b"assistant_message_completed": _on_answer,
    b"tool_call_started": _on_call,
    b"tool_call_ended": _on_report,
    b"own_command_started": _on_run,
    b"file_changed": _on_change,
    b"task_labelled": _on_label,
    b"model_changed": lambda facts, e: _apply_event(facts, e, model=e.model),
    b"turn_ended": lambda facts, e: _apply_event(facts, e, status=e.reason.value),
}
