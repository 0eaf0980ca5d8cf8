"""One MCP server in detail, for a page that shows and edits it: its offer, what is allowed, its configuration.

What must stay true: showing or editing starts no server; values of variables and headers can be set but never read
back; redacted values are never written back.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from halocline.mcp.connection.supervisor import Standing, Supervisor
from halocline.mcp.hub import definitions_size
from halocline.policy.mcp import ALL
from halocline.ports.mcp import Caller
from halocline.ports.mcp_servers import Server, ServerEntry, ServerOwner
from halocline.protocol.errors import SettingsError, ToolFailure, UsageError
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.kinds import Mode
from halocline.protocol.mcp_entries import OWN
from halocline.protocol.mcp_formats import KEY
from halocline.protocol.messages import ResultPart
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.mcp import FolderServers
from halocline.services.policy.rules import PolicyService
from halocline.store.mcp import servers as mcp_files
from halocline.store.secrets.store import SecretStore
from halocline.tools.mcp_arguments import fit_arguments

OURS = (ServerOwner.USER, ServerOwner.PROJECT)
PARTS = ("env", "headers")
"""Tables of a server whose values are changed one by one."""
OTHER_NAMES = {"autoApprove": ("alwaysAllow",), "url": ("serverUrl", "httpUrl"), "type": ("transportType",)}
REPLACED = {
    "command": ("url", "serverUrl", "httpUrl", "headers", "type"),
    "url": ("command", "args", "env", "cwd", "type"),
}
"""Fields to remove when a server changes between program and URL."""


class ToolDetail(Value, frozen=True, omit_defaults=False):
    """One tool. `decision` is allow, ask or deny, and empty if it is not offered; `changed` is as in `McpTool`."""

    tool: str
    description: str
    schema: JsonObject
    read_only: bool
    tokens: int
    decision: str
    changed: str


class ToolResponse(Value, frozen=True, omit_defaults=False):
    """Result of a call. If `asks` is set, nothing was run: it says why a person has to approve first."""

    ok: bool = False
    asks: str = ""
    content: tuple[ResultPart, ...] = ()
    error: str = ""
    seconds: float = 0.0


class Config(Value, frozen=True, omit_defaults=False, rename="camel"):
    """A server's configuration. Variables and headers by name only; what looks like a key is redacted."""

    type: str
    command: str
    args: tuple[str, ...]
    cwd: str
    env: tuple[str, ...]
    url: str
    headers: tuple[str, ...]
    timeout: float
    auto_approve: tuple[str, ...]
    auto_approve_read_only: bool
    disabled_tools: tuple[str, ...]


class ServerDetail(Value, frozen=True, omit_defaults=False):
    """One server. Its offer (`tools`, `prompts`, `resources`) is from its last run. A program's `signed_in` is None."""

    name: str
    tools: tuple[ToolDetail, ...]
    prompts: tuple[str, ...]
    resources: bool
    config: Config
    can_change: bool
    signed_in: bool | None


class ServerService:
    """Shows and edits single servers of one folder."""

    def __init__(self, folder: FolderServers, policy: PolicyService) -> None:
        self._folder = folder
        self._policy = policy

    @classmethod
    def open(cls, workspace: Path) -> "ServerService":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        assembly = Assembly.of(Choices()).in_folder(workspace)
        return cls(assembly.mcp_of(workspace), PolicyService(assembly))

    def detail(self, name: str) -> ServerDetail:
        """Return the details of a server. Raises UsageError."""
        server, setup = self._find_server(name), self._folder.setup()
        offer = Supervisor(server, setup).offer
        decided = self._decisions(name)
        tools = offer.tools if offer else ()
        return ServerDetail(
            name,
            tuple(_describe_tool(tool, decided.get(tool.tool, ""), setup.pins.changed(tool)) for tool in tools),
            tuple(prompt.command for prompt in offer.prompts) if offer else (),
            bool(offer and offer.resources),
            _read_config(server.entry),
            _is_editable(server),
            self._signed_in(name) if server.entry.url else None,
        )

    def change(self, name: str, changes: JsonObject) -> Path:
        """Change fields of a server in its file; None removes one. Raises UsageError and SettingsError."""
        server = self._find_server(name)
        if not _is_editable(server):
            raise UsageError(
                f"The server {name} is configured in {server.file}, which you cannot edit here.", "Edit that file."
            )
        if b"[redacted " in msgspec.json.encode(changes):
            raise UsageError("Part of this value is redacted, so it cannot be saved.", "Type the whole value again.")
        after = apply_changes(_write_server(server), changes)
        mcp_files.check_server(after)
        mcp_files.write_server(server.file, name, after)
        return server.file

    def allow(self, name: str, tool: str, way: str) -> Path:
        """Always `allow` a tool, `deny` it, or (empty) leave it to the policy. Raises UsageError and SettingsError."""
        server = self._find_server(name)
        approved, off = list(server.entry.auto_approve), set(server.entry.disabled_tools) - {tool}
        if ALL in approved and way != "allow":
            offer = Supervisor(server, self._folder.setup()).offer
            approved = [one.tool for one in offer.tools] if offer else []
        approved = [one for one in approved if one != tool] + [tool] * (way == "allow" and ALL not in approved)
        fields = {"autoApprove": approved, "disabledTools": sorted(off | {tool} if way == "deny" else off)}
        return self.change(name, {field: value or None for field, value in fields.items()})

    async def call(self, name: str, tool: str, arguments: JsonObject, *, agreed: bool) -> ToolResponse:
        """Start a server, call one of its tools as a model would, and stop it.

        The policy decides as it would for a model. Raises UsageError if it denies the call.
        """
        server = self._find_server(name)
        posture = await asyncio.to_thread(self._policy.policy_context, self._folder.workspace, Mode.ACT, None)
        decision = await asyncio.to_thread(self._policy.mcp_tools(posture).one, f"{name}/{tool}")
        if decision.verdict is Verdict.DENY:
            raise UsageError(f"{name}/{tool} is denied: {decision.reason}.", "Change its permission first.")
        if decision.verdict is Verdict.ASK and not agreed:
            return ToolResponse(asks=decision.reason)
        setup = self._folder.setup()
        each = Supervisor(server, setup)
        try:
            return await _describe_call(each, tool, arguments)
        finally:
            await each.close()
            await setup.programs.close()

    def _decisions(self, name: str) -> dict[str, str]:
        posture = self._policy.policy_context(self._folder.workspace, Mode.ACT, None)
        return self._policy.mcp_tools(posture).all().get(name, {})

    def _signed_in(self, name: str) -> bool:
        """True if the store has tokens for a server. Importing the SDK to ask it would take a second."""
        return any(one.startswith(f"mcp:{name}@") for one in SecretStore(self._folder.home.credentials).places())

    def _find_server(self, name: str) -> Server:
        if server := self._folder.servers().named(name):
            return server
        raise UsageError(f"There is no MCP server {name!r}.", "Reload the list of servers.")


def apply_changes(before: JsonObject, changes: JsonObject) -> JsonObject:
    """Return a server's configuration with the changes applied."""
    after = dict(before)
    for field, value in changes.items():
        for name in (*OTHER_NAMES.get(field, ()), *(REPLACED.get(field, ()) if value else ())):
            if name not in changes:
                after.pop(name, None)
        if field in PARTS and isinstance(value, dict):
            table = {**before.get(field, {}), **value}
            value = {name: one for name, one in table.items() if one is not None} or None
        if value is None:
            after.pop(field, None)
        else:
            after[field] = value
    return after


async def _describe_call(each: Supervisor, tool: str, arguments: JsonObject) -> ToolResponse:
    each.begin(anyway=True)
    if each.is_used and not each.error:
        await each.settled.wait()
    known = next((one for one in each.tools if one.tool == tool), None)
    if each.standing is not Standing.READY or known is None:
        why = each.error or ("it is turned off" if not each.is_used else f"it offers no tool {tool}")
        return ToolResponse(error=f"The server {each.server.name} could not run the call: {redact_text(why)}")
    began = time.monotonic()
    try:
        caller = Caller("try", lambda text: None, _ask_nobody)
        found = await each.call_tool(known, fit_arguments(arguments, known), caller)
    except ToolFailure as failure:
        return ToolResponse(error=redact_text(failure.text), seconds=round(time.monotonic() - began, 2))
    return ToolResponse(True, "", found, "", round(time.monotonic() - began, 2))


async def _ask_nobody(question: str, options: Sequence[str]) -> str | None:
    """Answer nothing to a server that asks back."""
    return None


def _is_editable(server: Server) -> bool:
    return server.owner in OURS and server.dialect in OWN


def _write_server(server: Server) -> JsonObject:
    """Return a server as it is in its file. Raises SettingsError."""
    try:
        found: Any = mcp_files.read_raw(server.file).get(KEY, {}).get(server.name, {})
    except mcp_files.Unreadable as error:
        raise SettingsError(str(error), "Correct the file first; nothing was changed.") from error
    return found if isinstance(found, dict) else {}


def _describe_tool(tool: McpTool, decision: str, differs: str) -> ToolDetail:
    return ToolDetail(
        tool.tool, tool.description, tool.schema, tool.read_only, definitions_size((tool,)), decision, differs
    )


def _read_config(entry: ServerEntry) -> Config:
    return Config(
        entry.type,
        redact_text(entry.command),
        tuple(map(redact_text, entry.args)),
        entry.cwd,
        tuple(entry.env),
        redact_text(entry.url),
        tuple(entry.headers),
        entry.timeout,
        entry.auto_approve,
        entry.auto_approve_read_only,
        entry.disabled_tools,
    )
