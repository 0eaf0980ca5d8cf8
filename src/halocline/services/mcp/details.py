"""One MCP server in full, as a page shows and edits it: what it offers, what is allowed of it, how it is written.

What must stay true: no server is started for it; values of variables and headers go in and never out; and what was
shown without its secrets is not written back.
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
from halocline.ports.mcp_servers import Entry, Owner, Server
from halocline.protocol.errors import SettingsError, ToolFailure, UsageError
from halocline.protocol.events import Mode
from halocline.protocol.mcp import McpTool
from halocline.protocol.messages import ResultPart
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.mcp import FolderServers
from halocline.services.policy.rules import PolicyService
from halocline.store.mcp import servers as mcp_files
from halocline.store.secrets.store import SecretStore

OURS = (Owner.USER, Owner.PROJECT)
PARTS = ("env", "headers")
"""Tables of a server of which single values are changed."""
OTHER_NAMES = {"autoApprove": ("alwaysAllow",), "url": ("serverUrl", "httpUrl"), "type": ("transportType",)}
REPLACED = {
    "command": ("url", "serverUrl", "httpUrl", "headers", "type"),
    "url": ("command", "args", "env", "cwd", "type"),
}
"""What goes when a server becomes another kind of one."""


class ToolDetail(Value, frozen=True, omit_defaults=False):
    """One tool. `decision` is allow, ask or deny, empty where it is not offered; `changed` is as in `McpTool`."""

    tool: str
    description: str
    schema: JsonObject
    read_only: bool
    tokens: int
    decision: str
    changed: str


class Called(Value, frozen=True, omit_defaults=False):
    """What came of a call. With `asks` nothing was run: it is why a person has to agree first."""

    ok: bool = False
    asks: str = ""
    content: tuple[ResultPart, ...] = ()
    error: str = ""
    seconds: float = 0.0


class Config(Value, frozen=True, omit_defaults=False, rename="camel"):
    """How a server is written. Of variables and headers only the names; what looks like a key is not shown."""

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
    """One server. `tools` and the rest of the offer are from when it last ran. `signed_in` is None for a program."""

    name: str
    tools: tuple[ToolDetail, ...]
    prompts: tuple[str, ...]
    resources: bool
    config: Config
    can_change: bool
    signed_in: bool | None


class ServerService:
    """The servers of one folder, one by one."""

    def __init__(self, folder: FolderServers, policy: PolicyService) -> None:
        self._folder = folder
        self._policy = policy

    @classmethod
    def open(cls, workspace: Path) -> "ServerService":
        """Raises UsageError and SettingsError."""
        assembly = Assembly.of(Choices())
        return cls(assembly.mcp_of(workspace), PolicyService(assembly))

    def detail(self, name: str) -> ServerDetail:
        """Raises UsageError."""
        server, setup = self._named(name), self._folder.setup()
        offer = Supervisor(server, setup).offer
        decided = self._decisions(name)
        tools = offer.tools if offer else ()
        return ServerDetail(
            name,
            tuple(_describe_tool(tool, decided.get(tool.tool, ""), setup.pins.changed(tool)) for tool in tools),
            tuple(prompt.command for prompt in offer.prompts) if offer else (),
            bool(offer and offer.resources),
            _read_config(server.entry),
            server.owner in OURS,
            self._signed_in(name) if server.entry.url else None,
        )

    def change(self, name: str, changes: JsonObject) -> Path:
        """Change fields of a server in its file; None removes one. Raises UsageError and SettingsError."""
        server = self._named(name)
        if server.owner not in OURS:
            raise UsageError(
                f"The server {name} is set up in {server.file}, which is not changed here.", "Change it there."
            )
        if b"[redacted " in msgspec.json.encode(changes):
            raise UsageError("A part of it is not shown here, so it cannot be written.", "Write that part anew.")
        after = apply_changes(_write_server(server), changes)
        mcp_files.check_server(after)
        mcp_files.write_server(server.file, name, after)
        return server.file

    def allow(self, name: str, tool: str, way: str) -> Path:
        """Allow a tool for good, `deny` it, or (empty) leave it to the policy. Raises UsageError and SettingsError."""
        server = self._named(name)
        approved, off = list(server.entry.auto_approve), set(server.entry.disabled_tools) - {tool}
        if ALL in approved and way != "allow":
            offer = Supervisor(server, self._folder.setup()).offer
            approved = [one.tool for one in offer.tools] if offer else []
        approved = [one for one in approved if one != tool] + [tool] * (way == "allow" and ALL not in approved)
        fields = {"autoApprove": approved, "disabledTools": sorted(off | {tool} if way == "deny" else off)}
        return self.change(name, {field: value or None for field, value in fields.items()})

    async def call(self, name: str, tool: str, arguments: JsonObject, *, agreed: bool) -> Called:
        """Start a server, call one of its tools as a model would, and end it.

        The policy decides as it would for a model. Raises UsageError when it forbids the call.
        """
        server = self._named(name)
        posture = await asyncio.to_thread(self._policy.posture, self._folder.workspace, Mode.ACT, None)
        decision = await asyncio.to_thread(self._policy.mcp_tools(posture).one, f"{name}/{tool}")
        if decision.verdict is Verdict.DENY:
            raise UsageError(f"{name}/{tool} may not be called: {decision.reason}.", "Change what is allowed first.")
        if decision.verdict is Verdict.ASK and not agreed:
            return Called(asks=decision.reason)
        setup = self._folder.setup()
        each = Supervisor(server, setup)
        try:
            return await _describe_call(each, tool, arguments)
        finally:
            await each.close()
            await setup.programs.close()

    def _decisions(self, name: str) -> dict[str, str]:
        posture = self._policy.posture(self._folder.workspace, Mode.ACT, None)
        return self._policy.mcp_tools(posture).all().get(name, {})

    def _signed_in(self, name: str) -> bool:
        """By its entries in the store: to ask the SDK would cost a second."""
        return any(one.startswith(f"mcp:{name}@") for one in SecretStore(self._folder.home.credentials).places())

    def _named(self, name: str) -> Server:
        if server := self._folder.servers().named(name):
            return server
        raise UsageError(f"There is no MCP server {name!r}.", "Look at the list again.")


def apply_changes(before: JsonObject, changes: JsonObject) -> JsonObject:
    """A server as it is written, with the changes."""
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


async def _describe_call(each: Supervisor, tool: str, arguments: JsonObject) -> Called:
    each.begin(anyway=True)
    if each.is_used and not each.error:
        await each.settled.wait()
    known = next((one for one in each.tools if one.tool == tool), None)
    if each.standing is not Standing.READY or known is None:
        why = each.error or ("it is switched off" if not each.is_used else f"it offers no tool {tool}")
        return Called(error=f"{each.server.name} did not serve: {redact_text(why)}")
    began = time.monotonic()
    try:
        found = await each.call(known, arguments, Caller("try", lambda text: None, _ask_nobody))
    except ToolFailure as failure:
        return Called(error=redact_text(failure.text), seconds=round(time.monotonic() - began, 2))
    return Called(True, "", found, "", round(time.monotonic() - began, 2))


async def _ask_nobody(question: str, options: Sequence[str]) -> str | None:
    """A server that asks something back gets no answer here."""
    return None


def _write_server(server: Server) -> JsonObject:
    """Raises SettingsError."""
    try:
        found: Any = mcp_files.read_raw(server.file).get(mcp_files.KEY, {}).get(server.name, {})
    except mcp_files.Unreadable as error:
        raise SettingsError(str(error), "Correct it first; nothing was changed.") from error
    return found if isinstance(found, dict) else {}


def _describe_tool(tool: McpTool, decision: str, differs: str) -> ToolDetail:
    return ToolDetail(
        tool.tool, tool.description, tool.schema, tool.read_only, definitions_size((tool,)), decision, differs
    )


def _read_config(entry: Entry) -> Config:
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
