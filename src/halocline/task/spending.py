"""The one owner of what a task and its sub-agents may still spend: steps, tokens and money.

What must stay true: the most that a request may take is reserved before it is sent, in the whole tree, so that what was
spent and what is reserved are within the limits together. A reservation waits for others that may leave something over.
Only what a provider reports above it can go beyond a limit; that is said, and reserved in addition from then on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from halocline.context.token_estimate import Sum, request_tokens
from halocline.ports.model import FindTerms, Request, Terms
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events.limits import Limits
from halocline.protocol.messages import Usage
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

DENSE = 1.8
"""By this, text that no provider has counted yet is taken for larger than estimated: two bytes a token."""
USUAL_REPLY = 8_000
"""Tokens of a reply that may take all that is left; a longer one takes a quarter: cut off, it counts whole."""
LEAST_REPLY = 500
"""Tokens of a reply below which a request is not worth sending."""
MOST_REPLY = 32_000
"""Tokens of a reply where neither its model nor the settings limit it."""
NO_LIMIT = 1 << 40
OF_SPENDING = ("steps", "tokens", "cost")
"""Names of the limits."""
EXACT = 1e-9
"""US dollars below which two sums are the same."""

STEPS = "The limit of {limit:,} steps is reached{whose}: to go on, raise it with --max-steps or the setting max_steps."
COST = (
    "The next request does not fit into the limit of ${limit:.2f}: ${spent:.4f} is spent{more}, and even with a short "
    "reply it may cost up to ${most:.4f}; to go on, raise the limit with --max-cost or the setting max_cost."
)
TOKENS = (
    "The next request does not fit into the limit of {limit:,} tokens: {spent:,} are spent{more}, and even with a "
    "short reply it may take up to {most:,}; to go on, raise the limit with --token-limit or the setting token_limit."
)
ASSUMED = Terms(15 / 1e6, 75 / 1e6)
"""Prices that count for a model of unknown price, where only money is limited: those of the dearest usual models."""
UNPRICED = (
    "The price of {model} is unknown. For the limit of ${limit:.2f}, its tokens count at $15 (read) and $75 (written) "
    "a million. "
)
SET_PRICE = 'To change that, set its prices under [prices."{model}"] in settings.toml, or limit tokens: --token-limit.'
ONLY_TOKENS = (
    "The price of {model} is unknown: the limit of ${limit:.2f} does not hold for it, that of {tokens:,} tokens does."
)
ABOVE = (
    "{model} reported more for a request than was reserved for it ({what}). It counts, and as much more is reserved "
    "for its next ones."
)


class Verdict(Value, frozen=True):
    """A limit that was reached: its name, and a text for the user. `is_final`: a new count would not help."""

    limit: str
    text: str
    is_final: bool = False


class OverBudget(ModelError):
    """A request was not sent, because what it may take is more than what is left."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(ModelErrorKind.OVER_BUDGET, verdict.text)
        self.verdict = verdict


class Amount(Value, frozen=True):
    """Tokens and US dollars; None where there is no limit."""

    tokens: int | None
    cost: float | None

    def shared(self, lanes: int) -> "Amount":
        """Return an equal part."""
        return Amount(
            None if self.tokens is None else self.tokens // lanes, None if self.cost is None else self.cost / lanes
        )

    def plus(self, held: Iterable["Reservation"]) -> "Amount":
        """Return the amount with all that is reserved given back."""
        held = tuple(held)
        return Amount(
            None if self.tokens is None else self.tokens + sum(one.tokens for one in held),
            None if self.cost is None else self.cost + sum(one.cost or 0.0 for one in held),
        )


class Reservation(Value, frozen=True):
    """The most that a request may take. `estimated` are its tokens as we count them, `reply` those of its answer."""

    id: str
    model: str
    tokens: int
    cost: float | None
    reply: int
    estimated: int


class Spending:
    """The spending of one task. A sub-agent's is part of its `parent`'s."""

    def __init__(self, find_terms: FindTerms, limits: Limits, parent: "Spending | None" = None) -> None:
        """`limits` are for older logs, which do not tell theirs."""
        self.refused: Verdict | None = None
        self._find_terms = find_terms
        self._limits = limits
        self._root_above = parent._root if parent else None
        self._children: list[Spending] = []
        self._held: dict[str, Reservation] = {}
        self._kept: tuple[Request, Reservation] | None = None
        self._settled = asyncio.Event()
        self._above: dict[str, Amount] = {}
        self._counted: dict[str, tuple[int, int]] = {}
        self._sum = Sum()
        self._told: set[str] = set()
        self._numbers = 0
        self._before = BudgetState()
        self.running = 0
        """Sub-agents of the tree of this root that run or are about to."""

    def bind(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        """Begin to count for a task, which owns the log and the state."""
        self._emit, self._state = emit, state
        if self._root is not self:
            self._before = state().budget  # of an agent that continues, its parent has counted
            self._root._children.append(self)

    @property
    def _root(self) -> "Spending":
        return self._root_above or self  # stored, `self` would be a cycle that keeps the whole task

    def take_places(self, count: int, most: int) -> bool:
        """Count sub-agents of the whole tree that are about to run; False, and none counts, if they are too many."""
        if fits := self._root.running + count <= most:
            self._root.running += count
        return fits

    def give_back_place(self) -> None:
        """Let another sub-agent run."""
        self._root.running -= 1

    def end(self) -> None:
        """Count no more: what the sub-agent took is in its parent's log now."""
        if self in self._root._children:
            self._root._children.remove(self)
            self._root._wake()

    @property
    def is_limited(self) -> bool:
        """True if requests need a reservation."""
        limits = self._root.limits
        return limits.cost is not None or limits.tokens is not None

    @property
    def limits(self) -> Limits:
        """The limits in force; those of the root hold for the whole tree."""
        return self.limits_in(self._state())

    def limits_in(self, state: State) -> Limits:
        """Return the task's limits from its log, or the usual ones where it has none. A sub-agent has its own."""
        limits, given = state.budget.limits or self._limits, state.subagents.subtask
        if given is None:
            return limits
        cost = limits.cost if given.cost is None else given.cost
        return replace(limits, steps=given.steps, cost=cost, seconds=given.seconds)

    def verdict(self) -> Verdict | None:
        """Return the limit that prevents another step: one that a request did not fit into, or that of steps."""
        refused, self.refused = self.refused, None
        return refused or self._over_steps()

    @asynccontextmanager
    async def room_for(self, request: Request) -> AsyncIterator[None]:
        """Wait for room for a request and keep it until that is reserved. Raises OverBudget if there is none."""
        if not self.is_limited:
            yield
            return
        made = await self._find_room(request, request.model)
        self._root._held[made.id] = made
        self._kept = request, made
        try:
            yield
        finally:
            if self._take_kept(request):  # it was not sent
                del self._root._held[made.id]
                self._root._wake()

    def _take_kept(self, request: Request) -> Reservation | None:
        """Return the reservation that was kept for this very request, once."""
        if self._kept is None or self._kept[0] is not request:
            return None
        kept, self._kept = self._kept[1], None
        return kept

    async def reserve(self, request: Request, model: str, *, whole: bool = False) -> Reservation:
        """Keep what the request to `model` may take; `whole`: with as long a reply as it asks for.

        Raises OverBudget.
        """
        made = self._take_kept(request) or await self._find_room(request, model, whole=whole)
        self._root._held[made.id] = made
        try:
            self._emit(ev.RequestReserved(made.id, model, made.tokens, made.cost))
        except BaseException:  # the log cannot be written: nothing is sent
            del self._root._held[made.id]
            raise
        return made

    def cap(self, request: Request, made: Reservation) -> Request:
        """Return the request with a reply no longer than was reserved for it."""
        terms = self._find_terms(made.model, 0)
        if terms.reply and made.reply >= longest_reply(request, terms):
            return request
        return replace(request, max_tokens=made.reply, is_capped=True)

    def settle(self, made: Reservation, reported: Usage | None, cost: float | None, *, unbilled: bool = False) -> None:
        """Give back a reservation. Without a report, the request counts at its most, unless it was not billed."""
        if self._root._held.pop(made.id, None) is None:
            return
        tokens, assumed = made.tokens, made.cost or 0.0
        if unbilled or (reported and cost is not None):
            tokens, assumed = 0, 0.0
        elif reported:  # by a server that tells no price
            tokens, assumed = 0, min(assumed, _price(reported, self._priced(made.model, made.tokens)))
        try:
            self._emit(ev.RequestSettled(made.id, tokens, assumed))
            if reported:
                self._learn(made, reported, cost)
        finally:
            self._root._wake()

    def _wake(self) -> None:
        self._settled.set()
        self._settled = asyncio.Event()

    async def _find_room(self, request: Request, model: str, *, whole: bool = False) -> Reservation:
        while (made := self._try(request, model, whole=whole)) is None:
            await self._root._settled.wait()
        return made

    def _try(self, request: Request, model: str, *, whole: bool) -> Reservation | None:
        """Return a reservation that fits; None if others that run may leave enough. Raises OverBudget."""
        root, lanes = self._root, max(1, len(self._root._children))
        estimated = request_tokens(request, Sum() if request.summary else self._sum)
        read = self._most_read(model, estimated, request)
        offer = _Offer(terms := self._priced(model, read), read, root._above.get(model, Amount(0, 0.0)))
        most = longest_reply(request, terms)
        least = most if whole else min(most, LEAST_REPLY)
        left = root._left()
        reply = max(offer.reply_for(left.shared(4 * lanes)), min(USUAL_REPLY, offer.reply_for(left.shared(lanes))))
        if whole or (reply < least and not root._held):
            reply = offer.reply_for(left)
        if (reply := min(most, reply)) >= least:
            root._numbers += 1
            number = f"r{root._state().seq + 1}.{root._numbers}"
            return Reservation(number, model, offer.tokens(reply), offer.cost(reply), reply, estimated)
        if root._held and offer.reply_for(left.plus(root._held.values())) >= least:
            return None
        raise root._describe_refusal(offer, least, left)

    def _most_read(self, model: str, estimated: int, request: Request) -> int:
        """Return the tokens of a request at most: what was counted of the one before, and what is new."""
        before, counted = self._counted.get(model, (0, 0))
        if request.summary or not 0 < before <= estimated:
            return int(estimated * DENSE)
        return int(max(counted, before) * 1.02 + (estimated - before) * DENSE) + 64

    def _left(self) -> Amount:
        """Return what may still be reserved."""
        limits, held = self.limits, self._held.values()
        return Amount(
            None if limits.tokens is None else limits.tokens - self._spent_tokens - sum(one.tokens for one in held),
            None if limits.cost is None else limits.cost - self._spent_cost - sum(one.cost or 0.0 for one in held),
        )

    def _priced(self, model: str, read: int) -> Terms:
        """Return a model's terms. An unknown price is said once; unless tokens are limited, it is assumed."""
        terms, limits = self._find_terms(model, read), self._root.limits
        if limits.cost is None or terms.read is not None:
            return terms
        if model not in self._root._told:
            self._root._told.add(model)
            text = UNPRICED + SET_PRICE if limits.tokens is None else ONLY_TOKENS
            self._emit(ev.Noticed(text.format(model=model, limit=limits.cost, tokens=limits.tokens)))
        return terms if limits.tokens is not None else replace(ASSUMED, reply=terms.reply)

    def _describe_refusal(self, offer: "_Offer", least: int, left: Amount) -> OverBudget:
        """Say what does not fit."""
        limits, budgets, running = self.limits, [one._state().budget for one in self._tree], len(self._held)
        is_final = offer.reply_for(Amount(limits.tokens, limits.cost)) < least
        if left.tokens is not None and offer.tokens(least) > left.tokens:
            cut_off = sum(one.assumed_tokens for one in budgets)
            more = _describe_rest(f"{cut_off:,}" * (cut_off > 0), running)
            text = TOKENS.format(limit=limits.tokens, spent=self._spent_tokens, more=more, most=offer.tokens(least))
            return OverBudget(Verdict("tokens", text, is_final))
        unsure = sum(one.assumed_cost for one in budgets)
        more = _describe_rest(f"${unsure:.4f}" * (unsure > EXACT), running)
        text = COST.format(limit=limits.cost, spent=self._spent_cost, more=more, most=offer.cost(least) or 0.0)
        return OverBudget(Verdict("cost", text, is_final))

    def _over_steps(self) -> Verdict | None:
        for one in (self, self._root):
            limit, budget = one.limits.steps, one._state().budget
            children = budget.child_steps + sum(child._steps for child in one._children)
            if limit is not None and budget.steps - budget.forgiven_steps + children >= limit:
                whose = " by this task and its sub-agents" if children else ""
                return Verdict("steps", STEPS.format(limit=limit, whose=whose))
        return None

    def _learn(self, made: Reservation, reported: Usage, cost: float | None) -> None:
        """Remember the size that a provider counted, and what it counts above a reservation."""
        self._counted[made.model] = (made.estimated, reported.total - reported.output)
        tokens, more = max(0, reported.total - made.tokens), max(0.0, (cost or 0.0) - (made.cost or 0.0))
        if not tokens and more <= EXACT:
            return
        known = self._root._above.get(made.model, Amount(0, 0.0))
        self._root._above[made.model] = Amount((known.tokens or 0) + tokens, (known.cost or 0.0) + more)
        what = f"{reported.total:,} tokens, not {made.tokens:,}"
        if more > EXACT:
            what = f"${cost or 0.0:.4f}, not ${made.cost or 0.0:.4f}"
        self._emit(ev.Noticed(ABOVE.format(model=made.model, what=what)))

    @property
    def _tree(self) -> tuple["Spending", ...]:
        return (self, *self._children)

    @property
    def _steps(self) -> int:
        budget = self._state().budget
        return budget.steps - self._before.steps + budget.child_steps

    @property
    def _spent_tokens(self) -> int:
        return sum(one._state().budget.counted_tokens - one._before.counted_tokens for one in self._tree)

    @property
    def _spent_cost(self) -> float:
        return sum(one._state().budget.counted_cost - one._before.counted_cost for one in self._tree)


class _Offer(Value, frozen=True):
    """The price of a request by its terms; `extra` is what its model reported above its reservations before."""

    terms: Terms
    read: int
    extra: Amount

    def tokens(self, reply: int) -> int:
        return self.read + reply + (self.extra.tokens or 0)

    def cost(self, reply: int) -> float | None:
        """Return the US dollars with a reply of so many tokens; None if the price is unknown."""
        if self.terms.read is None or self.terms.written is None:
            return None
        return self.read * self.terms.read + reply * self.terms.written + (self.extra.cost or 0.0)

    def reply_for(self, left: Amount) -> int:
        """Return the longest reply that so much allows; below 0 if not even the request fits."""
        longest = [NO_LIMIT] if left.tokens is None else [left.tokens - self.tokens(0)]
        if left.cost is not None and (begin := self.cost(0)) is not None:
            written, rest = self.terms.written or 0.0, left.cost - begin + EXACT
            longest.append(-1 if left.cost <= EXACT or rest < 0 else int(rest / written) if written else NO_LIMIT)
        return min(longest)


def _price(usage: Usage, terms: Terms) -> float:
    return (usage.total - usage.output) * (terms.read or 0.0) + usage.output * (terms.written or 0.0)


def longest_reply(request: Request, terms: Terms) -> int:
    """Return the tokens that a reply takes at most: thinking may take all that the model can write."""
    if request.wishes_thinking and terms.reply and not request.is_capped:
        return terms.reply
    return min(filter(None, (request.max_tokens, terms.reply)), default=MOST_REPLY)


def _describe_rest(unsure: str, running: int) -> str:
    """Say what else counts: requests without a report, at their most, and those that run."""
    part = f" (of which {unsure} is the most that requests without a report may have taken)" if unsure else ""
    return f"{part}, more is reserved for {running} that run" if running else part
