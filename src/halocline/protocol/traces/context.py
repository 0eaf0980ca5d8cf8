"""The place of a task in a trace (W3C Trace Context), and the ids of its spans.

Ids follow from the log alone. So a task that is exported afterwards has the spans that were sent while it ran, and
a program that it started can name its parent before that span has ended.
"""

from collections.abc import Mapping

from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

HEADER = compile_later(r"[0-9a-f]{2}-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?:-.*)?")
NAME = "TRACEPARENT"
"""The environment variable with the context of the process that started this one."""
_NO_ID, _TRACE = compile_later("0*"), compile_later("[0-9a-f]{32}")


class TraceContext(Value, frozen=True):
    """A trace, the span in it under which new ones belong (empty: none), and whether it is recorded."""

    trace: str
    span: str = ""
    recorded: bool = True

    @property
    def header(self) -> str:
        """The context as other programs read it, in `traceparent`."""
        return f"00-{self.trace}-{self.span}-{'01' if self.recorded else '00'}"


def read_context(header: str) -> TraceContext | None:
    """Read a `traceparent`, or the id of a trace alone; None if it is neither."""
    if _TRACE.fullmatch(header):
        return TraceContext(header)
    found = HEADER.fullmatch(header.strip().lower())
    if not found or header.startswith("ff") or _NO_ID.fullmatch(found["trace"]) or _NO_ID.fullmatch(found["span"]):
        return None
    return TraceContext(found["trace"], found["span"], recorded=bool(int(found["flags"], 16) & 1))


def begin_trace(task: str, environment: Mapping[str, str]) -> str:
    """Return the trace of a new task: the `traceparent` that this process was started with, or one of its own."""
    given = environment.get(NAME, "").strip()
    return given if read_context(given) else context_of(task, "").trace


def context_of(task: str, given: str) -> TraceContext:
    """Return the context of a task: that in which it was started, otherwise a trace of its own."""
    return read_context(given) or TraceContext(_make_id(task, 16))


def header_for_call(task: str, given: str, call: str) -> str:
    """Return the `traceparent` for what a call starts: a command, a request to a server, a sub-agent.

    Empty for a task that belongs to no trace.
    """
    if not given:
        return ""
    around = context_of(task, given)
    return TraceContext(around.trace, name_span(task, f"call {call}"), around.recorded).header


def name_span(task: str, key: str) -> str:
    """Return the id of a span of a task."""
    return _make_id(f"{task} {key}", 8)


def _make_id(words: str, size: int) -> str:
    from hashlib import blake2b  # most tasks have no trace

    return blake2b(words.encode(), digest_size=size).hexdigest()
