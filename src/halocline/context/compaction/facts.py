"""The ledger: facts about the part of a conversation that a compaction removes, a few lines each.

It comes from the log, not from a model: the user's own words, open todos, files read and changed, commands and how
they ended. What must stay true: nothing in it is made up, and what is left out is counted.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from halocline.context.budget import shorten_line
from halocline.context.compaction.view import pair_results
from halocline.context.token_estimate import estimate_tokens
from halocline.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.state import State

WORDS = 0.5
"""Share of the ledger for the user's words."""
COMMANDS = 30
REPLIES = 3
"""Replies that stand for a missing summary."""
LONGEST_COMMAND = 160
ASKED = "ask_followup_question"
READ, RUN = "read_file", "execute_command"


def list_facts(state: State, end: int, most: int) -> str:
    """List the facts of the messages before `end`, without the first, in about `most` tokens at most."""
    facts = list(_collect_facts(state, end))
    room = most - sum(estimate_tokens(fact) for fact in facts)
    words = _fit_words(_prompts_of(state.messages[1:end]), max(int(most * WORDS), room))
    return "\n\n".join(filter(None, [words, *_fit_facts(facts, most)]))


def list_replies(state: State, end: int, most: int) -> str:
    """Return the model's last texts before `end`, in about `most` tokens at most: they stand for a summary."""
    texts = [message.text.strip() for message in state.messages[1:end] if isinstance(message, AssistantMessage)]
    last = [text for text in texts if text][-REPLIES:]
    if not last:
        return ""
    longest = 3 * most // len(last)  # characters
    return "\n\n".join(["# Your last messages", *(shorten_line(text, longest) for text in last)])


def _collect_facts(state: State, end: int) -> Iterator[str]:
    """Yield each list of facts under a heading, most important first."""
    if state.plan.todos:
        marks = {"pending": " ", "in_progress": "~", "completed": "x"}
        yield "\n".join(["# Todos", *(f"- [{marks.get(todo.status, ' ')}] {todo.text}" for todo in state.plan.todos)])
    if state.files.changed:
        yield "\n".join(["# Files changed in this task", *(f"- {path}" for path in sorted(state.files.changed))])
    pairs = list(_pair_calls(state.messages[:end]))
    if reads := _newest_reads(pairs):
        yield "\n".join(["# Files read (lines, hash of what was read)", *reads])
    if commands := _list_commands(pairs):
        yield "\n".join(["# Commands that ran, newest last", *commands])
    if state.jobs.running:
        yield "\n".join(["# Running jobs", *(f"- {job.job}: {_one_line(job.command)}" for job in state.jobs.running)])


def _fit_facts(facts: Sequence[str], most: int) -> Iterator[str]:
    """Cut each list of facts to its fair share, keeping the end."""
    for fact in facts:
        lines = fact.split("\n")
        room = max(40, most // max(1, len(facts)))
        kept = _last_lines(lines[1:], room)
        missing = len(lines) - 1 - len(kept)
        yield "\n".join([lines[0], *([f"- … and {missing} earlier ones"] if missing else []), *kept])


def _last_lines(lines: Sequence[str], room: int) -> list[str]:
    """Return the last lines that fit."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= estimate_tokens(line) + 1
        if room < 0 and kept:
            break
        kept.append(line)
    return kept[::-1]


def _prompts_of(messages: Sequence[Message]) -> list[str]:
    """Return what the user wrote, verbatim and in order, then the answers to questions."""
    prompts: list[str] = []
    for message in messages:
        if isinstance(message, UserMessage):
            prompts += [part.text for part in message.content if isinstance(part, Text) and part.text.strip()]
    answers = [
        f"(asked: {shorten_line(str(call.arguments.get('question', '')), 200)}) {_first_line(result)}"
        for call, result in _pair_calls(messages)
        if call.name == ASKED and not result.is_error
    ]
    return [*prompts, *answers]


def _fit_words(words: Sequence[str], room: int) -> str:
    if not words:
        return ""
    kept: list[str] = []
    for text in reversed(words):
        left = room - sum(map(estimate_tokens, kept))
        if estimate_tokens(text) > left:
            if not kept:  # the newest is always kept, at least in part
                kept.append(shorten_line(text, max(400, left * 3)))
            break
        kept.append(text)
    missing = len(words) - len(kept)
    head = ["# Later messages of the user, verbatim"]
    if missing:
        head.append(f"[{missing} earlier ones omitted]")
    return "\n".join([*head, *(f"> {line}" for text in reversed(kept) for line in [*text.split("\n"), ""])]).rstrip(
        "> \n"
    )


def _pair_calls(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolResult]]:
    for at, call in pair_results(messages):
        result = messages[at]
        assert isinstance(result, ToolResult)
        yield call, result


def _newest_reads(pairs: Iterable[tuple[ToolCall, ToolResult]]) -> list[str]:
    """Return the newest read of each part of a file."""
    found: dict[tuple[str, str], str] = {}
    for call, result in pairs:
        if call.name != READ or result.is_error:
            continue
        path, part = str(call.arguments.get("path", "")), _describe_part(call)
        digest = hashlib.sha256(_first_line(result).encode("utf-8", "replace")).hexdigest()[:8]
        found.pop((path, part), None)
        found[path, part] = f"- {path}{part} {digest}"
    return list(found.values())


def _describe_part(call: ToolCall) -> str:
    first, last = call.arguments.get("start_line"), call.arguments.get("end_line")
    return f":{first or 1}-{last or ''}" if first or last else ""


def _list_commands(pairs: Iterable[tuple[ToolCall, ToolResult]]) -> list[str]:
    """List the commands with how they ended, from the last line of their results."""
    ran = [
        f"- {shorten_line(_one_line(str(call.arguments.get('command', ''))), LONGEST_COMMAND)}: {_describe_end(result)}"
        for call, result in pairs
        if call.name == RUN
    ]
    return ran[-COMMANDS:]


def _describe_end(result: ToolResult) -> str:
    text = _first_line(result)
    return shorten_line(text.rstrip("\n").rsplit("\n", 1)[-1].strip("[]"), 120) if text else "no result"


def _first_line(result: ToolResult) -> str:
    return next((part.text for part in result.content if isinstance(part, Text)), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
