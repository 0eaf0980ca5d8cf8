"""One running language server: started and initialized in the background, sent texts, asked for their diagnostics.

What must stay true: diagnostics count only for the version of the text they were computed for; and when the server is
gone, everything that waits for it stops waiting at once.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from halocline.hosts.language_servers import messages
from halocline.hosts.language_servers.connection import Connection, RequestFailed, ServerGone
from halocline.hosts.language_servers.diagnostics import select_errors
from halocline.hosts.language_servers.document import Document
from halocline.hosts.language_servers.finding import Found
from halocline.hosts.shell.processes import Process, Processes
from halocline.hosts.shell.subprocesses import start_on_pipes
from halocline.protocol import json_input
from halocline.protocol.child_environment import ChildEnvironment
from halocline.protocol.values import JsonObject
from halocline.protocol.waiting import end_tasks

START_LIMIT = 60.0
"""Seconds for a server to start, and again to read the project."""
MOST_DOCUMENTS = 50
_LOAD_BEGINS = 0.2
"""Seconds in which a server that first reads the whole project must say so."""
_MOST_PROGRESS = 100
_RETRY = 0.1
_SERVER_CANCELLED, _CONTENT_MODIFIED = -32802, -32801
_NEXT_TRY = (_SERVER_CANCELLED, _CONTENT_MODIFIED)


class Server:
    """A server's process. `ready` is set once it has read the project, `gone` once it has ended."""

    def __init__(self, found: Found, processes: Processes, environment: ChildEnvironment) -> None:
        self.found = found
        self.documents: dict[Path, Document] = {}
        self.has_answered = False
        self.ready = asyncio.Event()
        self.gone = asyncio.Event()
        self.turn = asyncio.Lock()
        self._processes = processes
        self._environment = environment
        self._connection = Connection(self._take_notification, self._answer_request)
        self._pulls = False
        self._process: Process | None = None
        self._ends_with_keeper = False
        self._loading: set[int | str] = set()
        self._quiet = asyncio.Event()
        self._life = asyncio.create_task(self._live(), name=f"language server {found.row.name}")

    @property
    def is_warm(self) -> bool:
        """True if it makes sense to wait for its answer."""
        return self.ready.is_set() and self.has_answered and not self.gone.is_set()

    async def close(self) -> None:
        """Close its pipes; its process ends with its input, or else with the keeper."""
        self._ends_with_keeper = True
        await self.give_up()

    async def give_up(self) -> None:
        """Kill it at once: its state is unknown."""
        await end_tasks(self._life)

    async def when_ready(self) -> None:
        """Wait until it has read the project. Raises ServerGone."""
        await self._unless_gone(self.ready.wait())

    def open(self, path: Path, text: str) -> Document:
        """Send the server this text of a file. Raises ServerGone."""
        document = self.documents.pop(path, None)
        if document is None:
            document = Document(path, text, self.found.row.silence)
            self.documents[path] = document
            self._forget_the_oldest()
            language = self.found.row.languages[path.suffix.lower()]
            item = {"uri": document.uri, "languageId": language, "version": document.version, "text": text}
            self._connection.notify("textDocument/didOpen", {"textDocument": item})
            return document
        self.documents[path] = document
        if document.text != text:
            document.change(text)
            item = {"uri": document.uri, "version": document.version}
            self._connection.notify(
                "textDocument/didChange", {"textDocument": item, "contentChanges": [{"text": text}]}
            )
        return document

    def saved(self, path: Path, kind: int) -> None:
        """Report that a file on disk was created (1), changed (2) or deleted (3). Raises ServerGone."""
        if document := self.documents.get(path):
            item = {"textDocument": {"uri": document.uri}, "text": document.text}
            self._connection.notify("textDocument/didSave", item)
        self._connection.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind}]})

    def shut(self, path: Path) -> None:
        """Close a file in the server. Raises ServerGone."""
        if document := self.documents.pop(path, None):
            self._connection.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def doubt(self, document: Document) -> None:
        """Ask for a document's diagnostics again, since other files changed; a server that pushes does so by itself."""
        if self._pulls:
            document.doubt()

    async def answer(self, document: Document) -> None:
        """Wait for the diagnostics of the document's current text. Raises ServerGone."""
        if self._pulls:
            await self._pull(document)
        else:
            await self._unless_gone(document.settled())
        self.has_answered = True

    async def _pull(self, document: Document) -> None:
        while not document.is_answered:
            version = document.version
            try:
                report = await self._connection.request(
                    "textDocument/diagnostic", {"textDocument": {"uri": document.uri}}
                )
                said = json_input.decode(report, type=messages.Report)
            except RequestFailed as failure:
                if failure.code not in _NEXT_TRY:
                    raise ServerGone from None
                await asyncio.sleep(_RETRY)
                continue
            except msgspec.ValidationError:
                raise ServerGone from None
            document.hear(
                version, select_errors(document.path, document.lines, said.items, self.found.row.name), final=True
            )

    async def _unless_gone(self, waiting: Awaitable[object]) -> None:
        task, gone = asyncio.ensure_future(waiting), asyncio.create_task(self.gone.wait())
        try:
            await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ServerGone
        finally:
            await end_tasks(task, gone)

    def _forget_the_oldest(self) -> None:
        while len(self.documents) > MOST_DOCUMENTS:
            self.shut(next(iter(self.documents)))

    async def _live(self) -> None:
        hearing: asyncio.Task[None] | None = None
        try:
            await self._start()
            hearing = asyncio.create_task(self._connection.listen())
            async with asyncio.timeout(START_LIMIT):
                await self._introduce()
            await self._wait_until_loaded()
            self.ready.set()
            await hearing
        except (OSError, ValueError, ServerGone, RequestFailed, TimeoutError, msgspec.MsgspecError):
            return
        finally:
            self.gone.set()
            if hearing is not None:
                self._connection.close()
            if self._process is not None and not self._ends_with_keeper and not self._process.exited.done():
                self._process.send_signal(signal.SIGKILL)
            await end_tasks(hearing)

    async def _start(self) -> None:
        """Start the process. Raises OSError."""
        await self._processes.ready()
        words = (self.found.program, *self.found.row.command[1:])
        # In `/`: an interpreter that looks for modules in its working folder must not find the project's.
        self._process, (writing, reading) = await start_on_pipes(
            self._processes, words, self._environment, "/", errors=False
        )
        await self._connection.open(reading, writing)

    async def _introduce(self) -> None:
        root = self.found.root.as_uri()
        answer = await self._connection.request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": "Halocline"},
                "rootUri": root,
                "rootPath": str(self.found.root),
                "workspaceFolders": [{"uri": root, "name": self.found.root.name}],
                "capabilities": messages.CAPABILITIES,
                "initializationOptions": self.found.options,
            },
        )
        provider = json_input.decode(answer, type=messages.Initialized).capabilities.diagnosticProvider
        self._pulls = provider not in (None, False)
        self._connection.notify("initialized", {})
        self._connection.notify("workspace/didChangeConfiguration", {"settings": self.found.settings})

    async def _wait_until_loaded(self) -> None:
        """Wait for the progress that servers report: many give wrong answers before they have read the project."""
        await asyncio.sleep(_LOAD_BEGINS)
        with suppress(TimeoutError):
            async with asyncio.timeout(START_LIMIT):
                while self._loading:
                    self._quiet.clear()
                    await self._unless_gone(self._quiet.wait())

    def _take_notification(self, method: str, params: msgspec.Raw) -> None:
        take: Callable[[msgspec.Raw], None] | None = {
            "textDocument/publishDiagnostics": self._take_diagnostics,
            "$/progress": self._take_progress,
        }.get(method)
        if take is not None:
            with suppress(msgspec.ValidationError):
                take(params)

    def _take_diagnostics(self, params: msgspec.Raw) -> None:
        if self._pulls:
            return
        said = json_input.decode(params, type=messages.Published)
        document = next((one for one in self.documents.values() if one.is_at(said.uri)), None)
        if document is not None:
            found = select_errors(document.path, document.lines, said.diagnostics, self.found.row.name)
            document.hear(said.version, found)

    def _take_progress(self, params: msgspec.Raw) -> None:
        said = json_input.decode(params, type=messages.Progress)
        if said.value.kind == "begin" and len(self._loading) < _MOST_PROGRESS:
            self._loading.add(said.token)
        elif said.value.kind == "end":
            self._loading.discard(said.token)
        self._quiet.set()

    def _answer_request(self, method: str, params: msgspec.Raw) -> Any:
        """Answer a server's request. Raises NotImplementedError."""
        match method:
            case "workspace/configuration":
                items = json_input.decode(params, type=messages.Configuration).items
                return [_find_section(self.found.settings, item.section) for item in items]
            case "workspace/workspaceFolders":
                return [{"uri": self.found.root.as_uri(), "name": self.found.root.name}]
            case "window/workDoneProgress/create" | "client/registerCapability" | "client/unregisterCapability":
                return None
            case "workspace/diagnostic/refresh" | "window/showMessageRequest":
                return None
            case "workspace/applyEdit":
                return {"applied": False}
        raise NotImplementedError


def _find_section(settings: JsonObject, name: str) -> Any:
    for key in filter(None, name.split(".")):
        settings = settings.get(key) if isinstance(settings, dict) else None  # type: ignore
    return settings
