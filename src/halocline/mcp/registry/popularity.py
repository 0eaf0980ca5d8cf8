"""A catalog's extra facts about a server: tags, stars, downloads, date of change.

The public registry leaves them to publishers, and every catalog names them differently. Invalid values are left out.
"""

from collections.abc import Iterator, Sequence

from halocline.mcp.tool_names import plain_text
from halocline.protocol.values import JsonObject

MOST_TAGS = 12
TAGS = ("category", "categories", "tags", "keywords")
STARS = ("stars", "githubStars", "stargazer_count")
DOWNLOADS = ("downloads", "downloadCount", "installs", "installCount")
CHANGED = ("updatedAt", "publishedAt", "createdAt")


def read_popularity(places: Sequence[JsonObject]) -> JsonObject:
    """Collect these fields of a server from its tables, under whatever names."""
    tables = [table for place in places for table in (place, place.get("github")) if isinstance(table, dict)]
    return {
        "tags": _read_tags(tables),
        "stars": _read_count(tables, STARS),
        "downloads": _read_count(tables, DOWNLOADS),
        "changedAt": _read_date(tables),
    }


def _read_tags(tables: Sequence[JsonObject]) -> list[str]:
    found: dict[str, None] = {}
    for value in _find_values(tables, TAGS):
        for tag in (value,) if isinstance(value, str) else value if isinstance(value, list) else ():
            found.setdefault(plain_text(str(tag), 40))
    return list(found)[:MOST_TAGS]


def _read_count(tables: Sequence[JsonObject], names: Sequence[str]) -> int:
    counts = (value for value in _find_values(tables, names) if isinstance(value, int) and not isinstance(value, bool))
    return max((count for count in counts if 0 <= count < 2**53), default=0)


def _read_date(tables: Sequence[JsonObject]) -> str:
    return next((plain_text(value, 40) for value in _find_values(tables, CHANGED) if isinstance(value, str)), "")


def _find_values(tables: Sequence[JsonObject], names: Sequence[str]) -> Iterator[object]:
    for name in names:
        for table in tables:
            if table.get(name):
                yield table[name]
