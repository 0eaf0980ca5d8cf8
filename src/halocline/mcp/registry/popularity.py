"""What a catalogue tells of a server beside what it is: tags, stars, downloads, when it changed.

The public registry leaves that to publishers, and every catalogue writes it in its own way. What is odd is left out.
"""

from collections.abc import Iterator, Sequence

from halocline.mcp.tool_names import plain
from halocline.protocol.values import JsonObject

MOST_TAGS = 12
TAGS = ("category", "categories", "tags", "keywords")
STARS = ("stars", "githubStars", "stargazer_count")
DOWNLOADS = ("downloads", "downloadCount", "installs", "installCount")
CHANGED = ("updatedAt", "publishedAt", "createdAt")


def told_by(places: Sequence[JsonObject]) -> JsonObject:
    """The fields of a server that its tables tell, wherever they write them."""
    tables = [table for place in places for table in (place, place.get("github")) if isinstance(table, dict)]
    return {
        "tags": _tags(tables),
        "stars": _count(tables, STARS),
        "downloads": _count(tables, DOWNLOADS),
        "changedAt": _date(tables),
    }


def _tags(tables: Sequence[JsonObject]) -> list[str]:
    found: dict[str, None] = {}
    for said in _said(tables, TAGS):
        for tag in (said,) if isinstance(said, str) else said if isinstance(said, list) else ():
            found.setdefault(plain(str(tag), 40))
    return list(found)[:MOST_TAGS]


def _count(tables: Sequence[JsonObject], names: Sequence[str]) -> int:
    counts = (said for said in _said(tables, names) if isinstance(said, int) and not isinstance(said, bool))
    return max((count for count in counts if 0 <= count < 2**53), default=0)


def _date(tables: Sequence[JsonObject]) -> str:
    return next((plain(said, 40) for said in _said(tables, CHANGED) if isinstance(said, str)), "")


def _said(tables: Sequence[JsonObject], names: Sequence[str]) -> Iterator[object]:
    for name in names:
        for table in tables:
            if table.get(name):
                yield table[name]
