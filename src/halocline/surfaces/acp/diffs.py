"""Unified diffs as the pairs of old and new text that ACP shows."""

from collections.abc import Iterator


def split_hunks(diff: str) -> Iterator[tuple[str | None, str]]:
    """Yield the old and the new text of each hunk, with their context. The old text of a new file is None."""
    head, *hunks = _cut_at_hunks(diff)
    is_new = any(line.startswith("--- /dev/null") for line in head)
    for hunk in hunks:
        yield (None if is_new else _join_side(hunk, "-")), _join_side(hunk, "+")


def _cut_at_hunks(diff: str) -> list[list[str]]:
    """Return the lines before the first hunk, then those of each hunk."""
    parts: list[list[str]] = [[]]
    for line in diff.splitlines(keepends=True):
        if line.startswith("@@"):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _join_side(hunk: list[str], sign: str) -> str:
    """Join the lines of one side. `\\ No newline at end of file` is about the line before it."""
    found: list[str] = []
    is_of_side = False
    for line in hunk:
        if line.startswith("\\"):
            if is_of_side:
                found[-1] = found[-1].removesuffix("\n")
            continue
        is_of_side = line[:1] in (sign, " ")
        if is_of_side:
            found.append(line[1:])
    return "".join(found)
