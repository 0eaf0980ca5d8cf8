"""Sends the spans of open tasks to a collector, by the SDK of OpenTelemetry and its variables (`OTEL_…`).

A subscriber folds events into spans and puts them into a queue with an end; a thread, one for all tasks of a client,
loads the SDK and sends them. So a task never waits for a collector, and the end of a client only for a few seconds.
What a collector missed can be exported afterwards.
"""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from halocline._version import __version__
from halocline.installation import extra_command
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.state.state import State
from halocline.protocol.traces.spans import Span, SpanProjection, list_spans
from halocline.runtime.error_log import LOGGER
from halocline.task.log import Log, read_log
from halocline.tools import toolset

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

Redact = Callable[[str], str]
PATIENCE = 5.0
"""Seconds that a collector has to take a request, if no variable says so, and that the end of a process waits."""
MOST_AT_ONCE = 512
"""Spans in a request, if no variable says so."""
MOST_WAITING = 2048
"""Spans that wait for a collector, if no variable says so; more are dropped."""
PAUSE = 5000
"""Milliseconds that a span waits for others, if no variable says so."""


class TraceSender:
    """Sends the spans of all tasks of a client."""

    def __init__(self, redact: Redact, environment: Mapping[str, str] = os.environ) -> None:
        self._redact = redact
        self._environment = environment
        self._most = read_number(environment, "OTEL_BSP_MAX_QUEUE_SIZE", MOST_WAITING)
        self._spans: deque[Span] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.is_over = False
        """True if nothing is taken any more: it was closed, or its thread ended."""
        self.dropped = 0
        """Spans that found the queue full, or that the collector did not take before the end."""

    def follow(self, log: Log, state: State, *, contents: bool) -> tuple[str, ...]:
        """Send what ends in a task from now on. Return why it cannot be sent, if so; empty otherwise."""
        if self.is_over or not is_wanted(self._environment):
            return ()
        if not is_installed():
            return (f"No traces are sent: OpenTelemetry is not installed. To install it: {extra_command('otel')}",)
        try:
            check_protocol(self._environment)
        except UsageError as error:
            return (f"No traces are sent: {error} {error.hint}",)
        projection = SpanProjection(contents=contents, after=state.seq, tools=toolset.OURS)
        for event in read_log(log.path):  # a turn that another process left open ends here
            projection.add(event)
        log.attach(_Follower(projection, self))
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="traces", daemon=True)
            self._thread.start()
        return ()

    def put(self, span: Span) -> None:
        """Have a span sent, or drop it if too many wait."""
        with self._changed:
            if self.is_over:
                return
            if len(self._spans) < self._most:
                self._spans.append(span)
                self._changed.notify()
                return
            self.dropped += 1
        if self.dropped == 1:
            LOGGER.warning("the collector of traces is too slow, and spans are dropped; see `halo export -f otlp`")

    def close(self) -> None:
        """Send what is left, within a few seconds."""
        self._end()
        if self._thread:
            self._thread.join(PATIENCE)
        with self._changed:
            self.dropped += len(self._spans)
            self._spans.clear()  # the thread ends with its request
        if self.dropped:
            LOGGER.warning("%d spans of traces were dropped; see `halo export -f otlp`", self.dropped)

    def _send_all(self) -> None:
        pass_on_messages()
        try:
            keep_unobserved()
            exporter, resource = build_exporter(self._environment), describe_process(self._environment)
            while batch := self._take_batch():
                exporter.export([to_sdk_span(span, resource, self._redact) for span in batch])
            exporter.shutdown()
        finally:
            self._end()

    def _take_batch(self) -> list[Span]:
        """Wait for spans, and a while for more; there are none once it is over."""
        most = min(self._most, read_number(self._environment, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", MOST_AT_ONCE))
        pause = read_number(self._environment, "OTEL_BSP_SCHEDULE_DELAY", PAUSE) / 1000
        with self._changed:
            self._changed.wait_for(lambda: self._spans or self.is_over)
            self._changed.wait_for(lambda: len(self._spans) >= most or self.is_over, pause)
            return [self._spans.popleft() for _ in range(min(most, len(self._spans)))]

    def _end(self) -> None:
        with self._changed:
            self.is_over = True
            self._changed.notify_all()


class _Follower:
    """Folds the events of one log as they happen."""

    def __init__(self, projection: SpanProjection, sender: TraceSender) -> None:
        self._projection = projection
        self._sender = sender

    def push(self, event: ev.Event) -> None:
        if self._sender.is_over:
            return
        for span in self._projection.add(event):
            if span.recorded:
                self._sender.put(span)

    def close(self) -> None:
        """Do nothing: a turn that a process leaves open is ended by the next one."""


def keep_unobserved() -> None:
    """Make no spans of what this thread requests, in a program that observes its requests."""
    from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, set_value

    attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, value=True))


def send_logs(
    logs: Iterable[Iterable[ev.DurableEvent]], redact: Redact, environment: Mapping[str, str], *, contents: bool
) -> int:
    """Send the spans of whole logs and wait until a collector took them; return their number. Raises UsageError."""
    if not is_installed():
        raise UsageError("OpenTelemetry is not installed.", f"Install it: {extra_command('otel')}")
    messages = pass_on_messages()
    exporter, resource = build_exporter(environment), describe_process(environment)
    spans = (span for events in logs for span in list_spans(events, contents=contents, tools=toolset.OURS))
    made = [to_sdk_span(span, resource, redact) for span in spans]
    for at in range(0, len(made), MOST_AT_ONCE):
        if exporter.export(made[at : at + MOST_AT_ONCE]).name != "SUCCESS":
            said = f" {messages.last}" if messages.last else ""
            raise UsageError(f"The collector did not take the spans.{said}", "See OTEL_EXPORTER_OTLP_ENDPOINT.")
    exporter.shutdown()
    return len(made)


def is_installed() -> bool:
    """True if the extra is installed; nothing of it is imported."""
    return all(find_spec(name) for name in ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter"))


def is_wanted(environment: Mapping[str, str]) -> bool:
    """False if a variable of OpenTelemetry turns traces off."""
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() != "none"


def build_exporter(environment: Mapping[str, str]) -> "SpanExporter":
    """Build the exporter that the variables name. Raises UsageError if it is not one of ours."""
    if environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    check_protocol(environment)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    names = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    return OTLPSpanExporter(timeout=None if any(environment.get(name) for name in names) else PATIENCE)


def check_protocol(environment: Mapping[str, str]) -> None:
    """Raise UsageError if the variables name a protocol that is not one of ours. Nothing is imported."""
    protocol = environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    is_console = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "console"
    if not is_console and protocol not in (None, "", "http/protobuf"):
        raise UsageError(
            f"The protocol {protocol} of OTEL_EXPORTER_OTLP_PROTOCOL is not one that Halocline sends.",
            "Send http/protobuf, which every collector takes, to its port 4318.",
        )


def read_number(environment: Mapping[str, str], name: str, usual: int) -> int:
    """Return the positive number of a variable, or the usual one."""
    given = environment.get(name, "").strip()
    return int(given) if given.isdecimal() and int(given) else usual


def describe_process(environment: Mapping[str, str]) -> "Resource":
    """Return what all spans say of this process; the variables have the last word."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    own = {"service.name": "halocline", "service.version": __version__}
    named = OTELResourceDetector().detect()
    return Resource.create({name: value for name, value in own.items() if name not in named.attributes})


def to_sdk_span(span: Span, resource: "Resource", redact: Redact) -> "ReadableSpan":
    """Return a span as the SDK exports it; texts of people, models and tools without keys."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def place(id: str) -> SpanContext:
        flags = TraceFlags(TraceFlags.SAMPLED if span.recorded else TraceFlags.DEFAULT)
        return SpanContext(int(span.trace, 16), int(id, 16), is_remote=False, trace_flags=flags)

    attributes: dict[str, str | int | float | bool | Sequence[str]] = dict(span.attributes)
    attributes |= {name: redact(text) for name, text in span.words.items()}
    if span.error:
        attributes["error.type"] = span.error
    return ReadableSpan(
        span.name,
        place(span.id),
        place(span.parent) if span.parent else None,
        resource,
        attributes,
        kind=SpanKind.CLIENT if span.calls_out else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR if span.error else StatusCode.UNSET),
        start_time=round(span.start * 1e9),
        end_time=round(span.end * 1e9),
        instrumentation_scope=InstrumentationScope("halocline", __version__),
    )


class _ToProgramLog(logging.Handler):
    """Passes what the SDK says to the program's log, as standard error belongs to the screen."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()
        LOGGER.handle(record)


def pass_on_messages() -> _ToProgramLog:
    """Keep the messages of the SDK from standard error."""
    logger = logging.getLogger("opentelemetry")
    known = [handler for handler in logger.handlers if isinstance(handler, _ToProgramLog)]
    logger.propagate = False
    if not known:
        logger.addHandler(known_one := _ToProgramLog(logging.WARNING))
        return known_one
    return known[0]
