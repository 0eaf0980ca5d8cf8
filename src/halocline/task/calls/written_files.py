"""Reports to the checkpoints what edits wrote, so that nothing else is attributed to the task."""

from collections.abc import Iterable
from contextlib import suppress

from halocline.ports.blobs import Blobs
from halocline.ports.checkpoints import Checkpoints
from halocline.protocol.events import Event, FileChanged


def tell_of_writes(facts: Iterable[Event], checkpoints: Checkpoints, blobs: Blobs) -> None:
    """Report each file that was written, unless its content is no longer stored."""
    for fact in facts:
        if isinstance(fact, FileChanged):
            with suppress(KeyError):
                before, after = (blob if blob is None else blobs.get(blob) for blob in (fact.before, fact.after))
                checkpoints.wrote(fact.path, before, after)
