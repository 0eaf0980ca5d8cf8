"""Events to log lines and back. A line is one JSON object; unknown fields are ignored, unknown types are kept."""

import msgspec

from halocline.protocol import json_input, json_output
from halocline.protocol.events import Durable, DurableEvent, Transient, Unrecognised
from halocline.protocol.values import Value

LOG_NAME = "events.jsonl"
"""The name of a log in its task's folder."""

FORMAT = 1
"""The newest format of a log that this version reads; `TaskStarted` names the one a log has."""

_decoder: json_input.Decoder[DurableEvent] = json_input.Decoder(DurableEvent, deepest=None)


class _Envelope(Value, frozen=True):
    type: str
    seq: int = 0
    at: float = 0.0
    task: str = ""
    format: int = 1


_envelope = json_input.Decoder(_Envelope, deepest=None)
_known = frozenset(member.__struct_config__.tag for member in DurableEvent.__args__)


def encode(event: Durable | Transient) -> bytes:
    """One line, without its newline. What UTF-8 cannot hold of its texts (lone surrogates) becomes U+FFFD."""
    return json_output.encode(event)


def format_of(line: bytes) -> int:
    """The format of a log by its first line, readable or not."""
    try:
        return _envelope.decode(line).format
    except msgspec.DecodeError:
        return 1


def decode(line: bytes) -> DurableEvent:
    """Read one line.

    Raises:
        msgspec.DecodeError: the line is no JSON object, or is a known type with wrong fields.
    """
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError:
        envelope = _envelope.decode(line)
        if envelope.type in _known:
            raise
        return Unrecognised(name=envelope.type, seq=envelope.seq, at=envelope.at, task=envelope.task)
