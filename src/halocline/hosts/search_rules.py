"""Which files a search looks at, as one list in `.gitignore` syntax: patterns, installed code, and ignore files above.

What must stay true: a pattern only narrows. It never shows what an ignore file leaves out, unless it names one file.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from halocline.files.blocking import list_above
from halocline.files.patterns import find_match, keep_valid, matches_any, names_one, split_patterns
from halocline.files.regular import read_regular
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

Parts: TypeAlias = tuple[str, ...]

_UNSEARCHED = Path(__file__).with_name("unsearched.txt")
_LISTS = (".git/info/exclude", ".gitignore", ".ignore", ".rgignore")
_BRACES = compile_later(r"(?<!\\)[{}]")
_MOST_PLACES = 4
_NEVER = "--glob=!.{git,hg,svn,jj,bzr}"


class Rules(Value, frozen=True):
    """Rules for one search. `patterns` are those for files, `lines` what is ignored, first the weakest."""

    patterns: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def names_one(self) -> bool:
        """True if the patterns are names of files, which are searched even if an ignore file leaves them out."""
        return bool(self.patterns) and all(map(names_one, self.patterns))

    def fits(self, name: str) -> bool:
        """Return True if a file fits the patterns."""
        wanted = any(one[0] != "!" for one in self.patterns)
        return not self.patterns or find_match((*(() if wanted else ("*",)), *self.patterns), name) is True

    @property
    def options(self) -> tuple[str, ...]:
        """The patterns for ripgrep, if a name among them is to be found whatever ignores it."""
        return (*(f"--glob={one}" for one in self.patterns if self.names_one), _NEVER)

    @property
    def text(self) -> str:
        """The content of an ignore file."""
        wanted = [line for one in self.patterns if one[0] != "!" for line in (f"!{one}", _below(one))]
        unwanted = [one[1:] for one in self.patterns if one[0] == "!"]
        narrowed = () if self.names_one or not wanted else ("*", "!*/", *wanted)
        return "\n".join([*narrowed, *unwanted, *self.lines, ""])


def build_rules(place: str, root: str, glob: str, *, all: bool = False) -> Rules:
    """Build the rules for a folder; `root` is the opened folder that it is in, if any. `all`: nothing is ignored."""
    patterns = _read_patterns(glob, place)
    if all:
        return Rules(patterns)
    named = {part for one in patterns for part in one.split("/")}
    installed = [line for line in _read_lines(str(_UNSEARCHED)) if line.rstrip("/") not in named]
    return Rules(patterns, (*installed, *_list_above(place, root)))


def _read_patterns(glob: str, place: str) -> tuple[str, ...]:
    """Return the patterns for files in a folder. Raises ToolFailure if one says nothing."""
    try:
        placed = dict.fromkeys(fit for one in split_patterns(glob) for fit in _place_pattern(one, place))
    except ValueError as error:
        raise ToolFailure(f"The pattern cannot be used: {error}. Write fewer.") from None
    patterns = dict.fromkeys(fit for one in placed for fit in _write_literally(one, place))
    valid = keep_valid(tuple(patterns))
    if glob and not any(one in valid for one in patterns):
        raise ToolFailure(f"{glob!r} is no pattern for files. Write one like `*.ts` or `src/**`.")
    return valid


def _write_literally(pattern: str, place: str) -> Iterator[str]:
    """Yield a pattern as it works: a folder with all that is in it; brackets also as they stand, as in `[id].ts`."""
    if os.path.isdir(f"{place}/{pattern}"):
        yield f"{_escape(pattern.rstrip('/'))}/**"
        return
    sign = "!" if pattern[0] == "!" else ""
    yield _BRACES.sub(r"\\\g<0>", pattern)
    if (literal := sign + _escape(pattern[len(sign) :], keeping="*?")) != pattern:
        yield literal


def _escape(pattern: str, keeping: str = "") -> str:
    return re.sub(r"[*?\[\]{}\\]", lambda found: found[0] if found[0] in keeping else f"\\{found[0]}", pattern)


def find_places(ignored: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the outermost folders, or files, that hold nothing but what is ignored; those with most of it first."""
    shown = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    counts = Counter(_outermost(name, shown) for name in ignored)
    return tuple(sorted(counts, key=lambda place: (-counts[place], place)))[:_MOST_PLACES]


def _outermost(name: str, shown: set[str]) -> str:
    folders = (str(folder) for folder in reversed(PurePosixPath(name).parents) if folder.name)
    return next((f"{folder}/" for folder in folders if folder not in shown), name)


def _below(pattern: str) -> str:
    """Return the line for all that is in folders that fit a pattern."""
    inside = pattern.rstrip("/")
    return f"!{inside}/**" if "/" in inside else f"!**/{inside}/**"


def _place_pattern(pattern: str, place: str) -> Iterator[str]:
    """Yield a pattern, and what is left of it if it begins with the folder that is searched."""
    sign = "!" if pattern[0] == "!" else ""
    inside = pattern[len(sign) :].removeprefix(f"{place}/")
    yield sign + inside
    parts, above = tuple(inside.strip("/").split("/")), tuple(place.split("/"))
    for size in range(1, min(len(parts), len(above))):
        if parts[:size] == above[-size:]:
            yield f"{sign}/{'/'.join(parts[size:])}"


def _list_above(place: str, root: str) -> list[str]:
    """List what ignore files above a folder say of what is in it.

    They count as far up as its repository or the opened folder goes, but none that would hide the folder itself, and
    none above that one: the folder was named.
    """
    above = [one for one in list_above(place) if one != "/"]
    tops = [one for one in (place, *above) if os.path.lexists(f"{one}/.git")][:1]
    tops += [root] if root in above else []
    top = min(tops, key=len, default=place)
    kept: list[list[str]] = []
    for folder in (one for one in above if len(one) >= len(top)):
        lines = [line for name in _LISTS for line in _read_lines(f"{folder}/{name}")]
        if _hides(keep_valid(tuple(lines)), place[len(folder) + 1 :]):
            break
        kept.append([said for line in lines for said in _say_below(line, tuple(place[len(folder) + 1 :].split("/")))])
    return [line for lines in reversed(kept) for line in lines]


def _hides(lines: tuple[str, ...], folder: str) -> bool:
    """True if ignore lines hide a folder or all that is in it."""
    parts = folder.split("/")
    if any(_says_last(lines, f"{'/'.join(parts[: at + 1])}/") for at in range(len(parts))):
        return True
    return matches_any(lines, f"{folder}/any name") and not any(line[0] == "!" for line in lines)


def _says_last(lines: tuple[str, ...], folder: str) -> bool | None:
    """Return what the last line that matches a folder says: one for all files may come before one for all folders."""
    return next((said for line in reversed(lines) if (said := find_match((line,), folder)) is not None), None)


def _say_below(line: str, folder: Parts) -> list[str]:
    """Return an ignore line as it would stand in a folder below: `src/*.log` is `/*.log` in `src`."""
    sign = "!" if line[0] == "!" else ""
    pattern = line[len(sign) :]
    if "/" not in pattern.rstrip("/"):
        return [line]
    end = "/" if pattern[-1:] == "/" else ""
    return [f"{sign}/{'/'.join(rest)}{end}" for rest in _rests(tuple(pattern.strip("/").split("/")), folder) if rest]


def _rests(pattern: Parts, folder: Parts) -> set[Parts]:
    """Return what is left of a pattern once it has matched a folder."""
    places = _skip_any({0}, pattern)
    for name in folder:
        stay = {at for at in places if pattern[at : at + 1] == ("**",)}
        fitting = {at for at in places - stay if at < len(pattern) and fnmatchcase(name, pattern[at])}
        places = _skip_any(stay | {at + 1 for at in fitting}, pattern)
    return {pattern[at:] for at in places}


def _skip_any(places: set[int], pattern: Parts) -> set[int]:
    """Add what follows each `**`, which may stand for no folder."""
    for at, part in enumerate(pattern):
        if part == "**" and at in places:
            places = places | {at + 1}
    return places


def _read_lines(path: str) -> list[str]:
    """Read the lines of an ignore file; none if it is no file that can be read."""
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except OSError:
        return []
    lines = (_trim_line(line) for line in text.removeprefix("\ufeff").split("\n"))
    return [line for line in lines if line.strip("!") and not line.startswith("#")]


def _trim_line(line: str) -> str:
    """Cut the blanks at the end, but for one that is escaped."""
    bare = line.rstrip()
    slashes = len(bare) - len(bare.rstrip("\\"))
    return f"{bare} " if slashes % 2 and line[len(bare) : len(bare) + 1] == " " else bare
