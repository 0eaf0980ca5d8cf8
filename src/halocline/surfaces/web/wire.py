"""What goes over a WebSocket: JSON text, one frame each. The page's side of it is `static/js/line.js`.

A command has an id that the page makes; the same id is never carried out twice, so a page may send again what it does
not know the fate of. Every `Command` and `Query` gets one `Answered` or `Refused`.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from halocline.protocol import commands as cmd, json_input, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import ApprovalMode, Event, Mode
from halocline.protocol.messages import Effort, UserPart
from halocline.protocol.values import JsonObject, Tagged
from halocline.surfaces.web.event_trimming import LARGEST_FRAME, trim_event


class Watch(Tagged, frozen=True):
    """Send me the events of a task after `after`, and all that come."""

    task: str
    after: int = 0


class Unwatch(Tagged, frozen=True):
    """Tell me nothing more of a task."""

    task: str


class Command(Tagged, frozen=True):
    """Pass a command on. A task that nobody has open is opened for it. Answered: true, or false when it is too late."""

    id: str
    command: cmd.AnyCommand


class Begin(Tagged, frozen=True):
    """Start a task in a workspace and say this to it. What is None is as in the settings. Answered: its id.

    It works in `add_dirs` as well, and those of the settings.
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
    """Ask one of `registry.QUERIES`. Answered: its value."""

    id: str
    name: str
    arguments: JsonObject = {}


class Do(Tagged, frozen=True):
    """Have one of `registry.ACTIONS` done. Answered: what came of it."""

    id: str
    name: str
    arguments: JsonObject = {}


Incoming = Watch | Unwatch | Command | Begin | Query | Do
Wish = Command | Begin | Query | Do
"""What is answered."""


class Welcome(Tagged, frozen=True):
    """The first frame: who serves, as whom it knows this page, and where new tasks would begin."""

    version: str
    client: str
    workspaces: tuple[str, ...]


class Answered(Tagged, frozen=True):
    """What was asked for, or came of what was to be done."""

    id: str
    value: Any = None


class Refused(Tagged, frozen=True):
    """A command or query could not be done: what happened, and what to do."""

    id: str
    code: str
    text: str
    hint: str = ""

    @classmethod
    def of(cls, id: str, error: HaloclineError) -> "Refused":
        return cls(id, error.code, error.text, error.hint)


class Board(Tagged, frozen=True, omit_defaults=False):
    """How it stands with the tasks that are open here, whenever that changes: by id, `asks`, `runs` or `rests`."""

    tasks: dict[str, str]


Outgoing = Welcome | Answered | Refused | Board

_decoder: json_input.Decoder[Incoming] = json_input.Decoder(Incoming)


def _plain_value(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


encode = partial(json_output.encode, enc_hook=_plain_value)


def decode_frame(text: str | bytes) -> Incoming:
    """Raises msgspec.DecodeError."""
    return _decoder.decode(text)


def events_frames(task: str, events: list[Event], *, fresh: bool, was_live: bool, live: bool) -> Iterator[bytes]:
    """Events of a task, in as many frames as their size asks for; at least one.

    `fresh`: forget what is transient first, it is said anew. `live`: with the last of them the past is told.
    """
    parts = list(_split_events([trim_event(event) for event in events])) or [[]]
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        head = {"type": "events", "task": task, "fresh": fresh and not number, "live": live if is_last else was_live}
        yield encode(head)[:-1] + b',"events":[' + b",".join(part) + b"]}"


def _split_events(events: list[bytes]) -> Iterator[list[bytes]]:
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
