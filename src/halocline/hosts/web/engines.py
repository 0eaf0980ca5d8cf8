"""Search engines as rows of data: the address, how the key is sent, and two pure functions.

One builds the request for a query, the other reads the results. Source: the engines' documentation of November 2026.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from halocline.ports.web_search import Found, WebQuery

RESULTS = 10
BRAVES_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; with a `body` it is a POST of JSON."""

    path: str
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """`url` is its usual address (empty: you must set your own), `key_header` the header for the key (`{}`)."""

    name: str
    title: str
    ask: Callable[[WebQuery], Asked]
    read: Callable[[Any], Iterator[Found]]
    url: str = ""
    key_variable: str = ""
    key_header: tuple[str, str] = field(default=("", ""))


def _with_operators(query: WebQuery) -> str:
    """The query text with `site:` operators for the domains, as most engines understand them."""
    allowed = " OR ".join(f"site:{domain}" for domain in query.allowed)
    parts = [query.text, f"({allowed})" if len(query.allowed) > 1 else allowed]
    return " ".join([*filter(None, parts), *(f"-site:{domain}" for domain in query.blocked)])


def _ask_searxng(query: WebQuery) -> Asked:
    return Asked(f"/search?{urlencode({'q': _with_operators(query), 'format': 'json'})}")


def _ask_brave(query: WebQuery) -> Asked:
    words = {"q": _with_operators(query)[:BRAVES_LONGEST], "count": RESULTS, "text_decorations": "false"}
    return Asked(f"/res/v1/web/search?{urlencode(words)}")


def _ask_tavily(query: WebQuery) -> Asked:
    domains = {"include_domains": list(query.allowed), "exclude_domains": list(query.blocked)}
    return Asked("/search", {"query": query.text, "max_results": RESULTS} | _without_empty(domains))


def _ask_exa(query: WebQuery) -> Asked:
    domains = {"includeDomains": list(query.allowed), "excludeDomains": list(query.blocked)}
    body = {"query": query.text, "numResults": RESULTS, "contents": {"highlights": True}}
    return Asked("/search", body | _without_empty(domains))


def _ask_serper(query: WebQuery) -> Asked:
    return Asked("/search", {"q": _with_operators(query), "num": RESULTS})


def _without_empty(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _read_rows(*path: str, url: str = "url", snippet: str) -> Callable[[Any], Iterator[Found]]:
    """Reader of the list at `path`; rows of an unexpected shape are skipped."""

    def read(answer: Any) -> Iterator[Found]:
        for step in path:
            answer = answer.get(step) if isinstance(answer, dict) else None
        for row in answer if isinstance(answer, list) else ():
            if isinstance(row, dict) and isinstance(row.get(url), str):
                yield Found(_as_text(row.get("title")), row[url], _as_text(row.get(snippet)))

    return read


def _as_text(value: object) -> str:
    match value:
        case str():
            return value
        case list():
            return " … ".join(part for part in value if isinstance(part, str))
    return ""


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("searxng", "SearXNG", _ask_searxng, _read_rows("results", snippet="content")),
        Engine(
            "brave",
            "Brave Search",
            _ask_brave,
            _read_rows("web", "results", snippet="description"),
            "https://api.search.brave.com",
            "BRAVE_API_KEY",
            ("x-subscription-token", "{}"),
        ),
        Engine(
            "tavily",
            "Tavily",
            _ask_tavily,
            _read_rows("results", snippet="content"),
            "https://api.tavily.com",
            "TAVILY_API_KEY",
            ("authorization", "Bearer {}"),
        ),
        Engine(
            "exa",
            "Exa",
            _ask_exa,
            _read_rows("results", snippet="highlights"),
            "https://api.exa.ai",
            "EXA_API_KEY",
            ("x-api-key", "{}"),
        ),
        Engine(
            "serper",
            "Serper",
            _ask_serper,
            _read_rows("organic", url="link", snippet="snippet"),
            "https://google.serper.dev",
            "SERPER_API_KEY",
            ("x-api-key", "{}"),
        ),
    )
}
