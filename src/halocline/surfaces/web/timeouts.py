"""Ends connections that keep the server waiting, so that no client can use them all up.

A request's head has a deadline, and so has a whole request without a session. Connections without a session are
limited: the oldest one of the address with the most of them is closed first.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from halocline.surfaces.web.guard import KNOWN

HEAD_TIME = 10.0
"""Seconds from the start of a connection, or the end of a response, to the end of a request's head."""
UNKNOWN_TIME = 20.0
"""Seconds for the rest of a request without a session, including its response."""
MOST_UNKNOWN = 100


class PatientConnection(H11Protocol):
    """One HTTP connection."""

    _timer: asyncio.TimerHandle | None = None
    _served: object = None
    unknown_since: float | None = None
    """Loop time since when it waits for a head; None while a request with a session is served."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for_head()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and self.cycle is not self._served:
            self._served = self.cycle
            self._begin_timer(UNKNOWN_TIME)
            extensions: dict[str, Any] = {KNOWN: self._let_take_its_time}
            self.scope["extensions"] = extensions

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._let_take_its_time()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        self._wait_for_head()
        super().on_response_complete()

    def end(self) -> None:
        """End the connection. It counts no more at once: when many come together, more do before it is lost."""
        self._let_take_its_time()
        self.connections.discard(self)
        self.transport.abort()

    def _let_take_its_time(self) -> None:
        self.unknown_since = None
        self._stop_timer()

    def _wait_for_head(self) -> None:
        self.unknown_since = self.loop.time()
        self._begin_timer(HEAD_TIME)

    def _begin_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.end)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _make_room(self) -> None:
        unknown = [
            one for one in self.connections if isinstance(one, PatientConnection) and one.unknown_since is not None
        ]
        if len(unknown) <= MOST_UNKNOWN:
            return
        of_each = Counter(one.client and one.client[0] for one in unknown)
        ((most, _),) = of_each.most_common(1)
        theirs = [one for one in unknown if (one.client and one.client[0]) == most]
        min(theirs, key=lambda one: one.unknown_since or 0.0).end()
