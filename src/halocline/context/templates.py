"""Markdown templates of the prompts: `prompts/*.md`."""

from pathlib import Path


def read_template(name: str) -> str:
    """Return the text of one template."""
    return Path(__file__).with_name("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
