"""What a person decided about an approval."""

from typing import NamedTuple

from halocline.protocol.events import Choice
from halocline.protocol.values import JsonObject


class Decision(NamedTuple):
    """`arguments` replaces the call's arguments; `stop` asks to end the turn as well."""

    choice: Choice
    note: str = ""
    arguments: JsonObject | None = None
    stop: bool = False
