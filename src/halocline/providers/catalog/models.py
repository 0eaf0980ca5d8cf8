"""What is known of a model, and what a request to it costs.

Sizes are tokens, prices US dollars per million tokens. None is unknown, and an unknown price is never 0.
"""

from halocline.protocol.messages import Usage
from halocline.protocol.values import Value


class Prices(Value, frozen=True):
    """Dollars per million tokens. Reasoning is billed as output, and a cache without a price of its own as input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def times(self, factor: float) -> "Prices":
        """The same for another number of tokens, without the dust that fractions leave."""
        read, write = (
            None if price is None else round(price * factor, 6) for price in (self.cache_read, self.cache_write)
        )
        return Prices(round(self.input * factor, 6), round(self.output * factor, 6), read, write)


class Tier(Value, frozen=True):
    """Other prices, for the whole of a request whose input is longer than `above` tokens."""

    above: int
    prices: Prices


class ModelInfo(Value, frozen=True):
    """One model. `tiers` stand in rising order. `reasoning_field` is where the server wants its reasoning back.

    `tools`, `images` and `thinking` say what it can do; None is unknown. `leaving`: its vendor is going to withdraw it.
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


UNKNOWN = ModelInfo()
FREE = ModelInfo(prices=Prices(0.0, 0.0, 0.0, 0.0))
"""A model on one's own machine."""


def cost_of(info: ModelInfo, usage: Usage) -> float | None:
    """Dollars for one request; None when the prices are unknown."""
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
