"""Which models are of one family: what they are told beside the others, and which way to edit they were trained on."""

import re

PATCHES = r"(.*/)?(gpt-(4\.1|[5-9]|\d\d)|o[34](?!\w)|codex)"
"""Models that were trained on the format of apply_patch; OpenAI's, whoever serves them."""
FAMILIES = {
    "gpt": PATCHES,
    "gemini": r"(.*[/.])?gemini-",
    "claude": r"(.*[/.])?claude-",
    "glm": r"(.*/)?glm-",
}
"""Patterns for `provider/model`; each family has a part of `prompts/habits.md`."""


def family_of(model: str) -> str:
    """The family of a model, as `provider/model`; empty for one that needs no words of its own."""
    return next((name for name, pattern in FAMILIES.items() if re.match(pattern, model.lower())), "")
