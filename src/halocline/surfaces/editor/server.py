"""Serves one extension: the pages it shows, the diffs of edits, what is open in the editor, and the status bar."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.routing import Route

from halocline._version import __version__
from halocline.client.editor import CheckedFiles, EditorParts, FileChangedOutside, Problem, TerminalCommand
from halocline.client.options import Choices
from halocline.client.prompts import CODE_ACTIONS, make_code_action
from halocline.client.tasks import open_client
from halocline.protocol import commands as cmd
from halocline.protocol.commands import EditorState
from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject, Value
from halocline.protocol.waiting import end_tasks, wait_at_most
from halocline.surfaces.editor.edit_diffs import EditDecision, EditDiffs, When
from halocline.surfaces.editor.editor_models import Offered, VsCodeModels
from halocline.surfaces.editor.page_files import read_page, write_page
from halocline.surfaces.editor.page_relay import Fetch, OfPage, PageRelay
from halocline.surfaces.editor.peer import EditorError, Handler, Peer
from halocline.surfaces.editor.review_threads import ReviewThreads, ThreadReply
from halocline.surfaces.editor.status import send_status
from halocline.surfaces.editor_requests import FileRequests
from halocline.surfaces.json_lines import LONGEST_LINE, LineTransport
from halocline.surfaces.stdio import open_stdio
from halocline.surfaces.web import wire
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder
from halocline.surfaces.web.static_files import serve_diagram
from halocline.surfaces.web.uploads import Uploads

MOST_PROBLEMS = 200
"""Largest number of errors that are taken from one answer."""


class EditorProblems:
    """Implements `ports.editor.ProblemSource` by asking the extension."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._requests = FileRequests(EditorError)

    async def check(self, paths: Sequence[Path], wait: float) -> CheckedFiles:
        if not paths:
            return CheckedFiles()
        given = {"paths": [*map(str, paths)], "wait": wait}
        answer = await self._requests.ask(self._peer.request("problems/check", given), str(paths[0]), wait)
        try:
            found = msgspec.convert(answer, CheckedFiles | None, dec_hook=lambda kind, value: kind(value))
        except msgspec.ValidationError:
            found = None
        asked = [path for path in found.paths if path in paths] if found else []
        problems = [one for one in found.problems if one.path in asked] if found else []
        return CheckedFiles(tuple(asked), tuple(problems[:MOST_PROBLEMS]))

    async def shown(self) -> tuple[Problem, ...] | None:
        answer = await self._requests.ask(self._peer.request("problems/shown", {}), "problems")
        try:
            found = msgspec.convert(answer, tuple[Problem, ...] | None, dec_hook=lambda kind, value: kind(value))
        except msgspec.ValidationError:
            return None
        return found if found is None else found[:MOST_PROBLEMS]


class CodeActionRequest(Value, frozen=True):
    """A part of a file, with its text as the editor has it and what the editor says about it. Lines count from 1.

    If it is a `cell` of a notebook, text and lines are those of the file, which is JSON.
    """

    name: str
    folder: str
    path: str
    first: int
    last: int
    text: str
    problems: tuple[str, ...] = ()
    cell: int | None = None


async def run_code_action(tasks: OpenTasks, given: CodeActionRequest) -> str:
    """Start a task for the action and return its id. Raises UsageError and what `Client.start` does."""
    if given.name not in CODE_ACTIONS:
        raise UsageError(f"There is no action {given.name!r}.", "Update the extension or Halocline.")
    content = make_code_action(
        given.name, given.path, given.first, given.last, given.text, given.problems, cell=given.cell
    )
    task = await tasks.begin(wire.Begin("", given.folder, (), mode=CODE_ACTIONS[given.name].mode))
    await tasks.client.pass_on(cmd.SubmitPrompt(task=task, content=content, verbatim=True))
    return task


MOST = 8
"""Largest number of terminals that are taken from one answer."""


class EditorTerminals:
    """Implements `ports.editor.TerminalSource` by asking the extension."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._requests = FileRequests(EditorError)

    async def latest(self) -> Sequence[TerminalCommand]:
        answer = await self._requests.ask(self._peer.request("terminals/latest", {}), "terminals")
        try:
            return msgspec.convert(answer or [], tuple[TerminalCommand, ...])[:MOST]
        except msgspec.ValidationError:
            return ()


class OpenFiles:
    """Implements `ports.editor.Editor` by asking the extension."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._requests = FileRequests(EditorError)

    async def read(self, path: str) -> str | None:
        """Return the text of a file that is open with unsaved changes; None for others."""
        text = await self._requests.ask(self._peer.request("file/read", {"path": path}), path)
        return text if isinstance(text, str) else None

    async def write(self, path: str, text: str) -> bool:
        """Change and save a file that is open; False for others. Raises FileChangedOutside: typed since it was read."""
        request = self._peer.request("file/write", {"path": path, "text": text})
        answer = await self._requests.ask(request, path, wait=10.0)  # formatters run with a save
        if answer == "changed":
            raise FileChangedOutside(path)
        return answer is True


CLOSING_TIME = 5.0
"""Seconds for tasks to write their ends when the editor closes."""
T = TypeVar("T", bound=Value)


class EditorSettings(Value, frozen=True):
    """The user's settings of the extension that this side needs."""

    show_edits: When = "asked"


class Nothing(Value, frozen=True):
    """No parameters."""


class Folders(Value, frozen=True):
    """The folders of the editor's window, as absolute paths."""

    folders: tuple[str, ...]


class OfEdit(Value, frozen=True):
    """A waiting edit."""

    task: str
    request: str


async def serve_extension(folders: tuple[Path, ...]) -> None:
    """Serve an extension over stdin and stdout until it closes them, then close the tasks."""
    watchers: Counter[str] = Counter()
    client = open_client(Choices(), "editor", lambda: watchers.total() > 0)
    peer = Peer(LineTransport(*await open_stdio(LONGEST_LINE)))
    editor = EditorParts(editor=OpenFiles(peer), problems=EditorProblems(peer), terminals=EditorTerminals(peer))
    tasks = OpenTasks(client, folders, watchers=watchers, opens_waiting=True, editor=editor)
    server = EditorServer(peer, tasks)
    try:
        await peer.serve()
    finally:
        await server.close()
        await tasks.close()
        await wait_at_most(CLOSING_TIME, client.close(leave_questions=True))


class EditorServer:
    """The requests of the extension. Each method's name is on the wire; its parameters are one struct."""

    def __init__(self, peer: Peer, tasks: OpenTasks) -> None:
        self._tasks = tasks
        self._editor: EditorState | None = None
        tasks.client.attach_editor(lambda: self._editor)
        models = VsCodeModels(peer)
        tasks.client.attach_models(models)
        uploads = Uploads(tasks)
        site = Starlette(
            routes=[
                Route("/upload", uploads.upload, methods=["POST"]),
                Route("/blob/{name}", uploads.picture),
                Route("/export/{name}", uploads.export),
                Route("/diagram", serve_diagram),
            ]
        )
        self.diffs = EditDiffs(peer, tasks)
        self.relay = PageRelay(peer, tasks, site)
        self.reviews = ReviewThreads(peer, tasks)
        self._status = asyncio.create_task(send_status(peer, tasks), name="status bar")
        peer.handlers = {
            "initialize": _accept(Nothing, self._greet),
            "page/open": _accept(OfPage, self.relay.open_page),
            "page/message": _accept(OfPage, self.relay.take_message),
            "page/close": _accept(OfPage, self.relay.close_page),
            "page/fetch": _accept(Fetch, self.relay.fetch),
            "edit/decide": _accept(EditDecision, self.diffs.decide),
            "edit/show": _accept(OfEdit, self._show_edit),
            "action/run": _accept(CodeActionRequest, partial(run_code_action, tasks)),
            "review/reply": _accept(ThreadReply, self.reviews.reply),
            "editor/folders": _accept(Folders, self._set_folders),
            "editor/changed": _accept(EditorState, self._note_editor),
            "models/offered": _accept(Offered, models.take),
            "editor/settings": _accept(EditorSettings, self._take_settings),
        }

    async def close(self) -> None:
        await end_tasks(self._status)
        await self.diffs.close()
        await self.reviews.close()
        await self.relay.close()

    async def _greet(self, _: Nothing) -> JsonObject:
        """Return the version, and where the page is."""
        folder = await asyncio.to_thread(write_page, self._tasks.client.home.page_cache)
        return {"version": __version__, "folder": str(folder), "page": await asyncio.to_thread(read_page)}

    async def _show_edit(self, given: OfEdit) -> JsonObject:
        return {"shown": await self.diffs.show_again(given.task, given.request)}

    async def _set_folders(self, given: Folders) -> None:
        """Take other folders for new tasks, the first of them by default."""
        self._tasks.workspaces = tuple(map(find_folder, given.folders)) or self._tasks.workspaces

    async def _take_settings(self, given: EditorSettings) -> None:
        self.diffs.when = given.show_edits

    async def _note_editor(self, given: EditorState) -> None:
        """Keep what is open in the editor: the next prompt tells the model."""
        self._editor = given


def _accept(kind: type[T], handle: Callable[[T], Awaitable[Any]]) -> Handler:
    """Return a handler of JSON parameters. It raises ValidationError for those that do not fit."""

    async def answer(params: JsonObject) -> Any:
        return await handle(msgspec.convert(params, kind))

    return answer
