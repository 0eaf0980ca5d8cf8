"""The WebSocket protocol: JSON text, one message per frame. The page's side is `static/js/line.js`.

A command has an id from the page; the same id never runs twice, so a page can resend what was not answered. Every
`Command` and `Query` gets one `Answered` or `Refused`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from halocline.protocol import commands as cmd, json_input, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import Event, ToolCallDelta
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Effort, UserPart
from halocline.protocol.values import JsonObject, Tagged
from halocline.surfaces.web.event_trimming import LARGEST_FRAME, trim_event


class Watch(Tagged, frozen=True):
    """Subscribe to a task's events after `after`."""

    task: str
    after: int = 0


class Unwatch(Tagged, frozen=True):
    """Unsubscribe from a task."""

    task: str


class Command(Tagged, frozen=True):
    """Send a command to a task, which is opened if needed. Answered: true, or false if it came too late."""

    id: str
    command: cmd.AnyCommand


class Begin(Tagged, frozen=True):
    """Start a task in a workspace with this prompt. None takes the value from the settings. Answered: its id.

    It also works in `add_dirs` and those of the settings.
    """

    id: str
    workspace: str
    content: tuple[UserPart, ...]
    model: str | None = None
    mode: Mode | None = None
    approval_mode: ApprovalMode | None = None
    trusted: bool = False
    add_dirs: tuple[str, ...] = ()
    effort: Effort | None = None


class Query(Tagged, frozen=True):
    """Run one of `registry.QUERIES`. Answered: its value."""

    id: str
    name: str
    arguments: JsonObject = {}


class Do(Tagged, frozen=True):
    """Run one of `registry.ACTIONS`. Answered: its result."""

    id: str
    name: str
    arguments: JsonObject = {}


Incoming = Watch | Unwatch | Command | Begin | Query | Do
Request = Command | Begin | Query | Do
"""Messages that get an answer."""


class Welcome(Tagged, frozen=True):
    """The first frame: server version, the page's client name, and the folders for new tasks."""

    version: str
    client: str
    workspaces: tuple[str, ...]


class Answered(Tagged, frozen=True):
    """The answer to a query, action or command."""

    id: str
    value: Any = None


class Refused(Tagged, frozen=True):
    """A failed request: what happened, and what to do."""

    id: str
    code: str
    text: str
    hint: str = ""

    @classmethod
    def of(cls, id: str, error: HaloclineError) -> "Refused":
        return cls(id, error.code, error.text, error.hint)


class Board(Tagged, frozen=True, omit_defaults=False):
    """The status of open tasks by id, sent on change: `asks`, `runs` or `rests`."""

    tasks: dict[str, str]


Outgoing = Welcome | Answered | Refused | Board

_decoder: json_input.Decoder[Incoming] = json_input.Decoder(Incoming)


def _plain_value(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


encode = partial(json_output.encode, enc_hook=_plain_value)


def decode_frame(text: str | bytes) -> Incoming:
    """Decode a frame. Raises msgspec.DecodeError."""
    return _decoder.decode(text)


def events_frames(task: str, events: Iterable[Event], *, fresh: bool, was_live: bool, live: bool) -> Iterator[bytes]:
    """Encode a task's events as one or more frames, without growing calls: their previews are sent.

    `fresh`: the page drops transient state first, as it is sent again. `live`: the last frame completes the history.
    """
    trimmed = (trim_event(event) for event in events if not isinstance(event, ToolCallDelta))
    parts = list(_split_events(trimmed)) or [[]]
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        head = {"type": "events", "task": task, "fresh": fresh and not number, "live": live if is_last else was_live}
        yield encode(head)[:-1] + b',"events":[' + b",".join(part) + b"]}"


def _split_events(events: Iterable[bytes]) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for event in events:
        if part and size + len(event) > LARGEST_FRAME:
            yield part
            part, size = [], 0
        part.append(event)
        size += len(event)
    if part:
        yield part
