"""The agent that an ACP client sees: its abilities, and its sessions."""

import asyncio
import os
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, schema
from acp.interfaces import Client as Editor
from msgspec.structs import replace

from halocline._version import __version__
from halocline.client.editor import EditorParts
from halocline.client.history import Fork
from halocline.client.mcp import Server
from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError, TaskNotFound
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.surfaces.acp.failures import explain_failure, refuse_params
from halocline.surfaces.acp.files import OpenFiles, read_abilities
from halocline.surfaces.acp.options import Options
from halocline.surfaces.acp.prompts import Block
from halocline.surfaces.acp.servers import McpServer, read_servers
from halocline.surfaces.acp.session import Session

LOGIN = "halo-login"
PAGE = 50
"""Sessions in one page of a list."""


class HaloAgent:
    """Serves one connection. `opening` are the options of new tasks. Its methods are those of `acp.Agent`."""

    def __init__(self, client: Client, opening: TaskOptions) -> None:
        self._client = client
        self._opening = replace(opening, attended=True)
        self._sessions: dict[str, Session] = {}
        self._opening_of: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._editor: Editor
        self._abilities = schema.ClientCapabilities()

    def on_connect(self, conn: Editor) -> None:
        self._editor = conn

    async def close(self) -> None:
        """End all sessions. What waits for an answer is asked again when its task is opened again."""
        sessions = [*self._sessions.values()]
        self._sessions.clear()
        await asyncio.gather(*(session.close(leave_questions=True) for session in sessions))

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **meta: Any,
    ) -> schema.InitializeResponse:
        self._abilities = read_abilities(client_capabilities)
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION) or PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True, audio=False),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
            auth_methods=[self._describe_login()],
            agent_info=schema.Implementation(name="halocline", title="Halocline", version=__version__),
        )

    def _describe_login(self) -> schema.TerminalAuthMethod | schema.AuthMethodAgent:
        """Describe how to sign in: in a terminal of the editor if it has one for that."""
        name, text = "Sign in with a key", "Run `halo login` in a terminal, or set a provider's variable."
        if self._abilities.auth and self._abilities.auth.terminal:
            return schema.TerminalAuthMethod(id=LOGIN, name=name, description=text, args=["login"], type="terminal")
        return schema.AuthMethodAgent(id=LOGIN, name=name, description=text)

    async def authenticate(self, method_id: str, **meta: Any) -> schema.AuthenticateResponse:
        """Check that there is a model to use: signing in itself happens in a terminal.

        Some editors ask before every session, also where no key is needed.
        """
        if method_id != LOGIN:
            raise refuse_params(f"There is no way to sign in named {method_id!r}.")
        if not await self._client.models.can_start(self._opening.model or ""):
            raise RequestError.auth_required({"details": "No key was found. Run `halo login` in a terminal."})
        return schema.AuthenticateResponse()

    # Sessions.

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **meta: Any,
    ) -> schema.NewSessionResponse:
        workspace = find_folder(cwd)
        roots = tuple(str(find_folder(root)) for root in additional_directories or ())
        given = read_servers(mcp_servers or ())
        try:
            files = OpenFiles(self._editor, self._abilities)
            parts = EditorParts(given, files)
            opening = replace(self._opening, roots=roots, editor=parts)
            files.session = task = await self._client.start(workspace, opening)
        except HaloclineError as error:
            if not await self._client.models.can_start(self._opening.model or ""):
                raise RequestError.auth_required({"details": f"{error} Run `halo login` in a terminal."}) from error
            raise explain_failure(error) from error
        session = self._add(task, parts)
        options = await session.options.list(session.task)
        session.announce()
        return schema.NewSessionResponse(
            session_id=task, modes=session.options.list_modes(session.task), config_options=options
        )

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpServer] | None = None,
        additional_directories: list[str] | None = None,
        **meta: Any,
    ) -> schema.LoadSessionResponse:
        """Open a past session and send its whole conversation again, before the answer."""
        modes, options = await self._open(cwd, session_id, additional_directories, mcp_servers, replays=True)
        return schema.LoadSessionResponse(modes=modes, config_options=options)

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **meta: Any,
    ) -> schema.ResumeSessionResponse:
        """Open a past session whose conversation the client still has."""
        modes, options = await self._open(cwd, session_id, additional_directories, mcp_servers)
        return schema.ResumeSessionResponse(modes=modes, config_options=options)

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpServer] | None = None,
        **meta: Any,
    ) -> schema.ForkSessionResponse:
        """Copy a session up to its newest event, and open the copy. A request that is refused leaves no copy."""
        try:
            source = self._client.find(session_id)
            self._read_opening(cwd, source, additional_directories, mcp_servers)
            fork = await self._client.time.fork(Fork("", source))
        except HaloclineError as error:
            raise explain_failure(error) from error
        try:
            modes, options = await self._open(cwd, fork, additional_directories, mcp_servers)
        except RequestError:
            await self._drop_fork(fork)
            raise
        return schema.ForkSessionResponse(session_id=fork, modes=modes, config_options=options)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **meta: Any
    ) -> schema.ListSessionsResponse:
        """List tasks, newest first. A cursor is the number of those before the page."""
        if cursor and not (cursor.isdecimal() and len(cursor) < 10):
            raise refuse_params(f"{cursor!r} is not a cursor of this list. Ask for its first page, without a cursor.")
        before = int(cursor or 0)
        workspace = str(find_folder(cwd)) if cwd else ""
        found = self._client.tasks.search(TaskQuery(workspace=workspace, limit=before + PAGE + 1))[before:]
        following = str(before + PAGE) if len(found) > PAGE else None
        return schema.ListSessionsResponse(sessions=[describe_task(one) for one in found[:PAGE]], next_cursor=following)

    async def close_session(self, session_id: str, **meta: Any) -> schema.CloseSessionResponse:
        session = self._find(session_id)
        del self._sessions[session_id]
        await session.close()
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **meta: Any) -> schema.SetSessionModeResponse:
        session = self._find_task(session_id)
        try:
            await session.options.set_mode(session.task, mode_id)
        except HaloclineError as error:
            raise explain_failure(error) from error
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **meta: Any
    ) -> schema.SetSessionConfigOptionResponse:
        session = self._find_task(session_id)
        try:
            await session.options.set(session.task, config_id, value)
        except HaloclineError as error:
            raise explain_failure(error) from error
        return schema.SetSessionConfigOptionResponse(config_options=await session.options.list(session.task))

    async def prompt(self, session_id: str, prompt: list[Block], **meta: Any) -> schema.PromptResponse:
        session = self._find_task(session_id)
        try:
            return await session.prompt(prompt)
        except HaloclineError as error:
            raise explain_failure(error) from error

    async def cancel(self, session_id: str, **meta: Any) -> None:
        if session := self._sessions.get(session_id):
            session.cancel()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore notifications of extensions that we do not know, as the protocol asks."""

    async def _open(
        self, cwd: str, task: str, roots: list[str] | None, servers: list[McpServer] | None, *, replays: bool = False
    ) -> tuple[schema.SessionModeState, Options]:
        """Open a task as a session, one request after the other, and return its options. Raises RequestError."""
        async with self._opening_of[task]:
            try:
                session = await self._open_task(cwd, task, roots, servers, replays=replays)
                await session.shown()
                options = await session.options.list(session.task)
                session.announce()
                return session.options.list_modes(session.task), options
            except HaloclineError as error:
                raise explain_failure(error) from error

    async def _open_task(
        self, cwd: str, task: str, roots: list[str] | None, servers: list[McpServer] | None, *, replays: bool
    ) -> Session:
        """Open a task, or join the process that has it open. Raises RequestError, TaskNotFound and UsageError.

        A session that has it is closed, unless the request is refused.
        """
        folders, given = self._read_opening(cwd, task, roots, servers)
        parts = EditorParts(given, OpenFiles(self._editor, self._abilities, task))
        opening = TaskOptions(attended=True, asks_again=True, roots=folders, editor=parts)
        for open_session in [each for each in self._sessions.values() if task in (each.name, each.task)]:
            del self._sessions[open_session.name]
            await open_session.close(keep_empty=True)
        if self._client.tasks.writer(task):
            await self._client.join(task, opening)
        else:
            await self._client.resume(task, opening)
        return self._add(task, parts, replays=replays)

    def _read_opening(
        self, cwd: str, task: str, roots: list[str] | None, servers: list[McpServer] | None
    ) -> tuple[tuple[str, ...], tuple[Server, ...]]:
        """Check a request to open a task or a copy of it, and return its folders and servers.

        Raises RequestError, TaskNotFound and UsageError.
        """
        workspace = find_folder(cwd)
        self._client.work_in(workspace)
        info = self._client.tasks.info(task)
        if info is None:
            raise TaskNotFound(f"There is no session {task}.", "List the sessions to find it.")
        if os.path.realpath(info.workspace) != str(workspace):
            raise refuse_params(f"Session {task} works in {info.workspace}, not in {cwd}.")
        folders = tuple(str(find_folder(root)) for root in roots or ())
        self._client.with_code(workspace, folders, [root for root in info.roots if os.path.isdir(root)])  # none overlap
        return folders, read_servers(servers or ())

    async def _drop_fork(self, fork: str) -> None:
        """Delete a copy that could not be opened."""
        if session := self._sessions.pop(fork, None):
            await session.close()
        with suppress(HaloclineError):
            self._client.tasks.forget(fork)

    def _add(self, task: str, parts: EditorParts, *, replays: bool = False) -> Session:
        opening = replace(self._opening, editor=parts)
        session = self._sessions[task] = Session(self._client, self._editor, task, opening, replays=replays)
        return session

    def _find(self, name: str) -> Session:
        if name not in self._sessions:
            raise refuse_params(f"Session {name!r} is not open. Load it, or begin a new one.")
        return self._sessions[name]

    def _find_task(self, name: str) -> Session:
        """Return a session whose task is open. Raises RequestError."""
        session = self._find(name)
        session.require_task()
        return session


def find_folder(path: str) -> Path:
    """Return a folder that a client names. Raises RequestError unless it is absolute and exists."""
    if not path.startswith("/") or "\0" in path:
        raise refuse_params(f"{path!r} is not an absolute path.")
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise refuse_params(f"{path} is not a folder.")
    return folder


def describe_task(info: TaskInfo) -> schema.SessionInfo:
    """Return a task as a session."""
    return schema.SessionInfo(
        session_id=info.task,
        cwd=info.workspace,
        additional_directories=list(info.roots) or None,
        title=info.name or info.title or None,
        updated_at=datetime.fromtimestamp(info.changed_at, UTC).isoformat(),
    )
