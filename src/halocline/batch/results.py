"""The result of an item: its change as a patch, and as the one commit that a branch and a pull request have."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from halocline.batch.places import Place
from halocline.batch.queue import Outcome, Standing
from halocline.files.durable import tells_full_disk, write_whole
from halocline.protocol.errors import HaloclineError
from halocline.protocol.terminal_text import plain_text
from halocline.task.log import LogUnwritable

ROOM = "Make room on the disk, and start the same batch again."
LONGEST_SUBJECT, LONGEST_TEXT = 72, 20_000
Redact = Callable[[str], str]


_CALLS = re.compile(
    r"(?<!\w)@(?=\w)|#(?=\w)|\bGH-(?=\d)|/(?:issues|pull|merge_requests|work_items)/(?=\d)"
    r"|^[ \t]*/(?=[a-z])|\[(?=(?:skip|no|ci|actions)[ -])",
    re.MULTILINE | re.IGNORECASE,
)
"""Text that calls people, names issues, which a merge may close, commands GitLab, or keeps checks from running."""
_BREAK = "\N{ZERO WIDTH NON-JOINER}"


def name_folder(batch: str) -> str:
    """Return what the names of all branches of a batch begin with; git takes fewer names than a batch may have."""
    return f"batch/{re.sub(r'[.](?=[.]|lock$)', '-', batch)}"


def name_branch(batch: str, standing: Standing) -> str:
    """Return the name of the branch that holds the result of an item."""
    return f"{name_folder(batch)}/{standing.name}"


def quiet_text(text: str) -> str:
    """Return a text that does nothing at a code host but be read."""
    return _CALLS.sub(lambda found: f"{found[0]}{_BREAK}", text)


def write_subject(standing: Standing, redact: Redact) -> str:
    """Return the first line of the prompt, as text that can be shown; the id if it has none."""
    line = redact(standing.item.prompt).strip().partition("\n")[0]
    return " ".join(plain_text(line, LONGEST_SUBJECT).split()) or standing.item.id


def describe_change(standing: Standing, outcome: Outcome, redact: Redact) -> str:
    """Return the message of the commit that holds a result: the prompt's first line, and the answer."""
    text = quiet_text(plain_text(redact(outcome.text), LONGEST_TEXT))
    return f"{write_subject(standing, redact)}\n\n{text}\n\nItem: {standing.item.id}\nModel: {outcome.model}\n"


async def keep_change(
    batch: Path, outcome: Outcome, standing: Standing, place: Place, redact: Redact, *, branches: bool
) -> Outcome:
    """Write the patch, and the branch if one is wanted; if that fails, the outcome says why. `redact` is for messages.

    Raises LogUnwritable if the disk is full: what was done stays, and is kept when there is room.
    """
    if not place.changes:
        return outcome
    patch = batch / "results" / f"{standing.name}.patch"
    try:
        change = await place.changes.read_change()
        await asyncio.to_thread(_write_result, patch, change.patch)
        outcome = replace(outcome, files=change.files, added=change.added, removed=change.removed, result=str(patch))
        if branches and place.repository and change.files:
            branch, message = name_branch(batch.name, standing), describe_change(standing, outcome, redact)
            await place.changes.write_branch(place.repository, branch, place.commit, message)
            outcome = replace(outcome, result=branch)
    except (HaloclineError, OSError) as error:
        text = error.text if isinstance(error, HaloclineError) else str(error)
        if tells_full_disk(error, batch):
            raise LogUnwritable(f"The change of {standing.item.id} cannot be kept: {text}.", ROOM) from error
        return replace(outcome, problem=text)
    return outcome


def _write_result(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, data)
