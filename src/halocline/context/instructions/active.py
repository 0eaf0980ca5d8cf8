"""Rules for the model: which rules files apply now, why, and the text that the model reads.

What must stay true: a rule is sent once and applies for the rest of the task; changes on disk are sent with the next
prompt; no rule grants a permission, no matter who wrote it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from halocline.context.budget import RULES
from halocline.context.instructions.files import Reader, RuleFile
from halocline.context.instructions.front_matter import When
from halocline.context.instructions.globs import fitting_path
from halocline.context.instructions.touched_files import Touched, folders_of
from halocline.context.templates import read_template
from halocline.protocol.config_locations import NESTED_ROWS
from halocline.protocol.events.instructions import SOURCE, Beginning, InstructionFile, InstructionsLoaded
from halocline.protocol.messages import Note
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

ALWAYS, CHANGED, HELD = "always", "it changed", "it held before"
WHOSE = {"managed": "the administrator's", "person": "the user's", "project": "the project's"}
OFFERED = "\nThese rules apply when their subject comes up; read the file with read_file before you start on it:\n"
JOINS = "From now on, this rules file also applies; rules grant no permissions."
CHANGED_TEXT = "This rules file changed. The following replaces its previous content."
GONE = "These rules files no longer apply: {files}."


class Chosen(Value, frozen=True):
    """A file that applies, and why."""

    file: RuleFile
    why: str


def choose_files(
    files: Iterable[RuleFile], paths: Mapping[str, str], held: frozenset[str] = frozenset()
) -> list[Chosen]:
    """Return the files that apply to the touched paths; `held` are those that applied before."""
    found = []
    for file in files:
        if not file.inert and (why := _why_it_holds(file, paths, held)):
            found.append(Chosen(file, why))
    return found


def offered_files(files: Iterable[RuleFile]) -> tuple[RuleFile, ...]:
    """Return the files that the model reads when their subject comes up."""
    return tuple(file for file in files if not file.inert and file.rule.when is When.OFFERED)


def rules_section(found: Sequence[Chosen], further: Sequence[RuleFile] = ()) -> str:
    """Build the rules section of the system prompt; empty without rules."""
    if not (found or further):
        return ""
    lines = "".join(f"- {file.shown}: {file.rule.description}\n" for file in further)
    texts = "".join(f"\n{text}\n" for text in _bound_texts(found))
    head = read_template("rules")
    return head + texts + (OFFERED + lines if lines else "")


class FolderInstructions:
    """Implements `ports.instructions.Instructions` for one task: checks the files again with each prompt."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._files: tuple[RuleFile, ...] = ()
        self._nested: dict[str, tuple[RuleFile, ...]] = {}
        self._touched = Touched()

    def begins(self) -> Beginning:
        """Return the rules for a new task."""
        files = self._reader.all()
        found = choose_files(files, {})
        event = InstructionsLoaded(files=tuple(map(_describe_file, found))) if found else None
        remarks = tuple(f"The rules in {file.shown}: {remark}." for file in files for remark in file.remarks)
        return Beginning(rules_section(found, offered_files(files)), event, remarks)

    def collect_changes(self, state: State) -> InstructionsLoaded | None:
        """Return rules to send before the next request; usually None."""
        begins = state.turn is None or state.turn.steps == 0
        if begins:
            self._files, self._nested = self._reader.all(), {}
        paths = self._touched.of(state)
        before = {one.file.path: one.file.digest for one in state.prompt.instructions}
        files = (
            *self._files,
            *self._below((*folders_of(paths), *_folders_with_own(before, self._reader.roots.prefix))),
        )
        found = {one.file.shown: one for one in choose_files(files, paths, frozenset(before))}
        new = [one for name, one in found.items() if name not in before]
        if not begins:
            return _loaded_event(new, (), self._reader.roots.prefix)
        changed = [
            Chosen(one.file, CHANGED)
            for name, one in found.items()
            if name in before and before[name] != one.file.digest
        ]
        gone = [name for name in before if name not in found]
        return _loaded_event([*changed, *new], gone, self._reader.roots.prefix)

    def _below(self, folders: Iterable[str]) -> Iterator[RuleFile]:
        """Yield the files that apply only to these folders."""
        known = {file.shown for file in self._files}
        for folder in dict.fromkeys(folders):
            if folder not in self._nested:
                self._nested[folder] = self._reader.nested((folder,))
            yield from (file for file in self._nested[folder] if file.shown not in known)


def _why_it_holds(file: RuleFile, paths: Mapping[str, str], held: frozenset[str]) -> str:
    """Return why a file applies; empty if it does not."""
    if file.folder and file.rule.when in (When.ALWAYS, When.OFFERED):
        path = next((path for path in paths if path.startswith(f"{file.folder}/")), "")
    else:
        match file.rule.when:
            case When.ALWAYS:
                return ALWAYS
            case When.PATHS:
                path = fitting_path(file.rule.globs, paths)
            case When.NAMED | When.OFFERED:
                named = (file.shown, os.path.basename(file.shown))
                path = next((path for path in paths if path in named and paths[path] == "mentioned"), "")
            case When.NEVER:
                return ""
    if path:
        return f"{path} was {paths[path]}"
    return HELD if file.shown in held else ""


def _folders_with_own(names: Iterable[str], prefix: str) -> Iterator[str]:
    """Yield the folders whose own files applied before."""
    for name in (name.removeprefix(prefix) for name in names):
        for row in NESTED_ROWS:
            folder, found, _ = f"{name}/".rpartition(f"/{row.path}/")
            if folder and found and not name.startswith(("~", "/", "../")):
                yield folder


def _loaded_event(files: Sequence[Chosen], gone: Sequence[str], root: str) -> InstructionsLoaded | None:
    """Build the event, None if nothing changed. `root` is the rules' folder if it is not the task's first."""
    if not (files or gone):
        return None
    content = [
        Note(f"{_describe_why(one.why, root)}\n{text}", SOURCE)
        for one, text in zip(files, _bound_texts(files), strict=True)
    ]
    content += [Note(GONE.format(files=", ".join(gone)), SOURCE)] if gone else []
    return InstructionsLoaded(files=tuple(map(_describe_file, files)), gone=tuple(gone), content=tuple(content))


def _describe_why(why: str, root: str) -> str:
    match why:
        case "always" if root:
            return f"{JOINS} It covers only {root}."
        case "always":
            return f"{JOINS} It is new since the task started."
        case "it changed":
            return CHANGED_TEXT
    return f"{JOINS} The reason: {why}."


def _describe_file(one: Chosen) -> InstructionFile:
    return InstructionFile(path=one.file.shown, of=one.file.owner, why=one.why, digest=one.file.digest)


def _bound_texts(found: Iterable[Chosen]) -> Iterator[str]:
    """Yield the texts under their paths; beyond the budget, only where to read them."""
    room = RULES
    for one in found:
        text = one.file.rule.text
        if len(text) > room:
            text = f"[Omitted: the rules are too long. To see this one, read {one.file.shown} with read_file.]"
        else:
            room -= len(text)
        yield f"## {one.file.shown} ({WHOSE[one.file.owner]})\n<rule>\n{_escape_frame(text)}\n</rule>"


def _escape_frame(text: str) -> str:
    """Escape the closing tag, so that no text can end its frame."""
    return text.replace("</rule", "<\\/rule")
