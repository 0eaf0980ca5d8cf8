"""Calls of a run that were not allowed, with the rule and the reason."""

import re

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import Text
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

LONGEST_CALL = 200
"""Most characters shown of a refused call."""


class Refused(Value, frozen=True, omit_defaults=False):
    """A call that was not run, and the rule that denied it or asked for an approval that no one could give."""

    tool: str
    call: str
    reason: str
    rule: str = ""


class Refusals:
    """Collects the refused calls of a run from its events."""

    def __init__(self) -> None:
        self.all: list[Refused] = []
        self._calls: dict[str, Refused] = {}

    def take(self, event: ev.Event) -> Refused | None:
        """Return the refusal that an event reports, if any."""
        match event:
            case ev.AssistantMessageCompleted():
                for call in event.message.tool_calls:
                    about = next((value for value in call.arguments.values() if isinstance(value, str)), "")
                    self._calls[call.id] = Refused(call.name, about, "")
            case ev.ApprovalRequested():
                asked = event.detail or event.title
                self._calls[event.call] = Refused(event.name, asked, event.reason, event.rule)
            case ev.ToolCallEnded(status=CallStatus.REJECTED) if refused := self._calls.get(event.call):
                text = next((part.text for part in event.result.content if isinstance(part, Text)), "")
                self.all.append(refused if refused.reason else _parse_reason(refused, text))
                return self.all[-1]
        return None


_NAMED = compile_later(r"Not allowed: (?P<reason>.*) \(rule (?P<rule>.*?)\)\. Nothing was run", re.DOTALL)


def _parse_reason(call: Refused, text: str) -> Refused:
    found = _NAMED.match(text)
    return replace(call, reason=found["reason"], rule=found["rule"]) if found else replace(call, reason=text)


def describe_refusal(refused: Refused) -> str:
    """`Not run: execute_command touch q: ask mode asks … (rule mode-ask)`."""
    call = " ".join(refused.call.split())
    call = call if len(call) <= LONGEST_CALL else call[:LONGEST_CALL] + "…"
    rule = f" (rule {refused.rule})" if refused.rule else ""
    return f"Not run: {refused.tool} {call}: {refused.reason}{rule}"
