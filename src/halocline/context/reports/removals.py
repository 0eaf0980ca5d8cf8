"""Reports what a request leaves out of the conversation. Pure.

What must stay true: it reports what `view` does, through the same functions; nothing is decided here.
"""

from collections.abc import Iterable

from halocline.context.compaction.old_images import OldImages, count_images
from halocline.context.compaction.stale_files import Stale
from halocline.context.compaction.view import MISSING, build_view
from halocline.context.token_estimate import estimate_tokens, message_tokens
from halocline.context.truncate import UNSEEN, shorten_message
from halocline.protocol.messages import Message, Text, ToolResult
from halocline.protocol.queries.usage import Shortened
from halocline.protocol.state.state import State


def report_removals(state: State, most: int | None, *, sees: bool) -> Shortened:
    """Report what `build_view(state, most, sees=sees)` left out, made up and shortened."""
    compaction = state.compaction.latest
    begin = compaction.kept_from if compaction else 0
    stale = Stale(begin)
    stale.take(state.messages)
    images = OldImages(begin)
    images.take(state.messages)
    outdated = [state.messages[at] for at in stale.left_out]
    read = build_view(state, most, sees=sees)
    cuts = [*_cut_tokens(state, begin, most, stale.left_out)]
    return Shortened(
        outdated=len(outdated),
        outdated_tokens=sum(estimate_tokens(_first_text(message)) for message in outdated)
        - sum(map(estimate_tokens, stale.left_out.values())),
        answered_for=sum(isinstance(message, ToolResult) and message.text == MISSING for message in read),
        cut=len(cuts),
        cut_tokens=sum(cuts),
        longest=most or 0,
        unseen=sum(part == Text(UNSEEN) for message in read for part in message.content),
        old_images=sum(count_images(state.messages[at]) for at in images.left_out) if sees else 0,
        cause=compaction.cause.value if compaction else "",
        before=compaction.before if compaction else 0,
        after=compaction.after if compaction else 0,
        replaced=max(0, begin - 1),
    )


def _cut_tokens(state: State, begin: int, most: int | None, left_out: Iterable[int]) -> Iterable[int]:
    """Yield the tokens that each kept message loses because it is too long."""
    compaction = state.compaction.latest
    for at in range(begin, len(state.messages)):
        longest = most
        if compaction and compaction.longest and at < compaction.until:
            longest = compaction.longest
        if longest is None or at in left_out:
            continue
        message = state.messages[at]
        if (short := shorten_message(message, longest)) is not message:
            yield message_tokens(message) - message_tokens(short)


def _first_text(message: Message) -> str:
    """Return the text that the note on the newer copy replaces."""
    first = message.content[0]
    return first.text if isinstance(first, Text) else ""
