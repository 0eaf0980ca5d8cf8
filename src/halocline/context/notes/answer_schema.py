"""Notes on an answer that must match a schema: the request beside the prompt, and the errors of an answer.

The schema is in a note, not in the system prompt: that is fixed for the task, and each turn may have its own schema.
"""

from collections.abc import Sequence

import msgspec

from halocline.context.templates import read_template
from halocline.protocol.messages import Note
from halocline.protocol.values import JsonObject

SOURCE = "answer_form"


def answer_form(schema: JsonObject) -> Note:
    """Build the note for a prompt whose answer must match the schema."""
    template = read_template("answer_form")
    return Note(template.format(schema=msgspec.json.encode(schema).decode()).strip(), source=SOURCE)


def build_mismatch_note(problems: Sequence[str]) -> Note:
    """Build the note for an answer that does not match."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    text = f"Your answer does not match the requested schema:\n{listed}\nSend the whole answer again, as JSON only."
    return Note(text, source=SOURCE)
