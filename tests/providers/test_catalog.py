import pytest

from halocline.protocol.messages import Usage
from halocline.providers.catalog.models import FREE, UNKNOWN, ModelInfo, Prices, Tier, cost_of

MILLION = 1_000_000


def test_a_cost_sums_all_kinds_of_tokens() -> None:
    info = ModelInfo(prices=Prices(1, 2, 3, 4))
    usage = Usage(input=MILLION, output=2 * MILLION, cache_read=3 * MILLION, cache_write=4 * MILLION, reasoning=MILLION)
    assert cost_of(info, usage) == 1 + 4 + 9 + 16


def test_a_cache_without_a_price_costs_as_input_does() -> None:
    info = ModelInfo(prices=Prices(1, 2))
    assert cost_of(info, Usage(cache_read=MILLION, cache_write=2 * MILLION)) == 3


def test_a_cache_that_is_free_costs_nothing() -> None:
    info = ModelInfo(prices=Prices(1, 2, 0.0, 0.0))
    assert cost_of(info, Usage(cache_read=MILLION, cache_write=MILLION)) == 0


@pytest.mark.parametrize(
    ("read", "price"), [(1000, 1), (1001, 2), (2000, 2), (2001, 5)], ids=["below", "above", "still", "far above"]
)
def test_the_length_of_the_whole_input_decides_which_prices_hold(read: int, price: int) -> None:
    tiers = (Tier(1000, Prices(2, 2, 2, 2)), Tier(2000, Prices(5, 5, 5, 5)))
    info = ModelInfo(prices=Prices(1, 1, 1, 1), tiers=tiers)
    assert cost_of(info, Usage(input=500, cache_read=read - 500)) == pytest.approx(price * read / MILLION)


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert cost_of(UNKNOWN, Usage(input=10)) is None
    assert cost_of(FREE, Usage(input=10)) == 0


# Worked examples that vendors publish for their own prices.
CLAUDE = ModelInfo(prices=Prices(3.0, 15.0, 0.3, 3.75))
GEMINI = ModelInfo(prices=Prices(2.0, 12.0, 0.2), tiers=(Tier(200_000, Prices(4.0, 18.0, 0.4)),))


@pytest.mark.parametrize(
    ("info", "usage", "dollars"),
    [
        # A cache write costs a quarter more than input, a read a tenth of it.
        (CLAUDE, Usage(input=50, output=503, cache_write=248), 0.000150 + 0.007545 + 0.000930),
        (CLAUDE, Usage(input=50, output=503, cache_read=100_000), 0.000150 + 0.007545 + 0.030),
        # Above 200,000 tokens every token of the request has the higher price, the output as well.
        (GEMINI, Usage(input=200_000, output=1_000), 0.4 + 0.012),
        (GEMINI, Usage(input=100_000, cache_read=150_000, output=1_000), 0.4 + 0.06 + 0.018),
    ],
)
def test_published_examples_come_out_as_published(info: ModelInfo, usage: Usage, dollars: float) -> None:
    assert cost_of(info, usage) == pytest.approx(dollars)


def test_prices_of_one_token_become_prices_of_a_million_without_dust() -> None:
    assert Prices(1.1e-06, 4.4e-06, 2.75e-07).times(MILLION) == Prices(1.1, 4.4, 0.275, None)
