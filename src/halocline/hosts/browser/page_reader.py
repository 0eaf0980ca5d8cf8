"""Reads a page in an isolated world, which the page's scripts cannot reach."""

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession, Error

ANSWER = 4.0
MOST_ITEMS, MOST_TEXT = 40, 8_000
LOOK = """(() => {
  const wanted = 'a[href],button,input:not([type=hidden]),select,textarea,summary,label,[role=button],[role=link],'
    + '[role=tab],[role=checkbox],[role=menuitem],[role=option],[contenteditable=""],[contenteditable=true],[onclick]';
  const items = [];
  for (const e of document.querySelectorAll(wanted)) {
    if (items.length > MOST_ITEMS) break;
    const box = e.getBoundingClientRect();
    const x = Math.round(box.x + box.width / 2), y = Math.round(box.y + box.height / 2);
    if (box.width < 2 || box.height < 2 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    const hit = document.elementFromPoint(x, y);
    if (!hit || !(e.contains(hit) || hit.contains(e))) continue;
    const kind = e.getAttribute('role') || (e.tagName === 'INPUT' ? 'input ' + e.type : e.tagName.toLowerCase());
    const shown = e.type === 'password' ? '' : e.value;
    const name = e.getAttribute('aria-label') || e.innerText || shown || e.placeholder || e.name || e.title || '';
    items.push([x, y, kind, String(name).trim().slice(0, 80)]);
  }
  const all = document.documentElement;
  return {title: document.title, items, text: document.body ? document.body.innerText.slice(0, MOST_TEXT) : '',
          above: Math.round(scrollY), below: Math.round(Math.max(0, all.scrollHeight - innerHeight - scrollY))};
})()""".replace("MOST_ITEMS", str(MOST_ITEMS)).replace("MOST_TEXT", str(MOST_TEXT))
SIZE = "document.documentElement ? document.documentElement.outerHTML.length : 0"


class PageReader:
    """The reader of one page, through its debugging session."""

    def __init__(self, cdp: CDPSession, frame: str) -> None:
        self._cdp = cdp
        self._frame = frame

    async def look(self) -> dict[str, Any]:
        """Return the title, the items that can be clicked, the text and the scroll position; empty if it is stuck."""
        found = await self.evaluate(LOOK)
        return found if isinstance(found, dict) else {}

    async def size(self) -> object:
        """Return the length of the document."""
        return await self.evaluate(SIZE)

    async def evaluate(self, expression: str) -> object:
        """Evaluate an expression; None when there is no value in time."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER):
                world = await self._cdp.send("Page.createIsolatedWorld", {"frameId": self._frame})
                asked = {"contextId": world["executionContextId"], "expression": expression, "returnByValue": True}
                given = await self._cdp.send("Runtime.evaluate", asked)
                return given["result"].get("value")
        return None
