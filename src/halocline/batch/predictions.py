"""Predictions of SWE-bench: the patch of each instance, as its evaluation reads them from `predictions.jsonl`."""

from collections.abc import Iterator, Sequence

from halocline.batch.queue import Queue
from halocline.protocol import json_output


def format_prediction(instance: str, model: str, patch: bytes | str) -> str:
    """Return the line of one instance, with its end. `patch` is what `git apply` takes; empty if nothing changed.

    The format has text only: bytes that are not UTF-8 become U+FFFD, and the evaluation will refuse that patch.
    """
    text = patch.decode("utf-8", "replace") if isinstance(patch, bytes) else patch
    if text and not text.endswith("\n"):  # without it, git calls a patch corrupt
        text += "\n"
    line = {"instance_id": instance, "model_name_or_path": model, "model_patch": text}
    return json_output.encode(line).decode() + "\n"


def list_predictions(queue: Queue, ids: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the items that have ended, by the patches that the batch keeps."""
    for standing in (queue.items[id] for id in ids):
        patch = queue.folder / "results" / f"{standing.name}.patch"
        if standing.outcome:
            model = standing.outcome.model or standing.item.model or ""
            yield format_prediction(
                standing.item.group or standing.item.id, model, patch.read_bytes() if patch.exists() else b""
            )
