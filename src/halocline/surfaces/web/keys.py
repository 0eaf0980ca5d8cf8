"""Who may come in: whoever has the address that was printed, whose key each browser exchanges for a session.

The key stands behind the `#`, so that no server and no log ever sees it in an address. Other machines are paired by a
code of six digits, which holds for one of them and for few tries. A session is a cookie and a page key: browsers send a
cookie to every server of a host, whatever its port, so it opens nothing without the key, which only the page's own
origin can read. All of it ends with the server.
"""

import secrets
import time
from collections.abc import Callable

from halocline.protocol.values import Value

COOKIE = "halocline"
SHORT_LIVED = 60.0
"""Seconds for which a key that stands in a command line opens the page."""
TRIES, CODES = 5, 5
"""Wrong tries that a code survives, and codes that are made before nobody is paired any more."""


class Session(Value, frozen=True):
    """What one browser shows with every request: a cookie, and the key that its page keeps."""

    cookie: str
    page_key: str


class Keys:
    """One key for the life of the server, codes for pairing, and the sessions that they were exchanged for.

    `show_code` is called with each new code; without it nobody is paired. `clock` is in seconds.
    """

    def __init__(
        self, show_code: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.key = secrets.token_urlsafe(24)
        self._show_code = show_code
        self._clock = clock
        self._code = ""
        self._wrong = self._codes = 0
        self._short_lived: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}

    @property
    def pairs(self) -> bool:
        """Whether a code would be taken now."""
        return bool(self._code)

    def invite(self) -> None:
        """Make the first code."""
        self._new_code()

    def short_lived(self) -> str:
        """A key that holds once, and not for long: the command line of a browser is no secret on this machine."""
        key = secrets.token_urlsafe(24)
        self._short_lived[key] = self._clock() + SHORT_LIVED
        return key

    def exchange(self, given: str) -> Session | None:
        """A new session for a key or a code, if it is right."""
        given = given.strip()
        if not (_same(given, self.key) or self._is_short_lived(given) or self._is_code(given)):
            return None
        session = Session(secrets.token_urlsafe(24), secrets.token_urlsafe(24))
        self._sessions[session.cookie] = session
        return session

    def knows(self, cookie: str, page_key: str) -> bool:
        """Whether both belong to one session."""
        session = self._sessions.get(cookie)
        return session is not None and _same(page_key, session.page_key)

    def _is_short_lived(self, given: str) -> bool:
        until = self._short_lived.pop(given, 0.0)
        return self._clock() < until

    def _is_code(self, given: str) -> bool:
        """A wrong one brings the next code nearer, and the last one ends pairing."""
        digits = given.replace(" ", "")
        if not self._code or len(digits) != len(self._code) or not digits.isdecimal():
            return False
        if _same(digits, self._code):
            self._codes -= 1
            self._new_code()
            return True
        self._wrong += 1
        if self._wrong >= TRIES:
            self._new_code()
        return False

    def _new_code(self) -> None:
        if self._show_code is None:
            return
        self._wrong = 0
        self._codes += 1
        self._code = f"{secrets.randbelow(10**6):06}" if self._codes <= CODES else ""
        self._show_code(self._code)


def _same(given: str, expected: str) -> bool:
    """Takes as long whatever is given."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
