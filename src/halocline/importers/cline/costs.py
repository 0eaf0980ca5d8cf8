"""Usage and cost of Cline's requests, from rows of its screen or from the messages themselves."""

from collections.abc import Iterable, Iterator

import msgspec

from halocline.importers.transcript import as_table, as_text, parse_cost, parse_time, whole_number
from halocline.protocol import json_input
from halocline.protocol.messages import Usage
from halocline.protocol.values import JsonObject, Value


class Request(Value, frozen=True):
    """Cline's screen row about one model request; `after` counts the messages before it."""

    at: float
    after: int | None
    usage: Usage
    cost: float | None


def read_request(row: JsonObject) -> Request:
    """Convert a row of the screen."""
    told = read_json(as_text(row.get("text")))
    usage = Usage(
        input=whole_number(told.get("tokensIn")),
        output=whole_number(told.get("tokensOut")),
        cache_read=whole_number(told.get("cacheReads")),
        cache_write=whole_number(told.get("cacheWrites")),
    )
    after = row.get("conversationHistoryIndex")
    cost = parse_cost(told.get("cost"))
    return Request(parse_time(row.get("ts")), after if isinstance(after, int) else None, usage, cost)


def read_json(text: str) -> JsonObject:
    """Return the fields in the text of a row; none if it is no JSON object."""
    try:
        return as_table(json_input.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return {}


def by_place(requests: Iterable[Request]) -> tuple[dict[int, Request], Iterator[Request]]:
    """Return requests by the number of messages before them and, for older versions, in order; retries added up."""
    known: dict[int, Request] = {}
    counted = [each for each in requests if each.usage.total]
    for each in counted:
        if each.after is not None:
            before = known.get(each.after)
            known[each.after] = _add_requests(before, each) if before else each
    return known, iter(counted)


def _add_requests(one: Request, other: Request) -> Request:
    unknown = one.cost is None or other.cost is None
    cost = None if unknown else (one.cost or 0.0) + (other.cost or 0.0)
    return Request(other.at, other.after, one.usage + other.usage, cost)


def read_metrics(given: JsonObject) -> tuple[Usage, float | None] | None:
    """Convert a message's own counts, in the format of the extension or of the newer core.

    The newer core's input includes what was read from the cache and written to it.
    """
    tokens = as_table(given.get("tokens"))
    if tokens:
        cached = whole_number(tokens.get("cached"))
        read = max(0, whole_number(tokens.get("prompt")) - cached)
        return Usage(read, whole_number(tokens.get("completion")), cached), parse_cost(given.get("cost"))
    if "inputTokens" not in given:
        return None
    read, written = (whole_number(given.get(name)) for name in ("cacheReadTokens", "cacheWriteTokens"))
    usage = Usage(
        input=max(0, whole_number(given.get("inputTokens")) - read - written),
        output=whole_number(given.get("outputTokens")),
        cache_read=read,
        cache_write=written,
    )
    return usage, parse_cost(given.get("cost"))
