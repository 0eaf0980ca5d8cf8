"""Finds `@` mentions in the user's text. Pure, linear time, never fails.

A mention starts at an `@` that does not continue a word, path or URL, outside of code between backticks. Only a lookup
shows whether a path or commit exists: `@property` in prose finds nothing and is then ignored. `\\@` is a literal at
sign.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from halocline.protocol.values import Value

LONGEST = 1_000
"""Maximum characters of a mentioned path."""
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters of scripts written without spaces between words."""
_MENTION = re.compile(
    rf"""(?<![^\W{_CJK}])(?<![@./\\`-])@(?:
      "(?P<quoted>[^"\n]{{1,{LONGEST}}})"(?P<range>:\d{{1,7}}(?:-\d{{1,7}})?)?
    | (?P<url>https?://[^\s<>"`，。；！？、）】」]{{1,2000}})
    | (?P<plain>(?:\\.|[^\s"'`<>|\\，。；：！？、）】」]){{1,{LONGEST}}})
    )""",
    re.VERBOSE,
)
_AT = re.compile(r"(?<![A-Za-z0-9_.\\])@")
_RANGE = re.compile(r":(\d{1,7})(?:-(\d{1,7}))?$")
_HASH = re.compile(r"[0-9a-f]{7,40}")
_ESCAPED = re.compile(r"\\(.)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_AFTER = ".,;:!?…*'"
_PAIRS = {")": "(", "]": "[", "}": "{"}


class Kind(StrEnum):
    """Kind of the target of a mention. A `COMMIT` may turn out to be a path."""

    PATH = "path"
    URL = "url"
    COMMIT = "commit"
    TASK = "task"
    SYMBOL = "symbol"
    PROBLEMS = "problems"
    TERMINAL = "terminal"
    CHANGES = "git-changes"


WORDS = {Kind.PROBLEMS.value: Kind.PROBLEMS, Kind.TERMINAL.value: Kind.TERMINAL, Kind.CHANGES.value: Kind.CHANGES}
"""Mentions that are a fixed word."""
PREFIXED = (Kind.TASK, Kind.SYMBOL)
"""Mentions of the form `@task:NAME`."""


class Mention(Value, frozen=True):
    """`text` is as typed, with the `@`; `target` is what it names. Lines are 1-based.

    `whole` is the target including a suffix that may be a line range or part of the file name. `meant`: the form shows
    that a path is meant, so a missing one is an error and not prose.
    """

    kind: Kind
    text: str
    target: str = ""
    first: int | None = None
    last: int | None = None
    whole: str = ""
    meant: bool = False


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Return the mentions in a text, in order, each once."""
    if "@" not in text:
        return ()
    seen = (_parse_mention(match) for match in _MENTION.finditer(_without_code(text)))
    return tuple(dict.fromkeys(mention for mention in seen if mention))


def escape_mentions(text: str) -> str:
    """Escape mentions, for text that the user did not write."""
    return _AT.sub(r"\\@", text) if find_mentions(text) else text


def format_mention(path: str) -> str:
    """Write a path as a mention, in quotes if needed."""
    (one,) = find_mentions(f"@{path}") or (None,)
    plain = one is not None and one.text == f"@{path}" and one.target == path and one.kind is Kind.PATH
    return f"@{path}" if plain or '"' in path else f'@"{path}"'


def _parse_mention(match: re.Match[str]) -> Mention | None:
    if url := match["url"]:
        url = _trim_punctuation(url)
        return Mention(Kind.URL, f"@{url}", url) if len(url) > len("https://") else None
    if quoted := match["quoted"]:
        return _parse_path(match[0], quoted + (match["range"] or ""), meant=True)
    plain = _trim_punctuation(match["plain"])
    if not plain:
        return None
    if plain in WORDS:
        return Mention(WORDS[plain], f"@{plain}")
    prefix, colon, name = plain.partition(":")
    if colon and name and prefix in PREFIXED:
        return Mention(Kind(prefix), f"@{plain}", name)
    if _HASH.fullmatch(plain):
        return Mention(Kind.COMMIT, f"@{plain}", plain)
    return _parse_path(f"@{plain}", _ESCAPED.sub(r"\1", plain), meant=plain.startswith(("/", "./", "../", "~/")))


def _parse_path(text: str, target: str, *, meant: bool) -> Mention:
    if not (lines := _RANGE.search(target)) or not lines.start():
        return Mention(Kind.PATH, text, target, meant=meant)
    first, last = int(lines[1]), int(lines[2] or lines[1])
    bare = target[: lines.start()]
    return Mention(Kind.PATH, text, bare, min(first, last) or 1, max(first, last) or 1, target, meant)


def _trim_punctuation(text: str) -> str:
    """Trim the punctuation of the surrounding sentence, and closing brackets that were not opened."""
    surplus = {close: text.count(close) - text.count(opening) for close, opening in _PAIRS.items()}
    end = len(text)
    while end and not _ends_a_name(text, end):
        last = text[end - 1]
        if last in _PAIRS and surplus[last] > 0:
            surplus[last] -= 1
        elif last not in _AFTER:
            break
        end -= 1
    return text[:end]


def _ends_a_name(text: str, end: int) -> bool:
    """True if the text up to `end` ends with an escaped character, or with a `..` folder."""
    return text[max(0, end - 2) : end - 1] == "\\" or text[max(0, end - 3) : end] in ("..", "/..")


def _without_code(text: str) -> str:
    """Replace code by backticks of the same length, so that offsets stay."""
    if "`" not in text and "~~~" not in text:
        return text
    return "".join(_lines_without_code(text.splitlines(keepends=True)))


def _lines_without_code(lines: list[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            yield _mask_line(line)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
            yield _mask_line(line)
        else:
            yield _without_spans(line)


def _mask_line(line: str) -> str:
    return "`" * len(line.rstrip("\r\n")) + "\n" * (len(line) - len(line.rstrip("\r\n")))


def _without_spans(line: str) -> str:
    """Mask code spans: a run of backticks opens one if another run of the same length follows."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(line)]
    closes: dict[int, int] = {}
    partner: list[int] = [-1] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        partner[at] = closes.get(length, -1)
        closes[length] = at
    pieces, done, at = [], 0, 0
    while at < len(runs):
        if partner[at] < 0:
            at += 1
            continue
        begin, end = runs[at][0], runs[partner[at]][1]
        pieces += [line[done:begin], "`" * (end - begin)]
        done, at = end, partner[at] + 1
    return "".join([*pieces, line[done:]])
