"""Authentication: a browser exchanges the key in the printed address for a session.

The key stands after the `#`, so that no server or log ever sees it. Other machines pair with a six-digit code, valid
for one machine and few tries. A session is a cookie plus a page key: browsers send a cookie to every port of a host,
so it is worthless without the key, which only the page's own origin can read. Sessions end with the server; a browser
with a registered signing key then signs in by signature.
"""

import secrets
import time
from collections.abc import Callable

from msgspec.structs import replace

from halocline.client.storage import Browsers
from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value
from halocline.surfaces.web.signature import is_signed, read_public_key

COOKIE = "halocline"
SHORT_LIVED = 60.0
"""Lifetime in seconds of a key passed on a command line."""
CHALLENGE_TIME, MOST_CHALLENGES = 60.0, 200
"""Lifetime of a challenge in seconds, and the maximum number of open ones."""
TRIES, CODES = 5, 5
"""Wrong tries per code, and codes before pairing turns off."""


class Session(Value, frozen=True):
    """Credentials of one browser: a cookie and a page key; `browser` is its id if it is registered."""

    cookie: str
    page_key: str
    browser: str = ""


class Keys:
    """The server's key, pairing codes, and the sessions exchanged for them.

    `show_code` is called with each new code; without it pairing is off. `clock` is in seconds. `browsers` are the
    registered ones.
    """

    def __init__(
        self,
        show_code: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        browsers: Browsers | None = None,
    ) -> None:
        self.key = secrets.token_urlsafe(24)
        self._show_code = show_code
        self._clock = clock
        self._code = ""
        self._wrong = self._codes = 0
        self._short_lived: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}
        self._browsers = browsers
        self._challenges: dict[str, float] = {}

    @property
    def pairs(self) -> bool:
        """True if pairing is on."""
        return bool(self._code)

    def invite(self) -> None:
        """Create the first pairing code."""
        self._new_code()

    def short_lived(self) -> str:
        """Return a one-time, short-lived key: a browser's command line is not secret on this machine."""
        key = secrets.token_urlsafe(24)
        self._short_lived[key] = self._clock() + SHORT_LIVED
        return key

    def exchange(self, given: str) -> Session | None:
        """Return a session for a valid key or code."""
        given = given.strip()
        if not (_compare_secretly(given, self.key) or self._is_short_lived(given) or self._is_code(given)):
            return None
        return self._begin()

    def register(self, cookie: str, public_key: bytes, name: str) -> None:
        """Register the browser of a session, so that it can sign in after a restart, and can be signed out.

        Raises SettingsError, and ValueError for an invalid public key.
        """
        read_public_key(public_key)
        session = self._sessions.get(cookie)
        if session and self._browsers and not session.browser:
            self._sessions[cookie] = replace(session, browser=self._browsers.add(public_key, name).id)

    def challenge(self) -> str:
        """Return a one-time, short-lived text for a browser to sign."""
        now = self._clock()
        for old in [text for text, until in self._challenges.items() if until < now]:
            del self._challenges[old]
        while len(self._challenges) >= MOST_CHALLENGES:
            del self._challenges[next(iter(self._challenges))]
        text = secrets.token_urlsafe(24)
        self._challenges[text] = now + CHALLENGE_TIME
        return text

    def exchange_signature(self, id: str, challenge: str, signature: bytes, host: str) -> Session | None:
        """Return a session for a registered browser that signed the challenge for this host. Raises SettingsError."""
        is_fresh = self._clock() < self._challenges.pop(challenge, 0.0)
        browser = self._browsers.find(id) if self._browsers and is_fresh else None
        if browser is None or not is_signed(signed_text(host, challenge), signature, browser.public_key):
            return None
        session = self._begin()
        self.register(session.cookie, browser.public_key, browser.name)
        return session

    def _begin(self) -> Session:
        session = Session(secrets.token_urlsafe(24), secrets.token_urlsafe(24))
        self._sessions[session.cookie] = session
        return session

    def knows(self, cookie: str, page_key: str) -> bool:
        """True if both belong to one session."""
        session = self._sessions.get(cookie)
        if session is None or not _compare_secretly(page_key, session.page_key):
            return False
        return not session.browser or self._is_kept(session.browser)

    def _is_kept(self, browser: str) -> bool:
        """True unless the browser was signed out; an unreadable file counts as signed out."""
        try:
            return self._browsers is not None and self._browsers.find(browser) is not None
        except SettingsError:
            return False

    def _is_short_lived(self, given: str) -> bool:
        until = self._short_lived.pop(given, 0.0)
        return self._clock() < until

    def _is_code(self, given: str) -> bool:
        """Check a pairing code; too many wrong tries replace it, and finally turn pairing off."""
        digits = given.replace(" ", "")
        if not self._code or len(digits) != len(self._code) or not digits.isdecimal():
            return False
        if _compare_secretly(digits, self._code):
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


def signed_text(host: str, challenge: str) -> bytes:
    """Return the text to sign; it names host and port, so no other server can use it."""
    return f"halocline enter {host} {challenge}".encode()


def _compare_secretly(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
