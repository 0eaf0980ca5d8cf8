"""The calls of a run that nobody let through, named with the rule and the reason."""

import re

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.messages import Text
from halocline.protocol.values import Value

LONGEST_CALL = 200
"""Characters of a refused call that are named."""


class Refused(Value, frozen=True, omit_defaults=False):
    """A call that was not run: what it was, and which rule refused or asked for an approval that nobody could give."""

    tool: str
    call: str
    reason: str
    rule: str = ""


class Refusals:
    """The calls of a run that were refused, by its events."""

    def __init__(self) -> None:
        self.all: list[Refused] = []
        self._calls: dict[str, Refused] = {}

    def take(self, event: ev.Event) -> Refused | None:
        """The refusal that an event tells of."""
        match event:
            case ev.AssistantMessageCompleted():
                for call in event.message.tool_calls:
                    about = next((value for value in call.arguments.values() if isinstance(value, str)), "")
                    self._calls[call.id] = Refused(call.name, about, "")
            case ev.ApprovalRequested():
                asked = event.detail or event.title
                self._calls[event.call] = Refused(event.name, asked, event.reason, event.rule)
            case ev.ToolCallEnded(status=ev.CallStatus.REJECTED) if refused := self._calls.get(event.call):
                said = next((part.text for part in event.result.content if isinstance(part, Text)), "")
                self.all.append(refused if refused.reason else _by_words(refused, said))
                return self.all[-1]
        return None


_NAMED = re.compile(r"Not allowed: (?P<reason>.*) \(rule (?P<rule>[^()]+)\)\.", re.DOTALL)


def _by_words(call: Refused, said: str) -> Refused:
    found = _NAMED.match(said)
    return replace(call, reason=found["reason"], rule=found["rule"]) if found else replace(call, reason=said)


def describe_refusal(refused: Refused) -> str:
    """`Not done: execute_command touch q: ask mode asks … (rule mode-ask)`."""
    call = " ".join(refused.call.split())
    call = call if len(call) <= LONGEST_CALL else call[:LONGEST_CALL] + "…"
    rule = f" (rule {refused.rule})" if refused.rule else ""
    return f"Not done: {refused.tool} {call}: {refused.reason}{rule}"
