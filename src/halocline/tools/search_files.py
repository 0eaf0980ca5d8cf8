"""search_files: lines that match a regular expression, grouped by file, most relevant files first, bounded."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from halocline.context.budget import LISTING, MATCHES, fit_lines
from halocline.files.patterns import names_one, split_patterns
from halocline.policy.sensitive_names import is_secret
from halocline.ports.host import LeftOut, Match, SearchQuery, SearchResult
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import ToolKind
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value
from halocline.tools.left_out import list_unseen, say_absent
from halocline.tools.places import find_existing, shown_path
from halocline.tools.schema import define_tool

LIMIT = 300
_LOOKED_AT = 3_000
_COUNTED = 50_000
_SHARE = 10
_MOST_AROUND = 20
_MODIFIERS = (
    r"(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|async|abstract|final|sealed|inline"
    r"|unsafe|extern|open|override|virtual|declare|readonly)\s+)*"
)
_DEFINES = (
    rf"\s*{_MODIFIERS}(?:(?:def|class|function\*?|func|fn|fun|struct|enum|trait|interface|type|impl|module|namespace"
    r"|object|record|protocol|extension|macro_rules!|const|let|var|val|CREATE\s+TABLE|#\s*define|resource)\s)"
)
_TESTS = frozenset(
    {"test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures", "snapshots", "__snapshots__"}
)
_FOREIGN = frozenset({"vendor", "vendored", "third_party", "thirdparty", "external", "node_modules"})
_MADE = frozenset({"dist", "build", "out", "target", "generated", "gen", "migrations", "locale", "locales", "i18n"})
_LATER_FOLDERS = _TESTS | _FOREIGN | _MADE
_LATER_NAMES = compile_later(
    r"test_.*|.*[_.-](?:test|tests|spec)\.\w+|.*Tests?\.(?:java|kt|cs|swift)|conftest\.py|.*\.min\.\w+"
    r"|.*\.(?:lock|snap|map|svg|csv)|package-lock\.json|pnpm-lock\.yaml|go\.sum|.*_pb2\.pyi?|.*\.pb\.go"
    r"|CHANGE(?:LOG|S).*",
    re.IGNORECASE,
)
_WORD = r"[A-Za-z_]{3,}"


class Found(Value, frozen=True):
    """Matches of a search in one file, by line."""

    path: str
    lines: tuple[Match, ...]

    @property
    def matches(self) -> int:
        return sum(line.is_match for line in self.lines)


def rank_files(matches: Iterable[Match], regex: str, root: str) -> list[Found]:
    """Return the files, first those that define the match, are named after it, or contain it often.

    Tests, vendored code and generated files come last. `matches` come file by file; `root` is the folder searched.
    """
    words = frozenset(word.lower().strip("_") for word in re.findall(_WORD, regex))
    found = [Found(path, tuple(lines)) for path, lines in groupby(matches, key=lambda match: match.path)]
    return sorted(found, key=lambda one: _rank_key(one, words, root))


def _rank_key(one: Found, words: frozenset[str], root: str) -> tuple[bool, bool, bool, int, int, str]:
    parts = PurePath(one.path.removeprefix(root).lstrip("/")).parts
    defines = any(line.is_match and re.match(_DEFINES, line.text) for line in one.lines)
    named = PurePath(one.path).stem.lower().strip("_") in words
    return (_is_later(parts), not defines, not named, -one.matches.bit_length(), len(parts), one.path)


def _is_later(parts: Sequence[str]) -> bool:
    return bool(parts) and (
        not _LATER_FOLDERS.isdisjoint(part.lower() for part in parts[:-1]) or bool(_LATER_NAMES.fullmatch(parts[-1]))
    )


def share_matches(found: Sequence[Found], most: int, least: int) -> list[Found]:
    """Limit the files to `most` matches in total; if that is not all, none takes more than an equal share.

    A share is never below `least`.
    """
    if sum(one.matches for one in found) <= most:
        return list(found)
    share = max(least, most // len(found))
    kept: list[Found] = []
    for one in found:
        if most <= 0:
            break
        kept.append(_first_matches(one, min(share, most) if len(found) > 1 else most))
        most -= kept[-1].matches
    return kept


def _first_matches(one: Found, most: int) -> Found:
    """Return the file with its first matches and the lines around them."""
    seen = 0
    for at, line in enumerate(one.lines):
        seen += line.is_match
        if seen > most:
            return Found(one.path, one.lines[:at])
    return one


class Input(msgspec.Struct):
    regex: Annotated[str, Meta(description="Regular expression, Rust syntax; `(?i)` ignores case.")]
    path: Annotated[str, Meta(description="Folder or file to search.")] = "."
    file_pattern: Annotated[str | None, Meta(description="Only files like `*.ts,src/**`.")] = None
    context: Annotated[int, Meta(description="Lines around it.")] = 1
    show: Annotated[Literal["lines", "files", "counts"], Meta(description="What to return.")] = "lines"


def summary(input: Input) -> Summary:
    where = f"{input.path} ({input.file_pattern})" if input.file_pattern else input.path
    paths = (input.path, *_secrets_named(input))
    return Summary(title=f"Search {where} for {input.regex}", kind=ToolKind.SEARCH, paths=paths)


def _secrets_named(input: Input) -> tuple[str, ...]:
    """Return the paths of files that the pattern names and that may hold secrets: the gate judges them as paths."""
    try:
        names = [name.removeprefix("**/") for name in split_patterns(input.file_pattern or "")]
    except ValueError:  # the search refuses them
        return ()
    named = [name for name in names if names_one(name) and is_secret(os.path.basename(name))]
    return tuple(os.path.join(input.path, name.lstrip("/")) for name in named)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    path, _ = await find_existing(input.path, ctx)
    result = await _search_places(path, input, ctx)
    if not result.matches:
        return ToolOutput.of(say_absent(f"no match in {_describe_place(path, ctx)}", result.left_out))
    found = rank_files(result.matches, input.regex, str(path))
    total = sum(one.matches for one in found)
    shared = share_matches(found, LIMIT, _SHARE) if input.show == "lines" else found
    lines = list((_result_lines if input.show == "lines" else partial(_file_lines, input.show))(shared, ctx))
    fitted = fit_lines((text for text, _ in lines), MATCHES if input.show == "lines" else LISTING)
    seen = sum(matches for _, matches in lines[: len(fitted.lines)])
    if seen == total and not result.cut:
        return ToolOutput.of("\n".join([*fitted.lines, *list_unseen(result.left_out)]))
    seen, total = (seen, total) if input.show == "lines" else (len(fitted.lines), len(lines))
    what = "matches" if input.show == "lines" else "files"
    of = f"more than {total:,}" if result.cut else f"{total:,}"
    footer = f"[{seen:,} of {of} {what}, most relevant files first; narrow regex, path or file_pattern]"
    if result.cut and input.show == "counts":
        footer = f"[counting ended at {_COUNTED:,} matches: there are more, in these or other files; narrow the search]"
    return ToolOutput.of("\n".join([*fitted.lines, footer, *list_unseen(result.left_out)]))


async def _search_places(path: Path, input: Input, ctx: ToolContext) -> SearchResult:
    """Search the given folder; for the workspace, all folders of the task."""
    context, limit = (min(max(0, input.context), _MOST_AROUND), _LOOKED_AT) if input.show == "lines" else (0, _COUNTED)
    roots = _search_roots(path, ctx)
    queries = [SearchQuery(str(root), input.regex, input.file_pattern or "", context, limit) for root in roots]
    found = await asyncio.gather(*map(ctx.host.search.search, queries))
    left_out = sum((one.left_out for one in found), LeftOut())
    return SearchResult(tuple(match for one in found for match in one.matches), any(one.cut for one in found), left_out)


def _search_roots(path: Path, ctx: ToolContext) -> tuple[Path, ...]:
    return (path, *ctx.task.roots) if path == ctx.workspace else (path,)


def _describe_place(path: Path, ctx: ToolContext) -> str:
    return ", ".join(shown_path(place, ctx) for place in _search_roots(path, ctx))


def _file_lines(show: str, found: Sequence[Found], ctx: ToolContext) -> Iterator[tuple[str, int]]:
    for one in found:
        name = make_printable(shown_path(Path(one.path), ctx))
        yield f"{name}: {one.matches:,}" if show == "counts" else name, one.matches


def _result_lines(found: Sequence[Found], ctx: ToolContext) -> Iterator[tuple[str, int]]:
    """Yield each file's name, then its lines: `12: ` for a match, `12- ` for context, `--` for a gap."""
    for one in found:
        yield make_printable(shown_path(Path(one.path), ctx)), 0
        previous = None
        for line in one.lines:
            if previous is not None and line.line > previous + 1:
                yield "--", 0
            yield f"{line.line}{':' if line.is_match else '-'} {line.text}", int(line.is_match)
            previous = line.line


DESCRIPTION = "Search file contents, also over lines. Prefer it to grep; it skips ignored and secret files."
TOOL = define_tool("search_files", DESCRIPTION, ToolKind.SEARCH, Input, summary, run)
