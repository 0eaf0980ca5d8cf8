"""Events of a page during an action: its console, and dialogs and downloads, which are dismissed."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from playwright.async_api import Dialog, Download, Error, Page

MOST_LINES, MOST_LINE = 30, 300


class PageEvents:
    """Events since the last `clear`: `happened` in sentences, and the console's lines. `run_soon` starts tasks."""

    def __init__(self, run_soon: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._run_soon = run_soon
        self.clear()

    def clear(self) -> None:
        self.happened: list[str] = []
        self.console: list[str] = []
        self._left_out = 0

    def watch(self, page: Page) -> None:
        """Note the events of a page."""
        page.on("console", lambda message: self._note_console(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self._note_console(f"uncaught: {error}"))
        page.on("dialog", lambda dialog: self._run_soon(self._dismiss_dialog(dialog)))
        page.on("download", lambda download: self._run_soon(self._cancel_download(download)))
        page.on("crash", lambda _: self.happened.append("The page crashed. Launch it again."))

    @property
    def console_count(self) -> int:
        """The number of console lines, with those left out."""
        return len(self.console) + self._left_out

    def note_omissions(self) -> None:
        """Note how many console lines were left out."""
        if self._left_out:
            self.happened.append(f"{self._left_out} more console messages were omitted.")

    async def _dismiss_dialog(self, dialog: Dialog) -> None:
        self.happened.append(f"The page showed a dialog ({dialog.type}), which was dismissed.")
        self._note_console(f"dialog ({dialog.type}): {dialog.message}")
        with suppress(Error):
            await dialog.dismiss()

    async def _cancel_download(self, download: Download) -> None:
        self.happened.append("The page started a download, which was blocked.")
        self._note_console(f"download: {download.suggested_filename}")
        with suppress(Error):
            await download.cancel()

    def _note_console(self, line: str) -> None:
        if len(self.console) < MOST_LINES:
            self.console.append(line[:MOST_LINE])
        else:
            self._left_out += 1
