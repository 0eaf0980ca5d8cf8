"""What code knows of a conversation that a model will not read any more: facts, in a few lines each.

It is made of the log and not of a model's memory: the person's own words, what is open, which files were read and
changed, which commands ended how. What must stay true: nothing in it was made up, and what is left out is counted.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from halocline.context.budget import shorten_line
from halocline.context.token_estimate import estimate_tokens
from halocline.context.view import pair_results
from halocline.protocol.messages import Message, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.state import State

WORDS = 0.5
"""The share of the ledger that a person's words may take."""
COMMANDS = 30
LONGEST_COMMAND = 160
ASKED = "ask_followup_question"
READ, RUN = "read_file", "execute_command"


def list_facts(state: State, end: int, most: int) -> str:
    """The facts of the messages before `end`, in at most about so many tokens. The first message is not in it."""
    facts = list(_collect_facts(state, end))
    room = most - sum(estimate_tokens(fact) for fact in facts)
    words = _fit_words(_prompts_of(state.messages[1:end]), max(int(most * WORDS), room))
    return "\n\n".join(filter(None, [words, *_fit_facts(facts, most)]))


def _collect_facts(state: State, end: int) -> Iterator[str]:
    """Each with a heading, the most important first."""
    if state.todos:
        marks = {"pending": " ", "in_progress": "~", "completed": "x"}
        yield "\n".join(["# Todos", *(f"- [{marks.get(todo.status, ' ')}] {todo.text}" for todo in state.todos)])
    if state.files_changed:
        yield "\n".join(["# Files changed in this task", *(f"- {path}" for path in sorted(state.files_changed))])
    pairs = list(_pair_calls(state.messages[:end]))
    if reads := _newest_reads(pairs):
        yield "\n".join(["# Files read (lines, hash of what was read)", *reads])
    if commands := _list_commands(pairs):
        yield "\n".join(["# Commands that ran, the newest last", *commands])
    if state.jobs:
        yield "\n".join(["# Jobs that run", *(f"- {job.job}: {_one_line(job.command)}" for job in state.jobs)])


def _fit_facts(facts: Sequence[str], most: int) -> Iterator[str]:
    """Each fact cut to its fair share, from the end of its list."""
    for fact in facts:
        lines = fact.split("\n")
        room = max(40, most // max(1, len(facts)))
        kept = _last_lines(lines[1:], room)
        missing = len(lines) - 1 - len(kept)
        yield "\n".join([lines[0], *([f"- … and {missing} earlier ones"] if missing else []), *kept])


def _last_lines(lines: Sequence[str], room: int) -> list[str]:
    """The last lines that fit."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= estimate_tokens(line) + 1
        if room < 0 and kept:
            break
        kept.append(line)
    return kept[::-1]


def _prompts_of(messages: Sequence[Message]) -> list[str]:
    """What a person said, verbatim and in order."""
    said: list[str] = []
    for message in messages:
        if isinstance(message, UserMessage):
            said += [part.text for part in message.content if isinstance(part, Text) and part.text.strip()]
    answers = [
        f"(asked: {shorten_line(str(call.arguments.get('question', '')), 200)}) {_first_line(result)}"
        for call, result in _pair_calls(messages)
        if call.name == ASKED and not result.is_error
    ]
    return [*said, *answers]


def _fit_words(words: Sequence[str], room: int) -> str:
    if not words:
        return ""
    kept: list[str] = []
    for text in reversed(words):
        left = room - sum(map(estimate_tokens, kept))
        if estimate_tokens(text) > left:
            if not kept:  # the newest is kept whatever its length, at least in part
                kept.append(shorten_line(text, max(400, left * 3)))
            break
        kept.append(text)
    missing = len(words) - len(kept)
    head = ["# What the person said since, verbatim"]
    if missing:
        head.append(f"[{missing} earlier messages of theirs are left out]")
    return "\n".join([*head, *(f"> {line}" for text in reversed(kept) for line in [*text.split("\n"), ""])]).rstrip(
        "> \n"
    )


def _pair_calls(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolResult]]:
    for at, call in pair_results(messages):
        result = messages[at]
        assert isinstance(result, ToolResult)
        yield call, result


def _newest_reads(pairs: Iterable[tuple[ToolCall, ToolResult]]) -> list[str]:
    """The newest reading of each part of a file."""
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
    """Each with how it ended: the last line of its result says so."""
    ran = [
        f"- {shorten_line(_one_line(str(call.arguments.get('command', ''))), LONGEST_COMMAND)}: {_describe_end(result)}"
        for call, result in pairs
        if call.name == RUN
    ]
    return ran[-COMMANDS:]


def _describe_end(result: ToolResult) -> str:
    said = _first_line(result)
    return shorten_line(said.rstrip("\n").rsplit("\n", 1)[-1].strip("[]"), 120) if said else "no result"


def _first_line(result: ToolResult) -> str:
    return next((part.text for part in result.content if isinstance(part, Text)), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
