"""aider's history: `.aider.chat.history.md` in a project, with all of its chats in one file.

Lines with four `#` are the user's, quoted lines the program's, the rest the model's. Tool calls are not recorded.
"""

import re
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from pathlib import Path

from halocline.files.regular import open_regular
from halocline.importers.transcript import (
    FoundTranscript,
    Ground,
    Prompt,
    Reply,
    Said,
    first_line,
    parse_time,
    stamp_files,
)
from halocline.protocol.messages import Text

TOOL = "aider"
TITLE = "aider"
NAME = ".aider.chat.history.md"
_HEAD = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_MODEL = re.compile(r"> (?:Main model|Model): (\S+)")
_PERSON, _PROGRAM = "#### ", ">"


def found(home: Path, env: Mapping[str, str]) -> Iterator[FoundTranscript]:
    """Yield the chats of this folder and of the home folder; aider stores its history in the project."""
    for folder in dict.fromkeys((Path(env.get("PWD") or "."), home)):
        yield from found_at(folder / NAME)


def found_at(path: Path) -> Iterator[FoundTranscript]:
    """Yield the chats of a file, or of the history file in a folder."""
    file = path / NAME if path.is_dir() else path
    if not file.is_file() or file.suffix != ".md":
        return
    _, changed, _ = stamp_files(file)
    chats = list(_split_chats(file))
    for number, (started, lines) in enumerate(chats, start=1):
        text = "\n".join(lines)
        model = next((found[1] for line in lines if (found := _MODEL.match(line))), "")
        prompts = (line.removeprefix(_PERSON) for line in lines if line.startswith(_PERSON))
        if title := next(prompts, ""):
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


def said(found: FoundTranscript, ground: Ground) -> Iterator[Said]:
    """Yield the conversation of one chat in the file."""
    number = int(found.id.rpartition("#")[2])
    for count, (started, lines) in enumerate(_split_chats(Path(found.path)), start=1):
        if count == number:
            yield from _split_talk(lines, started, ground)


def _split_talk(lines: list[str], at: float, ground: Ground) -> Iterator[Said]:
    for person, text in _join_runs(lines):
        if not text.strip():
            continue
        part = (Text(ground.text(text.strip())),)
        yield Prompt(part, at) if person else Reply(part, at)


def _join_runs(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Join adjacent lines of the same speaker, skipping the program's."""
    run: list[str] = []
    who = True
    for line in lines:
        if line.startswith(_PROGRAM):
            continue
        person = line.startswith(_PERSON) or (line.strip() == "####")
        if person != who and (person or line.strip()):
            yield who, "\n".join(run)
            run, who = [], person
        run.append(line.removeprefix(_PERSON) if person else line)
    yield who, "\n".join(run)


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
