"""Plans a compaction: which messages stay, what replaces the others, and how much that saves.

Pure: `try_compactions` makes the event from the state and, if there is one, a model's summary. Facts come from the log
(`facts`), not from the summary, so a compaction without a model loses style, not substance.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from halocline.context.compaction.facts import list_facts, list_replies
from halocline.context.compaction.stale_files import EDITS
from halocline.context.compaction.thresholds import Room
from halocline.context.compaction.view import STAYS, build_view, pair_results
from halocline.context.templates import read_template
from halocline.context.token_estimate import message_tokens, overhead_tokens
from halocline.context.truncate import shorten_message
from halocline.ports.model import Request
from halocline.protocol.events import Compacted
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.messages import Message, Note, Text, ToolResult, UserMessage
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

RECENT = 20_000
"""Maximum tokens of the newest messages that stay unchanged."""
LITTLE = 2_000
"""Tokens of the newest messages that always stay, if there is room for them."""
SUMMARY = 4_096
"""Maximum tokens of a summary."""
LEDGER, FILES = 8_000, 25_000
"""Maximum tokens of the facts, and of file contents that are repeated."""
MOST_FILES = 12
WORTH = 0.9
"""A compaction that leaves more than this share of the tokens is not made."""
SHARES = (2, 4, 8, 16, 64)
"""Divisors of the room for the newest messages, tried in order. The last leaves hardly anything."""
FEW = 250
"""Minimum tokens for a file to be worth repeating."""
LEAST = 1_000
"""No server accepts fewer tokens: a smaller number in an error message means something else."""
LIMITS = (
    re.compile(r">\s*(\d[\d,]{3,})"),
    re.compile(r"(?:maximum|limit|context (?:length|window|size)|n_ctx)\b\D{0,40}?(\d[\d,]{3,})", re.IGNORECASE),
    re.compile(r"(\d[\d,]{3,}) tokens? (?:maximum|limit|allowed)", re.IGNORECASE),
)
"""Limits in error messages: `maximum context length is 8192 tokens`, `213000 tokens > 200000 maximum`."""
PATHS = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)

READ, SKILL = "read_file", "use_skill"

ABOUT = (
    "The conversation up to here was compacted to make room. The following replaces it; do not mention this to the "
    "user. Continue where it ends, without asking again. Read a file again before you edit it, unless it is below."
)


class Tight(Value, frozen=True):
    """Why and how to compact: `share` is the index in `SHARES` to start at, `limit` the server's limit in tokens."""

    cause: CompactionCause
    focus: str = ""
    summary: str = ""
    share: int = 1
    limit: int | None = None


def summary_request(request: Request, focus: str, room: Room) -> Request:
    """Ask for a summary at the end of the same conversation, which is in the provider's cache; trim it if needed."""
    text = read_template("compaction").strip()
    emphasis = f"\nThe user asks you to preserve above all: {focus}" if focus else ""
    ask = UserMessage((Note(text.replace("{focus}", emphasis), "compaction"),))
    left = room.window - overhead_tokens(request) - SUMMARY - message_tokens(ask)
    messages = trim_messages(request.messages, left)
    return replace(request, messages=(*messages, ask), max_tokens=SUMMARY, output_schema=None, summary=True)


def trim_messages(messages: Sequence[Message], room: int) -> tuple[Message, ...]:
    """Fit the messages into `room` tokens: shorten long ones first, then drop the middle. A sound list stays sound."""
    short = tuple(messages)
    for share in (1, 8, 32, 128):
        if sum(map(message_tokens, short)) <= room:
            return short
        short = tuple(shorten_message(message, max(100, room // share)) for message in messages)
    head = 2 if len(short) > 1 and isinstance(short[1], UserMessage) else 1
    begin = _recent_from(short, room - sum(map(message_tokens, short[:head])), begin=head)
    return (*short[:head], *short[begin:])


def try_compactions(state: State, request: Request, before: int, room: Room, tight: Tight) -> Compacted | None:
    """Return the first compaction that leaves enough room, else the smallest; None if none is worth it.

    `request` is the next request, and `before` its tokens as the provider would count them.
    """
    scale = before / max(1, overhead_tokens(request) + sum(map(message_tokens, request.messages)))
    made = None
    for share in SHARES[tight.share :]:
        keep = room.allowed // share
        if tight.cause is not CompactionCause.OVERFLOW:
            keep = min(RECENT, keep, max(LITTLE, before // 4))
        made = _make_compaction(state, room, tight, share, keep)
        after = overhead_tokens(request) + sum(map(message_tokens, build_view(_with_compaction(state, made))))
        made = replace(made, before=before, after=int(after * scale))
        if made.after <= room.allowed * 3 // 4:
            break
    return made if made and made.after <= before * WORTH else None


def _with_compaction(state: State, made: Compacted) -> State:
    return replace(state, compaction=replace(state.compaction, applied=(*state.compaction.applied, made)))


def _make_compaction(state: State, room: Room, tight: Tight, share: int, keep: int) -> Compacted:
    messages = state.messages
    kept_from = _recent_from(messages, keep, begin=1)
    files = keep if tight.cause is CompactionCause.ASKED else room.allowed // share
    longest = max(100, room.allowed // (2 * share))
    kept = (*messages[:1], *messages[kept_from:])
    return Compacted(
        cause=tight.cause,
        content=tuple(_build_content(state, tight, kept_from, room.allowed // max(6, share))),
        kept_from=kept_from,
        until=len(messages),
        before=0,
        after=0,
        summary=tight.summary,
        focus=tight.focus,
        carried=tuple(_carried_messages(messages, kept_from, min(FILES, files))),
        longest=longest if any(message_tokens(message) > longest for message in kept) else None,
        limit=tight.limit,
    )


def _build_content(state: State, tight: Tight, kept_from: int, most: int) -> Iterator[Note]:
    yield Note(ABOUT, "shortened")
    if tight.summary:
        (summary,) = shorten_message(UserMessage((Text(tight.summary),)), min(SUMMARY, most)).content
        assert isinstance(summary, Text)
        yield Note(summary.text, "summary")
    elif replies := list_replies(state, kept_from, min(SUMMARY, most)):
        yield Note(replies, "replies")
    if facts := list_facts(state, kept_from, min(LEDGER, most)):
        yield Note(facts, "ledger")


def _recent_from(messages: Sequence[Message], room: int, begin: int) -> int:
    """Return the index from which messages fit: never between a call and its result, always with the last exchange."""
    best = len(messages)
    for at in range(len(messages) - 1, begin - 1, -1):
        room -= message_tokens(messages[at])
        if room < 0 and best < len(messages):
            break
        if not isinstance(messages[at], ToolResult):
            best = at
    return best


def _carried_messages(messages: Sequence[Message], end: int, room: int) -> list[int]:
    """Return the earlier messages to repeat: active rules, skills, the newest files not edited since."""
    shown = [at for at in range(1, end) if _is_kept(messages[at])]
    seen: set[str] = set()
    files = 0
    for at, call in reversed(list(pair_results(messages[:end]))):
        result = messages[at]
        subject = str(call.arguments.get("path") or call.arguments.get("skill_name") or "")
        if call.name in EDITS:
            seen |= set(PATHS.findall(str(call.arguments.get("input", "")))) | {subject}
        if call.name not in (READ, SKILL) or subject in seen or not isinstance(result, ToolResult) or result.is_error:
            continue
        seen.add(subject)
        size = message_tokens(result)
        if FEW < size <= room and files < MOST_FILES:
            files, room = files + 1, room - size
            shown.append(at)
    return sorted(shown)


def _is_kept(message: Message) -> bool:
    return any(isinstance(part, Note) and part.source in STAYS for part in message.content)


def limit_in(text: str, before: int) -> int:
    """Return the limit in tokens from a server's error; if it names none, three quarters of what it refused."""
    sizes = (int(size.replace(",", "")) for pattern in LIMITS for size in pattern.findall(text))
    return next((size for size in sizes if LEAST <= size < before), before * 3 // 4)
