"""The answer to a call that was not received whole. The more replies in a row were cut off, the more precise it is."""

import msgspec

from halocline.ports.tool import ToolSpec
from halocline.protocol.messages import PRINTED, QUOTED, AssistantMessage, StopReason, ToolCall
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.task.calls.arguments import explain_malformed

_PRINTED = (
    "Nothing was run: your reply showed a call of {tool} as text, which may be an example. If you want {tool} to run, "
    "reply with the call alone. "
)
_QUOTED = (
    "Nothing was run: this call of {tool} stands in what you were given, so your reply may only quote it. If you want "
    "{tool} to run, call it with arguments of your own."
)
_NOT_RUN = "Nothing was run: the arguments of this call are incomplete or malformed{why}. {where}{advice} "
_EXAMPLE = "A right call looks like this: {example}"
_RECEIVED = " Received: {received}"
_SHOWN = 200
_WHOLE = "Send the whole call again."
_FIRST = "Send the whole call again in smaller pieces: several short edits instead of one long one."
_SECOND = (
    "It is the second reply in a row that was cut off, so the same content would be cut off again. "
    "Write only its first part now, at most 100 lines, and add the rest with one edit per reply."
)
_LATER = (
    "It is reply {count} in a row that was cut off. "
    "Send nothing but one call with at most 30 lines, and continue from there in the next replies."
)
_SAMPLES = {"path": "src/main.py", "command": "ls -l", "regex": "TODO", "url": "https://example.com"}
_KINDS = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


def answer_cut_call(call: ToolCall, spec: ToolSpec, state: State) -> str:
    """Return the result of a call whose arguments are no JSON object. It is part of the last message."""
    if call.malformed.startswith(QUOTED):
        return _QUOTED.format(tool=call.name)
    text = call.malformed.removeprefix(PRINTED)
    is_markup = text[:1] in ("<", "(")
    example = _EXAMPLE.format(example=_write_example(spec, markup=is_markup))
    if text != call.malformed:
        return _PRINTED.format(tool=call.name) + example
    count = _count_cut_replies(state)
    tokens = state.budget.last_usage.output
    after = f" after {tokens:,} tokens" if tokens else ""
    said = _NOT_RUN.format(
        where="" if is_markup else explain_malformed(text),
        why=f" (the reply was cut off by the output limit{after})" if count else "",
        advice=(_WHOLE, _FIRST, _SECOND)[count] if count <= 2 else _LATER.format(count=count),
    )
    received = _RECEIVED.format(received=text[:_SHOWN] + ("…" if len(text) > _SHOWN else ""))
    return said + ("" if count else example) + received


def _write_example(spec: ToolSpec, *, markup: bool) -> str:
    """Write a call with the arguments that it needs, as the model writes its calls."""
    fields = spec.schema.get("properties", {})
    given: JsonObject = {
        name: _SAMPLES.get(name) or _KINDS.get(fields.get(name, {}).get("type"), "…")
        for name in spec.schema.get("required", ())
    }
    if not markup:
        return f"{spec.name} with {msgspec.json.encode(given).decode()}."
    texts = (
        (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in given.items()
    )
    inner = "".join(f"<{name}>{text}</{name}>" for name, text in texts)
    return f"<{spec.name}>{inner}</{spec.name}>."


def _count_cut_replies(state: State) -> int:
    """Count the replies at the end of the conversation that the output limit cut off."""
    replies = [message for message in state.messages if isinstance(message, AssistantMessage)]
    whole = (at for at, reply in enumerate(reversed(replies)) if reply.stop_reason is not StopReason.MAX_TOKENS)
    return next(whole, len(replies))
