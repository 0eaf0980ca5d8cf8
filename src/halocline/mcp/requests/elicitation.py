"""Elicitation: a server asks the person, one question per field, and gets only what they answer.

A server cannot ask for secrets this way, and its questions are shown as its words, not ours. Only valid answers are
sent, and a form with several fields is shown once more before it is sent.
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
from halocline.protocol.waiting import end_tasks

SKIP, DECLINE, SEND, DONE = "Skip", "Decline", "Send", "Done"
TRIES = 3
MOST_PAGES = 100


class Pages:
    """The pages of one connection, by id: the server may report one as completed, even before we ask."""

    def __init__(self) -> None:
        self._done: dict[str, asyncio.Event] = {}

    def done(self, page: str) -> None:
        self._of(page).set()

    @contextmanager
    def shown(self, page: str | None) -> Iterator[asyncio.Event]:
        """Yield an event that is set once the server reports the page as completed; never for a page without an id."""
        try:
            yield asyncio.Event() if page is None else self._of(page)
        finally:
            self._done.pop(page or "", None)

    def _of(self, page: str) -> asyncio.Event:
        while len(self._done) >= MOST_PAGES and page not in self._done:
            del self._done[next(iter(self._done))]
        return self._done.setdefault(page, asyncio.Event())


async def answer_elicitation(params: Any, server: str, ask: Ask, pages: Pages) -> types.ElicitResult:
    """Return the person's answer; canceled when no one can answer."""
    message = f"The MCP server {server} asks: {plain_text(params.message, 1_000)}"
    if getattr(params, "mode", "form") == "url":
        with pages.shown(params.elicitation_id) as done:
            return await open_page(message, str(params.url), ask, done)
    fields = fields_of(params.requested_schema)
    if fields is None:
        return types.ElicitResult(action="cancel")
    content: dict[str, Any] = {}
    for field in fields:
        given = await _ask_field(message, field, ask)
        if isinstance(given, types.ElicitResult):
            return given
        content |= given
    if len(fields) != 1:
        shown = "".join(f"\n- {name}: {value}" for name, value in content.items())
        sent = await ask(f"{message}\n\nYour answer to the server:{shown or ' only that you accept'}", (SEND, DECLINE))
        if sent != SEND:
            return _end_result(sent)
    return types.ElicitResult(action="accept", content=content)


async def open_page(message: str, url: str, ask: Ask, done: asyncio.Event) -> types.ElicitResult:
    """Show a page's address, with the host apart, for the person to open; we never open it.

    The question ends by itself when the server reports the page as `done`.
    """
    address, host = plain_text(url, 2_000), urlsplit(url).hostname
    if not url.startswith(("https://", "http://")) or not host or address != url:
        return types.ElicitResult(action="cancel")
    warned = "" if url.startswith("https://") else " The connection is not encrypted (not https)."
    warned += " Its name has non-ASCII letters and may imitate another." if "xn--" in host or not host.isascii() else ""
    request = f"It asks you to open this page at {host}:\n\n{address}\n\nOpen it only if you trust it.{warned}"
    asking = asyncio.ensure_future(ask(f"{message}\n\n{request}", (DONE, DECLINE)))
    ending = asyncio.ensure_future(done.wait())
    try:
        await asyncio.wait([asking, ending], return_when=asyncio.FIRST_COMPLETED)
        given = await asking if asking.done() else DONE
    finally:
        await end_tasks(asking, ending)
    return types.ElicitResult(action="accept") if given == DONE else _end_result(given)


def _end_result(given: str | None) -> types.ElicitResult:
    return types.ElicitResult(action="cancel" if given is None else "decline")


async def _ask_field(message: str, field: Field, ask: Ask) -> dict[str, Any] | types.ElicitResult:
    """Return the field with its value, {} when it is skipped, or the result that ends the form."""
    options = (*field.options, *(() if field.required else (SKIP,)), DECLINE)
    problem = ""
    for _ in range(TRIES):
        given = await ask(f"{message}\n\n{field.question}{problem}", options)
        if given is None or given == DECLINE:
            return _end_result(given)
        if given == SKIP and not field.required:
            return {}
        try:
            return {field.name: field.value(given)}
        except Unfit as why:
            problem = f"\n\n{plain_text(given, 100)!r} is not valid: {why}."
    return types.ElicitResult(action="cancel")
