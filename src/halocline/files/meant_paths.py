"""Find the path that was meant by one that names nothing: in other words, the same name elsewhere, a name near it.

Only names in the workspace that its host lists are ever said, so none that is hidden.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath

from halocline.ports.host import Files, Search
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later

MOST_NAMES = 10_000
"""Names of a workspace that are compared."""
MOST_MEANT = 3
NEAR, VERY_NEAR = 0.6, 0.8
"""Ratios of `difflib` from which a name is near one of the same folder, and one of any folder."""
_AROUND = " \t\r\n'\"`<>"
_URL = compile_later(r"file:(//[^/]*)?")
_IN_FRONT = compile_later(r"@|[A-Za-z]:(?=[\\/])")
_LINES = compile_later(r"(:\d+([-:]\d+)?|#L?\d+([-:]L?\d+)?)$")


async def find_meant(text: str, workspace: Path, files: Files, search: Search) -> list[str]:
    """Return paths in the workspace that may have been meant, best first; at most three, none if it is gone."""
    try:
        return await _find_meant(_split_plainly(text), workspace, files, search)
    except (OSError, ToolFailure):
        return []


async def _find_meant(parts: list[str], workspace: Path, files: Files, search: Search) -> list[str]:
    above = workspace.parts[1:]
    if tuple(parts[: len(above)]) == above:
        parts = parts[len(above) :]
    tails = await files.present(workspace, ["/".join(parts[at:]) for at in range(len(parts))])
    if tails and ("/" in tails[0] or len(parts) == 1):
        return tails[:1]
    found, _ = await search.files(workspace, MOST_NAMES)
    folders = {f"{folder}" for file in found for folder in PurePosixPath(file).parents if folder.name}
    meant = dict.fromkeys((*tails[:1], *_rank(parts, sorted({*found, *folders}))))
    return await files.present(workspace, [*meant][:MOST_MEANT])


def _split_plainly(text: str) -> list[str]:
    """Split a path into its names, without what other systems, links and quotes put around it."""
    plain = text.strip(_AROUND)
    if url := _URL.match(plain):
        from urllib.parse import unquote  # only needed for a wrong path

        plain = unquote(plain[url.end() :])
    plain = _LINES.sub("", _IN_FRONT.sub("", plain, count=1).strip(_AROUND))
    return [part for part in re.split(r"[/\\]+", plain) if part not in ("", ".", "..", "~")]


def _rank(parts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names that end as a path does but for case, or else those near it in its folder, or in any."""
    if not parts:
        return []
    asked = [part.casefold() for part in parts]
    split = {name: name.casefold().split("/") for name in names}
    if same := [one for one in names if split[one][-1] == asked[-1]]:
        return sorted(same, key=lambda one: (-_count_shared(split[one], asked), len(split[one])))
    beside = [one for one in names if split[one][:-1] == asked[:-1]]
    return find_near(parts[-1], beside) or find_near(parts[-1], names, VERY_NEAR)


def find_near(name: str, paths: Sequence[str], ratio: float = NEAR) -> list[str]:
    """Return the paths whose last names are near a name, best first; at most three."""
    from difflib import get_close_matches  # heavy, and only needed for a wrong name

    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(PurePosixPath(path).name.casefold(), []).append(path)
    near = get_close_matches(name.casefold(), by_name, MOST_MEANT, ratio)
    return [path for one in near for path in by_name[one]][:MOST_MEANT]


def _count_shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the last parts that two paths share."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
