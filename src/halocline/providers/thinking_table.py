"""Thinking options of models and vendors, as published by the vendors in autumn 2026: `thinking_table.json`.

A model that is not listed gets generic fields, and only when the user requested something.
"""

import re
from pathlib import Path

from halocline.protocol import json_input
from halocline.protocol.messages import Effort
from halocline.protocol.values import JsonObject, Value


class Takes(Value, frozen=True):
    """The thinking options of a model.

    `efforts` are its levels, lowest first; with NONE, thinking can be turned off. `budget` is the minimum and maximum
    of thinking tokens. `off` is Anthropic's value for no thinking. `thinks`: it thinks by default, and shows it on
    request.
    """

    efforts: tuple[Effort, ...] = ()
    budget: tuple[int, int] | None = None
    off: str = "disabled"
    thinks: bool = False


class Style(Value, frozen=True):
    """The fields of a Chat Completions request that control thinking; a dot leads into an object.

    `efforts` are the levels the vendor accepts for all its models (empty: those of the model). `on` and `off` switch
    thinking for models without levels.
    """

    effort_field: str = "reasoning_effort"
    efforts: tuple[Effort, ...] = ()
    budget_field: str = ""
    on: JsonObject = {}
    off: JsonObject = {}


class Family(Value, frozen=True):
    """Models by patterns, of which the first counts that matches the start of a name; `others` if none does."""

    models: tuple[tuple[str, Takes], ...]
    others: Takes

    def find(self, model: str) -> Takes | None:
        """Return what a model takes; None if it is not listed."""
        name = model.rpartition("/")[2]
        return next((takes for pattern, takes in self.models if re.match(pattern, name)), None)


class Tables(Value, frozen=True):
    """Models by API family, and styles by name.

    `budgets` are the thinking tokens of each effort, for models that take only tokens; also used in reverse.
    """

    budgets: dict[Effort, int]
    families: dict[str, Family]
    styles: dict[str, Style]


TABLES = json_input.decode(Path(__file__).with_suffix(".json").read_bytes(), type=Tables)
CLAUDE, OPENAI, GEMINI = map(TABLES.families.__getitem__, ("anthropic", "openai_responses", "gemini"))
