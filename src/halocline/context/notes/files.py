"""Notes on files that changed since the model saw them: their names and who changed them. No contents."""

from collections.abc import Iterable, Sequence

from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.messages import Note
from halocline.protocol.state.file_knowledge import MOST_NAMES, Known, list_names

SOURCE = "files"
_LONGEST_COMMAND = 80
RESTORED = "Changes taken back by the user, with /undo or another restore, since you last saw them"
ADVICE = "Read a file again before you edit it or rely on it."


def changed_files(files: Sequence[ChangedFile], known: Known, jobs: Sequence[str]) -> Note:
    """Build the note. `known` is what the model knew; `jobs` are running commands that may have changed the files."""
    room = MOST_NAMES
    lines: list[str] = []
    for by, restored in dict.fromkeys((file.by, file.restored) for file in files):
        names = [_name_file(file, known) for file in files if (file.by, file.restored) == (by, restored)]
        who = RESTORED if restored else _who_changed(by, jobs)
        lines.append(f"{who}: {list_names(names, room)}.")
        room = max(0, room - len(names))
    return Note("\n".join([*lines, ADVICE]), source=SOURCE)


def _who_changed(by: str, jobs: Iterable[str]) -> str:
    if by:
        return f"Changed while {_short_command(by)} ran"
    maybe = ", ".join(jobs)
    return f"Changed by the user or another program{f', or by {maybe},' if maybe else ''} since you last saw them"


def _name_file(file: ChangedFile, known: Known) -> str:
    if file.content is None:
        return f"{file.path} (deleted)"
    before = known.get(file.path)
    return f"{file.path} (new)" if before and before.content is None else file.path


def _short_command(command: str) -> str:
    line = " ".join(command.split())
    return f"`{line if len(line) <= _LONGEST_COMMAND else line[:_LONGEST_COMMAND] + '…'}`"
