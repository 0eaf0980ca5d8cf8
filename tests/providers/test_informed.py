import asyncio
import time
from collections.abc import AsyncGenerator

from tests.net.raw_server import serving
from tests.providers.documents import documents
from tests.providers.streams import collected, request, usage_of

from halocline.ports.model import ModelEvent, Request
from halocline.protocol.events import AssistantMessageCompleted, TextDelta, UsageReported
from halocline.protocol.messages import AssistantMessage, Text, Usage
from halocline.providers.catalog.models import ModelInfo, Prices
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.wrappers.model_info_probe import PATIENCE, Informed, wants_to_know

LIST = {"data": [{"id": "m", "max_model_len": 40960, "pricing": {"prompt": "0.000001", "completion": "0.000002"}}]}


class Spoken:
    """A model that says one word, and reports what it is given."""

    name = "near/m"

    def __init__(self, reported: UsageReported) -> None:
        self.reported = reported

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        yield TextDelta("Hello.")
        yield self.reported
        yield AssistantMessageCompleted(message=AssistantMessage((Text("Hello."),), model="near/m"))

    async def close(self) -> None:
        pass


def near(url: str) -> Endpoint:
    return Endpoint(Vendor("near", "Near", "openai_chat", base_url=url), "m")


async def reported(url: str, report: UsageReported) -> UsageReported:
    model = Informed(Spoken(report), near(url))
    events = await collected(model)
    await model.close()
    return usage_of(events)


async def test_a_report_gets_the_window_and_the_price_that_only_the_server_knows() -> None:
    async with documents({"/v1/models": LIST}) as server:
        report = await reported(f"{server.url}/v1", UsageReported(usage=Usage(input=1_000_000, output=500_000)))
    assert (report.window, report.cost) == (40960, 2.0)


async def test_what_a_report_knows_already_stays() -> None:
    async with documents({"/v1/models": LIST}) as server:
        report = await reported(f"{server.url}/v1", UsageReported(usage=Usage(input=5), cost=0.25, window=7))
    assert (report.window, report.cost) == (7, 0.25)


async def test_a_server_that_knows_is_asked_once_and_one_that_does_not_a_few_times() -> None:
    async with documents({"/v1/models": LIST}) as server:
        model = Informed(Spoken(UsageReported(usage=Usage())), near(f"{server.url}/v1"))
        for _ in range(3):
            await collected(model)
        assert len(server.requests) == 1
        await model.close()
    async with documents({}) as server:
        model = Informed(Spoken(UsageReported(usage=Usage())), near(f"{server.url}/v1"))
        for _ in range(5):
            assert usage_of(await collected(model)).window is None
        assert len(server.requests) == 3
        await model.close()


async def test_requests_at_the_same_time_share_the_question() -> None:
    async with documents({"/v1/models": LIST | {"data": []}}) as server:
        model = Informed(Spoken(UsageReported(usage=Usage(input=5))), near(f"{server.url}/v1"))
        replies = await asyncio.gather(*(collected(model) for _ in range(3)))
        await model.close()
    assert [usage_of(events).window for events in replies] == [None] * 3


async def test_nothing_is_asked_before_the_reply_begins() -> None:
    async with documents({"/v1/models": LIST}) as server:
        model = Informed(Spoken(UsageReported(usage=Usage())), near(f"{server.url}/v1"))
        await anext(aiter(stream := model.stream(request())))
        await stream.aclose()
        await model.close()
        assert len(server.requests) <= 1


async def test_a_server_that_hangs_costs_one_short_wait_and_is_let_go() -> None:
    gone = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.read()
        gone.set()

    async with serving(hang) as url:
        began = time.monotonic()
        report = await reported(url, UsageReported(usage=Usage()))
        assert time.monotonic() - began < PATIENCE * 10
        await asyncio.wait_for(gone.wait(), 5)
    assert (report.window, report.cost) == (None, None)


def test_only_what_is_missing_is_asked_and_only_where_it_can_be() -> None:
    known = ModelInfo(window=5, prices=Prices(1, 2))
    assert wants_to_know(Endpoint(VENDORS["openrouter"], "new"))
    assert wants_to_know(Endpoint(VENDORS["ollama"], "m"))
    assert not wants_to_know(Endpoint(VENDORS["openrouter"], "m", known=known))
    assert not wants_to_know(Endpoint(VENDORS["anthropic"], "new"))
