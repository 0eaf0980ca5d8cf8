"""Tells the checkpoints what edits wrote, so that nothing else is put down to the task."""

from collections.abc import Iterable
from contextlib import suppress

from halocline.ports.blobs import Blobs
from halocline.ports.checkpoints import Checkpoints
from halocline.protocol.events import Event, FileChanged


def tell_of_writes(facts: Iterable[Event], checkpoints: Checkpoints, blobs: Blobs) -> None:
    """Tell of each file that was written. What is not kept any more is not vouched for."""
    for fact in facts:
        if isinstance(fact, FileChanged):
            with suppress(KeyError):
                before, after = (blob if blob is None else blobs.get(blob) for blob in (fact.before, fact.after))
                checkpoints.wrote(fact.path, before, after)
