"""Sign-in by key, code or signature, and sign-out of connected browsers."""

import asyncio
import base64
import binascii
import re
from collections.abc import Callable, Mapping

import msgspec

from halocline.protocol import json_input
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.web.auth import Keys, Session
from halocline.surfaces.web.connection import PageConnection

LOOK_EVERY = 1.0
"""Seconds between checks whether a connected browser was signed out."""
_BROWSERS = (("Firefox", "Firefox"), ("Edg", "Edge"), ("OPR", "Opera"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Mac OS", "macOS"), ("Windows", "Windows"))


class Entrance(Value, frozen=True):
    """A sign-in request: `key` is the key or a code. Without it, the browser `browser` signed the challenge."""

    key: str = ""
    browser: str = ""
    challenge: str = ""
    signature: str = ""


_entrance = json_input.Decoder[Entrance](Entrance)


async def open_session(keys: Keys, body: bytes, headers: Mapping[str, str]) -> Session | None:
    """Return a session for valid credentials, else None. A body that is not an object is the key itself."""
    try:
        given = _entrance.decode(body) if body[:1] == b"{" else Entrance(body.decode("utf-8", "replace"))
        if given.key or not given.browser:
            return keys.exchange(given.key)
        signed = (given.browser, given.challenge, _decode_base64(given.signature), headers.get("host", ""))
        return await asyncio.to_thread(keys.exchange_signature, *signed)
    except (msgspec.DecodeError, ValueError, HaloclineError):  # the browsers file cannot be read or written
        return None


async def register_browser(keys: Keys, cookie: str, body: bytes, headers: Mapping[str, str]) -> bool:
    """Register a signed-in browser with its public key. False if that is invalid, or cannot be kept."""
    try:
        public_key = _decode_base64(body.decode("utf-8", "replace"))
        await asyncio.to_thread(keys.register, cookie, public_key, name_of(headers.get("user-agent", "")))
    except (ValueError, HaloclineError):  # the browsers file cannot be read or written
        return False
    return True


async def until_signed_out(connection: PageConnection, is_known: Callable[[], bool]) -> None:
    """Serve a page until it leaves or its browser is signed out."""
    serving = asyncio.create_task(connection.serve())
    try:
        while not (await asyncio.wait([serving], timeout=LOOK_EVERY))[0]:
            if not is_known():
                await connection.end()
                return
        await serving
    finally:
        await end_tasks(serving)


def name_of(agent: str) -> str:
    """Return a readable name of the browser, from its user agent."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "A browser")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "Linux" if "Linux" in agent else "")
    return re.sub(r"[^\w ]", "", f"{browser} on {system}" if system else browser)


def _decode_base64(text: str) -> bytes:
    """Decode strictly. Raises ValueError."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
