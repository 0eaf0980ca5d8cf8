"""Facts about a model, and the cost of a request.

Sizes are in tokens, prices in US dollars per million tokens. None is unknown; an unknown price is never 0.
"""

from halocline.protocol.messages import Usage
from halocline.protocol.values import Value


class Prices(Value, frozen=True):
    """Dollars per million tokens. Reasoning is billed as output; a cache without its own price, as input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def times(self, factor: float) -> "Prices":
        """Scale the prices, rounded to six decimals."""
        read, write = (
            None if price is None else round(price * factor, 6) for price in (self.cache_read, self.cache_write)
        )
        return Prices(round(self.input * factor, 6), round(self.output * factor, 6), read, write)


class Tier(Value, frozen=True):
    """Prices for a whole request whose input exceeds `above` tokens."""

    above: int
    prices: Prices


class ModelInfo(Value, frozen=True):
    """One model. `tiers` are in ascending order. `reasoning_field` is where the server wants its reasoning back.

    `tools`, `images` and `thinking` are its abilities; None is unknown. `leaving`: its vendor will withdraw it.
    `size` is in thousand millions of parameters.
    """

    title: str = ""
    window: int | None = None
    max_output: int | None = None
    prices: Prices | None = None
    tiers: tuple[Tier, ...] = ()
    tools: bool | None = None
    images: bool | None = None
    thinking: bool | None = None
    reasoning_field: str = ""
    leaving: bool = False
    size: float | None = None


UNKNOWN = ModelInfo()
FREE = ModelInfo(prices=Prices(0.0, 0.0, 0.0, 0.0))
"""Prices of a model on your own machine."""


def dearest_prices(info: ModelInfo, read: int) -> tuple[float, float] | None:
    """Return the dollars for a token read and one written at most, in a request of up to so many tokens."""
    if info.prices is None:
        return None
    rows = [info.prices, *(tier.prices for tier in info.tiers if read > tier.above)]
    dearest = max(max(row.input, row.cache_read or 0.0, row.cache_write or 0.0) for row in rows)
    return dearest / 1_000_000, max(row.output for row in rows) / 1_000_000


def cost_of(info: ModelInfo, usage: Usage) -> float | None:
    """Return the cost of a request in dollars; None when the prices are unknown."""
    read = usage.input + usage.cache_read + usage.cache_write
    prices = next((tier.prices for tier in reversed(info.tiers) if read > tier.above), info.prices)
    if prices is None:
        return None
    dollars = (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_read * (prices.input if prices.cache_read is None else prices.cache_read)
        + usage.cache_write * (prices.input if prices.cache_write is None else prices.cache_write)
    )
    return dollars / 1_000_000
