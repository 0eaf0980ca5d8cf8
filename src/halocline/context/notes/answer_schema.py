"""What the model reads when its answer has to fit a schema: the wish with the prompt, and what is wrong with a reply.

The schema stands in a note and not in the system prompt, which is fixed for the task: each turn may have another one.
"""

from collections.abc import Sequence

import msgspec

from halocline.context.templates import read_template
from halocline.protocol.messages import Note
from halocline.protocol.values import JsonObject

SOURCE = "answer_form"


def answer_form(schema: JsonObject) -> Note:
    """The note for a prompt whose answer has to fit the schema."""
    template = read_template("answer_form")
    return Note(template.format(schema=msgspec.json.encode(schema).decode()).strip(), source=SOURCE)


def not_in_form(problems: Sequence[str]) -> Note:
    """The note for an answer that does not fit."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    told = f"Your answer does not fit the schema that was asked for:\n{listed}"
    return Note(f"{told}\nSend the whole answer again, as JSON alone.", source=SOURCE)
