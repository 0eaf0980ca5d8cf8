"""Tools that a program which uses Halocline brings for a task: functions of its own.

What must stay true: every such tool that the model may call is in the log with its definition, so that a replay and a
process without the program know it.
"""

from typing import Literal

from halocline.protocol.events.durable import Durable
from halocline.protocol.values import JsonObject, Value

Effect = Literal["", "reads", "edits", "network"]
"""The effect that a tool declares: it changes nothing, changes files, or reaches servers. Empty: anything."""


class CustomTool(Value, frozen=True):
    """One tool. `paths` are the arguments that name files, `urls` those that are addresses."""

    name: str
    description: str
    schema: JsonObject
    effect: Effect = ""
    paths: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


class CustomToolsOffered(Durable, frozen=True):
    """The program that runs the task offers the model these tools of its own; none if it has no more."""

    tools: tuple[CustomTool, ...]
