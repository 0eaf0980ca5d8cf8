"""Predictions of SWE-bench: the patch of each instance, as its evaluation reads them from `predictions.jsonl`."""

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
