"""Thinking options of models and vendors, as published by the vendors in autumn 2026: `thinking_table.json`.

The first pattern that matches the start of a model's name counts. A model without a match gets generic fields, and only
when the user requested something.
"""

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


Rows = tuple[tuple[str, Takes], ...]


class Tables(Value, frozen=True):
    """Patterns of models by family, with what any other model of it may take.

    `budgets` are the thinking tokens of each effort, for models that take only tokens; also used in reverse.
    """

    budgets: dict[Effort, int]
    claude: Rows
    any_claude: Takes
    openai: Rows
    any_openai: Takes
    gemini: Rows
    any_gemini: Takes
    styles: dict[str, Style]


TABLES = json_input.decode(Path(__file__).with_suffix(".json").read_bytes(), type=Tables)
