"""The index's knowledge of a task, from the lines of its log: facts for lists, and words for searches. Pure.

Most lines do not matter here: only lines of relevant types, which come first on a line, are decoded.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.protocol import codec, events as ev
from halocline.protocol.events.labels import Labels
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.messages import Text
from halocline.protocol.queries.tasks import PARTLY, REWOUND, TaskInfo
from halocline.protocol.values import Value

LONGEST = 60_000
"""Maximum characters per task for each kind of words."""
TITLE = 120
OWN = "!"
"""Prefix of a title that is a command of the user; the first prompt replaces such a title."""
_KIND = re.compile(rb'\{\s*"type"\s*:\s*"(\w+)"')
_REPORT = re.compile(rb'"ends_turn"\s*:\s*true')


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
        begun = _KIND.match(line)
        if not begun or (begun[1] == b"tool_call_ended" and not _REPORT.search(line)):
            continue
        if learn := _LEARN.get(begun[1]):
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


def _join_texts(parts: Iterable[object]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def _on_start(facts: Facts, event: ev.TaskStarted) -> Facts:
    now = _apply_event(
        facts,
        event,
        workspace=event.workspace,
        roots=event.roots,
        model=event.model,
        started_at=event.at,
        folder_mark=event.folder_mark,
    )
    if event.subtask is None:
        return now
    return replace(now, info=replace(now.info, parent=event.subtask.parent, title=event.subtask.name))


def _on_message(facts: Facts, event: ev.MessageQueued) -> Facts:
    """Title a task that waits for others by the prompt that waits."""
    title = facts.info.title or _join_texts(event.content).strip().split("\n", 1)[0][:TITLE]
    return _apply_event(facts, event, title=title)


def _on_question(facts: Facts, event: ev.TurnStarted | ev.SteeringReceived) -> Facts:
    text = _join_texts(event.content).strip()
    known = "" if facts.info.title.startswith(OWN) else facts.info.title
    title = known or text.split("\n", 1)[0][:TITLE]
    status = "unfinished" if isinstance(event, ev.TurnStarted) else facts.info.status
    return _add_words(_apply_event(facts, event, title=title, status=status), prompts=text)


def _on_step(facts: Facts, event: ev.StepStarted) -> Facts:
    return _apply_event(facts, event, steps=facts.info.steps + 1, status="unfinished")


def _on_usage(facts: Facts, event: ev.UsageReported | ev.McpSampled | ev.SideQuestionAnswered | SubagentEnded) -> Facts:
    cost = None if event.cost is None or facts.info.cost is None else facts.info.cost + event.cost
    return _apply_event(facts, event, cost=cost, tokens=facts.info.tokens + event.usage.total)


def _on_answer(facts: Facts, event: ev.AssistantMessageCompleted) -> Facts:
    return _add_words(_apply_event(facts, event), answers=_join_texts(event.message.content))


def _on_call(facts: Facts, event: ev.ToolCallStarted) -> Facts:
    return _add_words(_apply_event(facts, event), actions=event.title)


def _on_run(facts: Facts, event: ev.OwnCommandStarted) -> Facts:
    title = facts.info.title or f"{OWN}{event.command}".split("\n", 1)[0][:TITLE]
    return _add_words(_apply_event(facts, event, title=title), actions=event.command)


def _on_report(facts: Facts, event: ev.ToolCallEnded) -> Facts:
    """Treat a result that ends a turn as an answer."""
    return _add_words(_apply_event(facts, event), answers=event.result.text)


def _on_change(facts: Facts, event: ev.FileChanged) -> Facts:
    is_known = f"\n{event.path}\n" in f"\n{facts.words.paths}\n"
    return _apply_event(facts, event) if is_known else _add_words(_apply_event(facts, event), paths=event.path)


def _on_end(facts: Facts, event: ev.TurnEnded) -> Facts:
    status = PARTLY if event.failed else event.reason.value
    return _apply_event(facts, event, status=status, stood=status, end=event.seq)


def _on_rewind(facts: Facts, event: ev.ConversationRestored) -> Facts:
    """Note whether the end of the last turn still stands: a rewind may be undone."""
    info = facts.info
    if info.status not in (REWOUND, info.stood):
        return _apply_event(facts, event)
    return _apply_event(facts, event, status=info.stood if event.to >= info.end else REWOUND)


def _on_label(facts: Facts, event: ev.TaskLabelled) -> Facts:
    """Apply labels without updating `changed_at`."""
    info = facts.info
    labels = Labels(info.name, info.tags, info.favourite).after(event)
    info = replace(info, name=labels.name, tags=labels.tags, favourite=labels.favourite)
    return Facts(info, replace(facts.words, name=" ".join([info.name, *info.tags])))


def _add_words(facts: Facts, **texts: str) -> Facts:
    """Add words, up to `LONGEST` characters per kind."""
    known = {kind: getattr(facts.words, kind) for kind, text in texts.items() if text}
    more = {kind: f"{said}\n{texts[kind]}"[:LONGEST].lstrip() for kind, said in known.items() if len(said) < LONGEST}
    return replace(facts, words=replace(facts.words, **more)) if more else facts


_LEARN: dict[bytes, Callable[[Facts, Any], Facts]] = {
    b"task_started": _on_start,
    b"workspace_moved": lambda facts, event: _apply_event(facts, event, workspace=event.workspace),
    b"roots_changed": lambda facts, event: _apply_event(facts, event, roots=event.roots),
    b"task_adopted": lambda facts, event: _apply_event(facts, event, model=event.model),
    b"turn_started": _on_question,
    b"steering_received": _on_question,
    b"message_queued": _on_message,
    b"step_started": _on_step,
    b"usage_reported": _on_usage,
    b"mcp_sampled": _on_usage,
    b"side_question_answered": _on_usage,
    b"subagent_ended": _on_usage,
    b"assistant_message_completed": _on_answer,
    b"tool_call_started": _on_call,
    b"tool_call_ended": _on_report,
    b"own_command_started": _on_run,
    b"file_changed": _on_change,
    b"task_labelled": _on_label,
    b"model_changed": lambda facts, event: _apply_event(facts, event, model=event.model),
    b"turn_ended": _on_end,
    b"conversation_restored": _on_rewind,
}
