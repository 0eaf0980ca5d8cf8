"""From a URL to the addresses a tool may connect to: the gate judges every hop and every resolved address.

A name is resolved only after its host was allowed, and connections go only to the addresses that were judged: a second
lookup could return others.
"""

from collections.abc import Callable

from halocline.policy.destinations import Destination, Net, parse_destination, worst_net
from halocline.policy.gate import Decision, PolicyContext, decide_call
from halocline.ports.host import Web
from halocline.ports.tool import Summary
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.protocol.permission_rules import Verdict

LED_ON = "{url} was not opened: it needs its own call ({reason}). Fetch it separately if you need it."
LEADS_INSIDE = (
    "{host} resolves to {address}, which is on this machine or in a private network. Nothing was requested. If that is "
    "intended, call again with private_network=true; the user decides."
)
LEADS_TO_KEYS = (
    "{host} resolves to {address}, a link-local address that may serve cloud credentials. It was not opened."
)


class Reach:
    """Implements `ports.reach.Reach` for one call, whose own URL was allowed."""

    def __init__(self, summary: Summary, posture: Callable[[], PolicyContext], web: Web) -> None:
        self._summary = summary
        self._policy_context = posture
        self._web = web

    async def __call__(self, url: str, *, part: bool = False) -> tuple[str, ...]:
        """Return the addresses to connect to. Raises ToolFailure if the policy does not allow it without asking."""
        server = parse_destination(url)
        admitted = self._is_admitted(server)
        if not admitted:
            self._require(Summary(url, ToolKind.FETCH, url=url), server, part)
        if server.by_address:
            return (server.hostname,)
        addresses = await self._web.lookup(server.hostname)
        self._check(server, addresses, admitted and self._summary.private, part)
        return addresses

    def _is_admitted(self, server: Destination) -> bool:
        """True if the call's permission covers this server: the same host, and in private networks the same port."""
        if not self._summary.url:
            return False
        own = parse_destination(self._summary.url)
        inside = own.net is not Net.PUBLIC or self._summary.private
        return own.exactly == server.exactly if inside else own.hostname == server.hostname

    def _require(self, summary: Summary, server: Destination, part: bool) -> None:
        decision = self._decide(summary)
        if part and server.net is Net.PUBLIC and decision.verdict is not Verdict.DENY:
            return
        if decision.verdict is not Verdict.ALLOW or (part and self._is_from_outside(decision)):
            raise ToolFailure(LED_ON.format(url=server.url, reason=decision.reason))

    def _is_from_outside(self, decision: Decision) -> bool:
        """True for a public page's parts in yolo mode: what the model may do does not open our network to them."""
        if decision.rule != "yolo" or self._summary.private:
            return False
        return parse_destination(self._summary.url).net is Net.PUBLIC

    def _check(self, server: Destination, addresses: tuple[str, ...], may_be_inside: bool, part: bool) -> None:
        net = worst_net(addresses)
        if net is Net.PUBLIC:
            return
        found = next(address for address in addresses if worst_net([address]) is net)
        if net is Net.LINK_LOCAL:
            raise ToolFailure(LEADS_TO_KEYS.format(host=server.hostname, address=found))
        if server.net is Net.PRIVATE or may_be_inside:
            return
        inside = Summary(server.url, ToolKind.FETCH, url=server.url, private=True)
        decision = self._decide(inside)
        if decision.verdict is not Verdict.ALLOW or (part and self._is_from_outside(decision)):
            raise ToolFailure(LEADS_INSIDE.format(host=server.hostname, address=found))

    def _decide(self, summary: Summary) -> Decision:
        return decide_call(summary, self._policy_context())
