"""Start MCP servers to see what they offer, and the page on this machine that a sign-in returns to."""

import time
from collections.abc import Callable, Mapping

from halocline.hosts.web.oauth_callback import Loopback
from halocline.mcp.connection.supervisor import Standing, Supervisor
from halocline.mcp.hub import definitions_size
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.values import Value


class ServerTrial(Value, frozen=True, omit_defaults=False):
    """Result of starting a server. `log` is the file with everything it printed; `left_out` is not valid MCP."""

    name: str
    ok: bool
    seconds: float
    protocol: str = ""
    tools: tuple[McpTool, ...] = ()
    prompts: tuple[str, ...] = ()
    resources: bool = False
    tokens: int = 0
    error: str = ""
    log: str = ""
    left_out: tuple[str, ...] = ()


async def try_server(each: Supervisor) -> ServerTrial:
    """Start a server, and return what it offers or why it did not start. The caller closes it."""
    began = time.monotonic()
    each.begin(anyway=True)
    if each.is_used and not each.error:
        await each.settled.wait()
    seconds = round(time.monotonic() - began, 2)
    log = str(each.log.file)
    if each.standing is not Standing.READY or each.offer is None:
        why = each.error or ("it is turned off" if not each.is_used else "it did not start")
        return ServerTrial(each.server.name, False, seconds, error=why, log=log)
    offer = each.offer
    return ServerTrial(
        name=each.server.name,
        ok=True,
        seconds=seconds,
        protocol=offer.version,
        tools=each.tools,
        prompts=tuple(prompt.command for prompt in offer.prompts),
        resources=offer.resources,
        tokens=definitions_size(each.tools),
        log=log,
        left_out=offer.left_out,
    )


class CallbackPage:
    """Implements `mcp.setup.Visitor` with a callback page on this machine."""

    def __init__(self, loopback: Loopback, show: Callable[[str], None]) -> None:
        self._loopback = loopback
        self.show = show

    @property
    def url(self) -> str:
        return self._loopback.url

    async def wait_for_redirect(self) -> Mapping[str, str]:
        return await self._loopback.wait_for_redirect()
