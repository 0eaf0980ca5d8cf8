"""Imports a Cline task of which only the screen is left: the conversation, without tool results."""

from collections.abc import Iterable, Iterator

from halocline.importers.transcript import Ground, Prompt, Reply, Said, as_text, parse_time
from halocline.protocol.messages import Text, Thinking
from halocline.protocol.values import JsonObject

PERSON = ("task", "user_feedback")
MODEL = ("text", "completion_result")


def read_screen(screen: Iterable[JsonObject | None], ground: Ground) -> Iterator[Said]:
    """Yield the messages of the user and the model from the rows of the screen."""
    for row in screen:
        if row is None or row.get("partial") is True:
            continue
        at, text, say = parse_time(row.get("ts")), ground.text(as_text(row.get("text"))), row.get("say")
        if not text:
            continue
        if say in PERSON:
            yield Prompt((Text(text),), at)
        elif say in MODEL:
            yield Reply((Text(text),), at)
        elif say == "reasoning":
            yield Reply((Thinking(text),), at)
        else:
            ground.lost["screen row outside the conversation"] += 1
