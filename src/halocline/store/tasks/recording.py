"""Recordings: a task in one portable file that can be replayed, with its events and all model requests.

JSON lines: a head, then the events as in the log, with the requests between them. Only the new part of a request is
written. Keys, and anything that looks like one, are redacted in all texts; the JSON structure is never changed, so that
it can be read back. Everything else that the task read is in the file: check it before you share it.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline._version import __version__
from halocline.ports.model import Request
from halocline.protocol import codec, json_output
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events import Durable, DurableEvent, Event, StepStarted
from halocline.protocol.secrets.redaction import Redactor, each_text
from halocline.protocol.state.persistent import count_common
from halocline.protocol.values import JsonObject, Tagged, Value

FORMAT = 1


RECORDED_SETTINGS = (
    *(
        "max_steps",
        "max_cost",
        "token_limit",
        "time_limit",
        "max_failures",
        "max_tokens",
        "effort",
        "thinking_budget",
        "plan",
    ),
    *("web_search", "sandbox", "compaction", "image_models"),
)
"""Settings that affect the course of a task."""


class RecordingStarted(Tagged, frozen=True, omit_defaults=False):
    """The head. `settings` are those in `RECORDED_SETTINGS`."""

    format: int = FORMAT
    version: str = __version__
    settings: JsonObject = {}


class RequestMade(Tagged, frozen=True):
    """The request of one step (counted from 1). It starts with the first `kept` messages of the previous request.

    If `kept` is set, all other fields are those of the previous request too.
    """

    step: int
    request: Request
    kept: int = 0


class Recording(Value, frozen=True):
    """Content of a recording. `requests` are by step; a plain log has none."""

    events: tuple[DurableEvent, ...]
    requests: dict[int, Request] = {}
    settings: JsonObject = {}


class RecordingDamaged(HaloclineError):
    """The file is not a recording, or a line of it cannot be read."""

    code = "recording_damaged"


class Recorder:
    """Records a task while it runs: subscribes to its log, and also gets each request.

    A problem with the file ends the recording, never the task, and is reported to `tell`.
    """

    def __init__(self, path: Path, settings: JsonObject, secrets: Iterable[str]) -> None:
        """Create the file. Raises UsageError if it exists or cannot be created."""
        self.tell: Callable[[str], object] = lambda text: None
        self._path = path
        values = frozenset(secrets)
        self._redacted = Redactor(lambda: values)
        self._steps = 0
        self._last = Request(model="", system="", messages=())
        try:
            self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except FileExistsError:
            raise UsageError(f"{path} already exists.", "Choose another file for the recording.") from None
        except OSError as error:
            raise UsageError(f"Cannot write {path}: {error.strerror}.", "Choose another file.") from error
        self._write(RecordingStarted(settings=settings))

    def push(self, event: Event) -> None:
        """Record an event, unless it is transient."""
        if isinstance(event, Durable):
            self._steps += isinstance(event, StepStarted)
            self._write(event)

    def request(self, request: Request) -> None:
        """Record a request of the current step."""
        kept = _count_same(self._last, request)
        new = replace(request, messages=(*request.messages[kept:],))
        new = replace(new, system="", tools=()) if kept else new
        self._last = request
        self._write(RequestMade(self._steps, new, kept))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, value: Tagged) -> None:
        if self._file is None:
            return
        line = json_output.encode(each_text(msgspec.to_builtins(value), self._redacted))
        try:
            if os.write(self._file, line + b"\n") <= len(line):
                raise OSError("only part of a line could be written")
        except OSError as error:
            self.close()
            self.tell(f"The recording {self._path} stopped: {error}. The task continues.")


def _count_same(last: Request, request: Request) -> int:
    """Count the leading messages that need not be written again; 0 if anything else changed."""
    if replace(last, messages=()) != replace(request, messages=()):
        return 0
    return count_common(last.messages, request.messages)


class _Kind(Value, frozen=True):
    type: str


_kind = msgspec.json.Decoder(_Kind)
_line: msgspec.json.Decoder[RecordingStarted | RequestMade] = msgspec.json.Decoder(RecordingStarted | RequestMade)


def read_recording(path: Path) -> Recording:
    """Read a recording. Raises UsageError if the file cannot be read, RecordingDamaged if it is not a recording."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # a last line without a newline was cut off
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.", "Give a recording or a task.") from error
    try:
        head = _line.decode(lines[0])
    except (msgspec.DecodeError, IndexError):
        head = None
    if not isinstance(head, RecordingStarted) or head.format != FORMAT:
        raise RecordingDamaged(
            f"{path} is not a recording that this version can read.", "Make one with: halo run --record FILE"
        )
    return _read_lines(lines[1:], head, path)


def _read_lines(lines: Sequence[bytes], head: RecordingStarted, path: Path) -> Recording:
    events: list[DurableEvent] = []
    requests: dict[int, Request] = {}
    last = Request(model="", system="", messages=())
    for number, line in enumerate(lines, start=2):
        try:
            if _kind.decode(line).type != "request_made":
                events.append(codec.decode(line))
                continue
            made = _line.decode(line)
        except msgspec.DecodeError as error:
            raise RecordingDamaged(f"Cannot read line {number} of {path}: {error}.", "Record it again.") from error
        assert isinstance(made, RequestMade)
        last = _whole_request(made, last)
        requests[made.step] = last
    return Recording(tuple(events), requests, head.settings)


def _whole_request(made: RequestMade, last: Request) -> Request:
    first = last if made.kept else made.request
    return replace(first, messages=(*last.messages[: made.kept], *made.request.messages))
