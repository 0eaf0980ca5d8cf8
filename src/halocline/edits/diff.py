"""Make unified diffs for display: counts are exact, the text is bounded."""

from collections.abc import Iterator

from halocline.edits.alignment import Opcode, list_opcodes
from halocline.protocol.kinds import Diff

_CONTEXT = 3


def make_diff(path: str, before: str | None, after: str | None, limit: int = 30_000) -> Diff:
    """Return the diff from `before` to `after` (None: no such file), cut after about `limit` characters."""
    old, new = _split_lines(before or ""), _split_lines(after or "")
    body: list[str] = []
    added = removed = 0
    for hunk in _group_hunks(list_opcodes(old, new)):
        for line in _hunk_lines(hunk, old, new):
            added += line.startswith("+")
            removed += line.startswith("-")
            body.append(line)
    head = [f"--- {_header_name('a', path, before)}\n", f"+++ {_header_name('b', path, after)}\n"]
    return Diff(path, _bound_lines(head + body, limit) if body else "", added, removed)


def make_binary_diff(path: str, before: bytes | None, after: bytes | None) -> Diff:
    """Return what can be said of a change that is not one of text; nothing if there is none."""
    sizes = ("no file" if side is None else f"{len(side):,} bytes" for side in (before, after))
    return Diff(path, f"Binary file {path}: {', now '.join(sizes)}\n" if before != after else "")


def _header_name(side: str, path: str, content: str | None) -> str:
    return "/dev/null" if content is None else f"{side}/{path}"


def _split_lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    last = lines.pop()
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _group_hunks(opcodes: list[Opcode]) -> Iterator[list[Opcode]]:
    """Yield groups of nearby changes with the lines around them."""
    hunk: list[Opcode] = []
    for tag, a, b, c, d in opcodes:
        if tag != "equal":
            hunk.append((tag, a, b, c, d))
            continue
        if any(code[0] != "equal" for code in hunk) and b - a > 2 * _CONTEXT:
            yield [*hunk, (tag, a, a + _CONTEXT, c, c + _CONTEXT)]
            hunk = []
        skipped = 0 if hunk else max(b - a - _CONTEXT, 0)
        hunk.append((tag, a + skipped, b, c + skipped, d))
    if any(code[0] != "equal" for code in hunk):
        tag, a, b, c, d = hunk.pop()
        keep = min(b - a, _CONTEXT)
        yield [*hunk, (tag, a, a + keep, c, c + keep) if tag == "equal" else (tag, a, b, c, d)]


def _hunk_lines(hunk: list[Opcode], old: list[str], new: list[str]) -> Iterator[str]:
    yield f"@@ -{_format_span(hunk[0][1], hunk[-1][2])} +{_format_span(hunk[0][3], hunk[-1][4])} @@\n"
    for tag, a, b, c, d in hunk:
        if tag == "equal":
            yield from (f" {line}\n" for line in old[a:b])
        else:
            yield from (f"-{line}\n" for line in old[a:b])
            yield from (f"+{line}\n" for line in new[c:d])


def _format_span(start: int, end: int) -> str:
    """Format a range as unified diffs do: from 1, without a length of one, an empty one before its place."""
    length = end - start
    return str(start + 1) if length == 1 else f"{start + (length > 0)},{length}"


def _bound_lines(lines: list[str], limit: int) -> str:
    size = 0
    for i, line in enumerate(lines):
        size += len(line)
        if size > limit:
            return "".join(lines[:i]) + f"… {len(lines) - i} more lines of this diff are not shown\n"
    return "".join(lines)
