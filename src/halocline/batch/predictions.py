"""Predictions of SWE-bench: the patch of each instance, as its evaluation reads them from `predictions.jsonl`."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from halocline.batch.items import GROUP_SHOWN
from halocline.batch.queue import Outcome, Queue, Standing
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


def list_predictions(queue: Queue, ids: Sequence[str], file: Path) -> dict[Path, str]:
    """Return the text of each file: the lines of the items that have ended, by the patches that the batch keeps.

    Of two lines for one instance the evaluation takes the last, so each run of an evaluation has a file of its own,
    such as `predictions.gpt-5-6.2.jsonl`; one run alone has `file`.
    """
    found = defaultdict[str, list[str]](list)
    for standing in (queue.items[id] for id in ids):
        if standing.outcome:
            group = standing.item.group
            run = standing.item.id.removeprefix(f"{group[:GROUP_SHOWN]}.") if group else ""
            found[run].append(_format_item(queue, standing, standing.outcome))
    names = {run: file if len(found) == 1 else file.with_suffix(f".{run}{file.suffix}") for run in found}
    return {names[run]: "".join(lines) for run, lines in found.items()} or {file: ""}


def _format_item(queue: Queue, standing: Standing, outcome: Outcome) -> str:
    patch = queue.folder / "results" / f"{standing.name}.patch"
    model = outcome.model or standing.item.model or ""
    instance = standing.item.group or standing.item.id
    return format_prediction(instance, model, patch.read_bytes() if patch.exists() else b"")
