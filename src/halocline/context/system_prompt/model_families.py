"""Model families: their extra instructions, and the edit format they were trained on; sizes of models."""

import re

PATCHES = r"(.*[/.]|.*openai[.-])?(gpt-?(4\.?1(?!\d)|[5-9]|(?!35)[1-9]\d(?!\d))|o[34](?!\w)|codex)"
"""Models trained on the apply_patch format: OpenAI's, whichever provider serves them.

Azure's names have no dot: `gpt-35-turbo` is 3.5, `gpt-41` is 4.1.
"""
FAMILIES = {
    "gpt": PATCHES,
    "gemini": r"(.*[/.-])?gemini-",
    "claude": r"(.*[/.-])?claude-",
    "glm": r"(.*[/.-])?glm-?\d",
}
"""Patterns for `provider/model`; each family has a section in `prompts/habits.md`."""


def family_of(model: str) -> str:
    """Return the family of a model (`provider/model`); empty if it needs no extra instructions."""
    return next((name for name, pattern in FAMILIES.items() if re.match(pattern, model.lower())), "")


_SIZE = re.compile(r"(?<![\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)(b|m)(?![a-z\d])")


def size_of(model: str) -> float | None:
    """Return the parameters that a model's name says, in thousand millions; None if it says none.

    Of a mixture (`8x7b`, `30b-a3b`) all count, not those at work.
    """
    found = _SIZE.findall(model.rpartition("/")[2].lower())
    sizes = (int(times or 1) * float(number) / (1 if unit == "b" else 1000) for times, number, unit in found)
    return max(sizes, default=None)
