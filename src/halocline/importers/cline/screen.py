"""A task of Cline's of which only the screen is left: what was said, without the tools' results."""

from collections.abc import Iterable, Iterator

from halocline.importers.transcript import Ground, Prompt, Reply, Said, moment, words
from halocline.protocol.messages import Text, Thinking
from halocline.protocol.values import JsonObject

PERSON = ("task", "user_feedback")
MODEL = ("text", "completion_result")


def shown(screen: Iterable[JsonObject | None], ground: Ground) -> Iterator[Said]:
    """The person's words and the model's, from the rows of the screen."""
    for row in screen:
        if row is None or row.get("partial") is True:
            continue
        at, text, say = moment(row.get("ts")), ground.text(words(row.get("text"))), row.get("say")
        if not text:
            continue
        if say in PERSON:
            yield Prompt((Text(text),), at)
        elif say in MODEL:
            yield Reply((Text(text),), at)
        elif say == "reasoning":
            yield Reply((Thinking(text),), at)
        else:
            ground.lost["row of the screen that is no part of the conversation"] += 1
