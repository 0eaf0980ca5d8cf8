"""What a task's next request is made of, what it costs, and how the cache was used. Nothing is written."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.context.cache_report import cache_report
from halocline.context.environment import environment
from halocline.context.manager import Context
from halocline.context.usage_report import reserve, usage_report
from halocline.controller.model_choice import thinking
from halocline.ports.model import Request
from halocline.protocol.events import DurableEvent, TaskStarted, ToolsOffered
from halocline.protocol.messages import UserMessage
from halocline.protocol.state import State, reduce
from halocline.protocol.usage_report import CacheReport, ContextReport, Rates
from halocline.providers.catalog import ModelInfo

if TYPE_CHECKING:
    from halocline.controller.assembly import Assembly


def begun(assembly: "Assembly", started: TaskStarted, attended: bool, tools: Iterable[str]) -> State:
    """What a new task knows when its first prompt, still without words, is sent."""
    state = reduce(State(), started)
    offered = assembly.offered(state, attended, tools)
    state = reduce(state, ToolsOffered(tools=tuple(sorted(offered))))
    note = environment(state, Path(state.workspace), datetime.now().astimezone())
    return replace(state, messages=(UserMessage((note,)),)) if note else state


def context_of(assembly: "Assembly", state: State) -> ContextReport:
    """What the next request would hold."""
    info = assembly.known(state.model)
    window = state.window or info.window
    report = usage_report(_request(assembly, state), state.last_usage, state.workspace)
    return replace(
        report,
        task=state.task,
        title=state.title,
        window=window,
        reserve=reserve(window, assembly.settings.max_tokens or info.max_output),
        rates=rates(info, report.used),
    )


def cache_of(assembly: "Assembly", events: Sequence[DurableEvent]) -> CacheReport:
    """How the requests of a log used the provider's cache."""
    context, tools = Context(assembly.settings.max_tokens, thinking(assembly.settings)), assembly.tools()

    def request_of(state: State) -> Request:
        return context.request(state, tools)

    return cache_report(events, request_of, lambda model: rates(assembly.known(model), 0))


def rates(info: ModelInfo, read: int) -> Rates | None:
    """What a token costs that is read, in a request of that length."""
    prices = next((tier.prices for tier in reversed(info.tiers) if read > tier.above), info.prices)
    if prices is None:
        return None
    return Rates(prices.input, prices.input if prices.cache_read is None else prices.cache_read)


def _request(assembly: "Assembly", state: State) -> Request:
    return Context(assembly.settings.max_tokens, thinking(assembly.settings)).request(state, assembly.tools())
