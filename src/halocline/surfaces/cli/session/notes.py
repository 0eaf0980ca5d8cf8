"""`# text` at the prompt: a note for future tasks."""

from collections.abc import Callable
from pathlib import Path

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError


async def keep_note(client: Client, task: str, prompt: str, put_back: Callable[[str], None]) -> str:
    """Save the text after `# `. Returns what to tell the person; empty when the prompt is not such a line.

    A line that cannot be saved is put back, to be changed or sent without the hash.
    """
    if not prompt.lstrip().startswith("# "):
        return ""
    from halocline.client.instructions import parse_note

    if not (note := parse_note(prompt)):
        return ""
    try:
        file = await client.memory_of(Path(client.state(task).workspace)).keep(note)
    except UsageError as error:
        put_back(prompt)
        return f"{error.text} {error.hint}".rstrip()
    return f"Saved to {file}. New tasks in this folder will read it."
