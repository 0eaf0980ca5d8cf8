"""Edits that wait for a person, looked at again: a file may change while they think.

What must stay true: looking changes nothing and says nothing in the log, and what is approved after another look is
what that look showed.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Diff
from halocline.protocol.values import Value

Diffs = tuple[Diff, ...]
Look = Callable[[], Awaitable[Diffs]]


class Meanwhile(Value, frozen=True, omit_defaults=False):
    """What became of an edit since it was shown. `diffs` are what it would do now, `seen` the name of just that.

    `problem` is why it would not fit any more.
    """

    changed: bool = False
    diffs: Diffs = ()
    seen: str = ""
    problem: str = ""


class Pending:
    """What was shown of each request that waits, and the way to look again."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[Diffs, Look]] = {}

    @contextmanager
    def shown(self, request: str, diffs: Diffs, look: Look) -> Iterator[None]:
        """A person thinks about it meanwhile."""
        self._shown[request] = diffs, look
        try:
            yield
        finally:
            del self._shown[request]

    async def look(self, request: str) -> Meanwhile:
        """How an edit stands; unchanged for what is none, or does not wait any more."""
        diffs, look = self._shown.get(request, ((), None))
        if not diffs or look is None:
            return Meanwhile()
        try:
            now = await look()
        except ToolFailure as failure:
            return Meanwhile(changed=True, problem=failure.text)
        return Meanwhile(now != diffs, now, name_changes(now)) if now != diffs else Meanwhile()


def name_changes(diffs: Diffs) -> str:
    """A name for what diffs show."""
    return sha256(msgspec.json.encode(diffs)).hexdigest()[:32]
