"""The process that runs Playwright and, below it, Chromium: `python -m halocline.hosts.browser.worker`.

It is separate because Playwright passes on its whole environment: this process is started without a key in it. It
exchanges JSON lines over the descriptor that the keeper gives it and ends when that closes. Then it removes its folder,
which contains everything that Chromium writes.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import tempfile
from contextlib import suppress
from typing import Any

from playwright.async_api import Browser, BrowserType, Error, ProxySettings, async_playwright

from halocline.hosts.browser.certificates import NotTrusted, trust_certificates
from halocline.hosts.browser.discovery import QUIET
from halocline.hosts.browser.page import BrowsedPage, Failed
from halocline.hosts.keeper import STATE_FD

LONGEST_LINE = 1 << 26
LONGEST_PLACE = 30
"""Longest path of the temporary folder: paths of sockets below our folder must stay under 104 characters."""
START = 20_000
FLAGS = (
    *QUIET,
    # Everything goes through our proxy, which judges it: no other name lookups, and no WebRTC beside it.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


NO_REMOTE = (
    "Nothing answers at {remote}, the address in the setting browser_remote. The user can start Chromium there with "
    "--remote-debugging-port and its own --user-data-dir, or clear the setting so that Halocline starts one."
)


class Worker:
    """The worker's end of the connection; `hosts.browser.browser` has the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._asked: dict[int, asyncio.Future[str]] = {}
        self._count = 0
        self._page: BrowsedPage | None = None
        self._browser: Any = None
        self._work: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Serve until the connection closes."""
        while line := await self._reader.readline():
            message = json.loads(line)
            if "verdict" in message:
                self._asked.pop(message["ask"]).set_result(message["verdict"])
            else:
                task = asyncio.create_task(self._answer(message))
                self._work.add(task)
                task.add_done_callback(self._work.discard)

    async def close(self) -> None:
        """Close Chromium, or disconnect from a remote one."""
        for task in self._work:
            task.cancel()
        if self._browser is not None:
            with suppress(Exception):
                async with asyncio.timeout(2):
                    await self._browser.close()

    async def _answer(self, message: dict[str, Any]) -> None:
        try:
            done = await (self._open(**message["open"]) if "open" in message else self._do(message))
            self._send({"done": done})
        except Failed as failure:
            self._send({"failed": str(failure)})
        except Exception as error:
            self._send({"broken": _first_lines(str(error)) or type(error).__name__})

    async def _do(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._page is not None
        self._page.require_origin(message["origin"])
        return await self._page.do(message["deed"], message["url"], tuple(message["point"]), message["text"])

    async def _open(
        self, executable: str, remote: str, proxy: ProxySettings, viewport: list[int], ca_files: list[str]
    ) -> dict[str, Any]:
        if ca_files and not remote:
            try:
                trust_certificates(ca_files)
            except NotTrusted as error:
                raise Failed(str(error)) from error
        playwright = await async_playwright().start()
        chromium = playwright.chromium
        if remote:
            browser = await self._connect_remote(chromium, remote)
        else:
            browser = await chromium.launch(
                executable_path=executable,
                args=list(FLAGS),
                chromium_sandbox=os.geteuid() != 0,
                proxy=proxy,
                timeout=START,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        self._browser = browser
        proxy["bypass"] = "<-loopback>"
        context = await browser.new_context(
            viewport={"width": viewport[0], "height": viewport[1]},
            accept_downloads=False,
            service_workers="block",
            proxy=proxy if remote else None,
        )
        page = BrowsedPage(context, self._judge)
        await page.open()
        self._page = page
        browser.on("disconnected", lambda _: self._writer.close())
        return {}

    async def _connect_remote(self, chromium: BrowserType, remote: str) -> Browser:
        """Connect to a running browser. Raises Failed when none listens there."""
        try:
            return await chromium.connect_over_cdp(remote, timeout=START)
        except Error as error:
            if "ECONNREFUSED" not in str(error):
                raise
            raise Failed(NO_REMOTE.format(remote=remote.partition("//")[2])) from error

    async def _judge(self, url: str) -> str:
        self._count += 1
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked[self._count] = future
        self._send({"ask": self._count, "url": url})
        return await future

    def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")


def _first_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines()[:12] if line.strip())[:1500]


async def _serve_requests() -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=STATE_FD), limit=LONGEST_LINE)
    worker = Worker(reader, writer)
    try:
        with suppress(OSError):
            await worker.serve()
    finally:
        await worker.close()


def _remove_folder(folder: str) -> None:
    """Remove the folder; retries, as Chromium may still write while it ends."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return


def main() -> None:
    # The folder must be removed first, once the connection closes. A handler, because children inherit ignored signals.
    signal.signal(signal.SIGTERM, lambda *_: None)
    usual = tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="halocline-browser-", dir=usual if len(usual) <= LONGEST_PLACE else "/tmp")
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = folder
    try:
        asyncio.run(_serve_requests())
    finally:
        _remove_folder(folder)
    os._exit(0)


if __name__ == "__main__":
    main()
