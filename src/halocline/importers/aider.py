"""aider's history: `.aider.chat.history.md` in a project, with all of its chats in one file.

Lines with four `#` are the user's, quoted lines the program's, the rest the model's. Tool calls are not recorded. aider
(0.86, `io.py`) writes an empty line before each prompt and none in it, and ends each line of the user and of its own
with two spaces, which tells them from headings and quotations of the model; editors may have removed these.
"""

import re
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from pathlib import Path

from halocline.files.regular import open_regular
from halocline.importers.transcript import (
    Entry,
    FoundTranscript,
    Ground,
    Prompt,
    Reply,
    first_line,
    parse_time,
    stamp_files,
)
from halocline.protocol.messages import Text, Usage

TOOL = "aider"
TITLE = "aider"
NAME = ".aider.chat.history.md"
_HEAD = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_MODEL = re.compile(r"> (?:Main model|Model): (\S+)")
_PERSON = "#### "
_BLANK = "<blank>"
"""What aider writes for a prompt without text."""
_END = "  "
_TOKENS = re.compile(r"> Tokens: (.*?)\.(?=\s|$)(?: Cost: \$([\d.,]*\d) message)?")
_COUNT = re.compile(r"([\d.,]*\d)(k?) (sent|cache write|cache hit|received)")
_TALK = re.compile(r"/(?:ask|architect|code|context|help)\s")
"""Commands that the model answers; all others are aider's own."""


def find_transcripts(home: Path, env: Mapping[str, str]) -> Iterator[FoundTranscript]:
    """Yield the chats of this folder and of the home folder; aider stores its history in the project."""
    for folder in dict.fromkeys((Path(env.get("PWD") or "."), home)):
        yield from open_transcripts(folder / NAME)


def open_transcripts(path: Path) -> Iterator[FoundTranscript]:
    """Yield the chats of a file, or of the history file in a folder."""
    file = path / NAME if path.is_dir() else path
    if not file.is_file() or file.suffix != ".md":
        return
    _, changed, _ = stamp_files(file)
    chats = list(_split_chats(file))
    for number, (started, lines) in enumerate(chats, start=1):
        text = "\n".join(lines)
        model = next((found[1] for line in lines if (found := _MODEL.match(line))), "")
        if title := next((words for person, words, _ in _list_talk(lines) if person), ""):
            yield FoundTranscript(
                tool=TOOL,
                id=f"{file.parent.absolute()}#{number}",
                path=str(file),
                title=first_line(title),
                started=started or changed,
                changed=changed if number == len(chats) else started,
                size=len(text.encode()),
                stamp=str(len(text)),
                workspace=str(file.parent.absolute()),
                model=model,
            )


def read_entries(found: FoundTranscript, ground: Ground) -> Iterator[Entry]:
    """Yield the conversation of one chat in the file."""
    number = int(found.id.rpartition("#")[2])
    for count, (started, lines) in enumerate(_split_chats(Path(found.path)), start=1):
        if count == number:
            yield from _split_talk(lines, started, ground)


def _split_talk(lines: list[str], at: float, ground: Ground) -> Iterator[Entry]:
    for person, words, told in _list_talk(lines):
        part = (Text(ground.text(words)),)
        yield Prompt(part, at) if person else Reply(part, at, usage=_read_usage(told), cost=_read_cost(told))


def _list_talk(lines: list[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield prompts and replies, without what was for aider itself."""
    for person, text, told in _join_runs(lines):
        words = text.strip()
        is_program = words == _BLANK or (words.startswith("/") and not _TALK.match(words))
        if words and not (person and is_program):
            yield person, words, told


def _join_runs(lines: list[str]) -> Iterator[tuple[bool, str, str]]:
    """Join the lines of each prompt and of each reply, with the program's line about tokens behind them.

    Lines of the program are left out. Any other line ends a prompt, which may have been a command; a reply continues.
    """
    end = _END if any(line.startswith(_PERSON) and line.endswith(_END) for line in lines) else ""
    run: list[str] = []
    who, told = True, ""
    for line in lines:
        person = line.startswith(_PERSON.rstrip()) and line[4:5] in ("", " ") and line.endswith(end)
        if run and person != who:
            yield who, "\n".join(run), told
            run, told = [], ""
        if line.startswith(">") and line[1:2] in ("", " ") and line.endswith(end):
            told = line if _TOKENS.match(line) else told
            continue
        who = person
        run += [line[len(_PERSON) :].removesuffix(_END) if person else line] if person or run or line.strip() else []
    yield who, "\n".join(run), told


def _read_usage(told: str) -> Usage | None:
    """Read the counts that aider prints after a reply, rounded; what it sent includes the cache."""
    if not (line := _TOKENS.match(told)):
        return None
    count = {name: _read_number(number) * (1000 if k else 1) for number, k, name in _COUNT.findall(line[1])}
    read, written = round(count.get("cache hit", 0)), round(count.get("cache write", 0))
    sent = max(0, round(count.get("sent", 0)) - read - written)
    return Usage(sent, round(count.get("received", 0)), read, written)


def _read_cost(told: str) -> float | None:
    line = _TOKENS.match(told)
    return _read_number(line[2]) if line and line[2] else None


def _read_number(text: str) -> float:
    return float(text.replace(",", ""))


def _split_chats(file: Path) -> Iterator[tuple[float, list[str]]]:
    """Yield the start time and lines of each chat."""
    started = 0.0
    lines: list[str] = []
    try:
        with TextIOWrapper(open_regular(file), encoding="utf-8", errors="replace") as handle:
            for line in handle:
                if head := _HEAD.match(line):
                    if any(each.strip() for each in lines):
                        yield started, lines
                    started, lines = parse_time(head[1]), []
                else:
                    lines.append(line.rstrip("\n"))
    except OSError:
        return
    yield started, lines
