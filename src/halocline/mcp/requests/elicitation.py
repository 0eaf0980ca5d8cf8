"""A server that wants something of the person: one question for each field, and never more than they say.

A server cannot ask for secrets this way, and whatever it asks is shown as its words, not ours. Only an answer that fits
the form is sent, and a form of several fields is shown once more before it is.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import mcp_types as types

from halocline.mcp.requests.forms import Field, Unfit, fields_of
from halocline.mcp.tool_names import plain_text
from halocline.ports.mcp import Ask

SKIP, DECLINE, SEND, DONE = "Leave it out", "Decline", "Send it", "I did that"
TRIES = 3
MOST_PAGES = 100


class Pages:
    """The pages of one connection, by their ids: a server may say itself that one was done with, even before we ask."""

    def __init__(self) -> None:
        self._done: dict[str, asyncio.Event] = {}

    def done(self, page: str) -> None:
        self._of(page).set()

    @contextmanager
    def shown(self, page: str | None) -> Iterator[asyncio.Event]:
        """Set once the server says so; one without an id is never."""
        try:
            yield asyncio.Event() if page is None else self._of(page)
        finally:
            self._done.pop(page or "", None)

    def _of(self, page: str) -> asyncio.Event:
        while len(self._done) >= MOST_PAGES and page not in self._done:
            del self._done[next(iter(self._done))]
        return self._done.setdefault(page, asyncio.Event())


async def answer_elicitation(params: Any, server: str, ask: Ask, pages: Pages) -> types.ElicitResult:
    """The person's answer. Where nobody can answer, it is cancelled."""
    said = f"The MCP server {server} asks: {plain_text(params.message, 1_000)}"
    if getattr(params, "mode", "form") == "url":
        with pages.shown(params.elicitation_id) as done:
            return await open_page(said, str(params.url), ask, done)
    fields = fields_of(params.requested_schema)
    if fields is None:
        return types.ElicitResult(action="cancel")
    content: dict[str, Any] = {}
    for field in fields:
        given = await _ask_field(said, field, ask)
        if isinstance(given, types.ElicitResult):
            return given
        content |= given
    if len(fields) != 1:
        shown = "".join(f"\n- {name}: {value}" for name, value in content.items())
        sent = await ask(f"{said}\n\nThis would be sent to it:{shown or ' only that you agree'}", (SEND, DECLINE))
        if sent != SEND:
            return _end_result(sent)
    return types.ElicitResult(action="accept", content=content)


async def open_page(said: str, url: str, ask: Ask, done: asyncio.Event) -> types.ElicitResult:
    """A page is shown as an address, with the host by itself; a person opens it, we never do.

    The question ends by itself when the server says that the page was `done` with: nothing is left to be answered.
    """
    address, host = plain_text(url, 2_000), urlsplit(url).hostname
    if not url.startswith(("https://", "http://")) or not host or address != url:
        return types.ElicitResult(action="cancel")
    warned = "" if url.startswith("https://") else " Others can read along there: it is not https."
    warned += " Its name looks like another's: it has foreign letters." if "xn--" in host or not host.isascii() else ""
    wish = f"It wants you to open this page at {host}:\n\n{address}\n\nDo so only if you trust it.{warned}"
    asking = asyncio.ensure_future(ask(f"{said}\n\n{wish}", (DONE, DECLINE)))
    ending = asyncio.ensure_future(done.wait())
    try:
        await asyncio.wait([asking, ending], return_when=asyncio.FIRST_COMPLETED)
        given = await asking if asking.done() else DONE
    finally:
        asking.cancel(), ending.cancel()
        await asyncio.wait([asking, ending])
    return types.ElicitResult(action="accept") if given == DONE else _end_result(given)


def _end_result(given: str | None) -> types.ElicitResult:
    return types.ElicitResult(action="cancel" if given is None else "decline")


async def _ask_field(said: str, field: Field, ask: Ask) -> dict[str, Any] | types.ElicitResult:
    """A field with its value, nothing when it is left out, or why the form is not sent."""
    options = (*field.options, *(() if field.required else (SKIP,)), DECLINE)
    problem = ""
    for _ in range(TRIES):
        given = await ask(f"{said}\n\n{field.question}{problem}", options)
        if given is None or given == DECLINE:
            return _end_result(given)
        if given == SKIP and not field.required:
            return {}
        try:
            return {field.name: field.value(given)}
        except Unfit as why:
            problem = f"\n\n{plain_text(given, 100)!r} does not fit: {why}."
    return types.ElicitResult(action="cancel")
