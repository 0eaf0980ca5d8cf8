"""The WebSocket protocol: JSON text, one message per frame. The page's side is `static/js/lib/connection.js`.

A command has an id from the page; the same id never runs twice, so a page can resend what was not answered. Every
`Command` and `Query` gets one `Answered` or `Refused`.
"""

from functools import partial
from pathlib import Path
from typing import Any, Literal

from halocline.protocol import commands as cmd, json_input, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Effort, UserPart
from halocline.protocol.values import JsonObject, Tagged, Value
from halocline.surfaces.web.page_words import tell_page
from halocline.surfaces.web.row_trimming import PageRow


class Watch(Tagged, frozen=True):
    """Subscribe to a task. A page that knows a `view` of it up to a `revision` gets what changed since.

    Another page gets the last rows.
    """

    task: str
    view: str = ""
    revision: int = 0


class ShowRows(Tagged, frozen=True):
    """Send the rows of a watched task from number `first` until `until`; forget what was asked for before."""

    task: str
    first: int
    until: int


class Unwatch(Tagged, frozen=True):
    """Unsubscribe from a task."""

    task: str


class Ping(Tagged, frozen=True):
    """Ask for a `Pong`: a connection without an answer is dead, although it is open."""


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


Incoming = Watch | Unwatch | ShowRows | Ping | Command | Begin | Query | Do
Request = Command | Begin | Query | Do
"""Messages that get an answer."""


class Welcome(Tagged, frozen=True):
    """The first frame: server version, the page's client name, and the folders for new tasks."""

    version: str
    client: str
    workspaces: tuple[str, ...]


class Pong(Tagged, frozen=True):
    """The answer to a `Ping`, at once, whatever else is being answered."""


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
        return cls(id, error.code, tell_page(error.text), tell_page(error.hint))


class Board(Tagged, frozen=True, omit_defaults=False):
    """The status of open tasks by id, sent on change: `asks`, `runs` or `rests`."""

    tasks: dict[str, str]


class RowUpsert(Value, frozen=True):
    """Row number `at` as it is now. The fields in `cut` were shortened; `row` answers with the whole row.

    A call is found by its id, another row as the `nth` of event `seq`.
    """

    at: int
    row: PageRow
    cut: tuple[str, ...] = ()
    seq: int = 0
    nth: int = 0


class RowGrowth(Value, frozen=True):
    """Text that a field of row number `at` has grown by; of the whole its last `keep` characters stay (0: all)."""

    at: int
    field: Literal["text", "output"]
    text: str
    keep: int = 0


class ListChange(Value, frozen=True, omit_defaults=False):
    """A sequence keeps the first items and continues with others."""

    keep: int
    items: tuple[Any, ...]


class TaskChanged(Tagged, frozen=True):
    """A watched task at a `revision` of a `view`: rows and facts that changed.

    It has `count` rows; a page drops those beyond. Rows that a page has not, or not any more, are sent when it asks for
    them. If `is_new`, the page drops all that it knew of the task before.
    """

    task: str
    view: str
    revision: int
    count: int
    is_new: bool = False
    rows: tuple[RowUpsert, ...] = ()
    grown: tuple[RowGrowth, ...] = ()
    facts: dict[str, Any] = {}
    lists: dict[str, ListChange] = {}


class Grown(Tagged, frozen=True):
    """The text of the last row of a `view` has grown by this since the revision before; most frames are that."""

    view: str
    revision: int
    text: str


Outgoing = Welcome | Pong | Answered | Refused | Board | TaskChanged | Grown

_decoder: json_input.Decoder[Incoming] = json_input.Decoder(Incoming)


def _plain_value(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


encode = partial(json_output.encode, enc_hook=_plain_value)


def decode_frame(text: str | bytes) -> Incoming:
    """Decode a frame. Raises msgspec.DecodeError."""
    return _decoder.decode(text)


def add_fields(frame: TaskChanged, **fields: bytes) -> bytes:
    """Encode a frame with fields that are encoded already; empty ones are left out."""
    added = (b',"%b":%b' % (name.encode(), value) for name, value in fields.items() if len(value) > EMPTY)
    return b"%b%b}" % (encode(frame)[:-1], b"".join(added))


EMPTY = len(b"[]")
