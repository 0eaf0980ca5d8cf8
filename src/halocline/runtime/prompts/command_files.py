"""The slash commands of one workspace: built-in ones, workflows, custom commands and skills; and their expansion.

What must stay true: nothing is searched before a prompt has a slash command; what a person typed stays as typed, after
notes with the text of each command; no command changes a permission.
"""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from halocline.context.notes.tool_requests import prompt_request, tool_request
from halocline.context.user_files import commands
from halocline.context.user_files.command_dialects import fill_arguments, fill_skill
from halocline.context.user_files.skills import Found, Skill, found_skills, skill_for_model
from halocline.protocol.errors import UsageError
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Note
from halocline.protocol.values import Value
from halocline.runtime.prompts import slash_commands
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

SKILL = "skill"
MCP_PREFIX = "mcp:"
"""Prefix of an MCP server's prompt, which only the server can expand."""
KINDS = ("workflow", "command", SKILL)


class SlashEntry(Value, frozen=True):
    """A slash command for menus and lists; `kind` is a section of the registry, workflow, command or skill."""

    name: str
    kind: str
    about: str = ""
    rest: str = ""
    source: str = ""


class Expansion(Value, frozen=True):
    """The expansion of a prompt's slash commands: notes ahead of it, a requested tool, and tools to offer."""

    notes: tuple[Note, ...] = ()
    tool: str = ""
    offers: frozenset[str] = frozenset()

    @property
    def request(self) -> tuple[Note, ...]:
        """The note that asks the model for the requested tool."""
        return (tool_request(self.tool),) if self.tool else ()


def slash_commands_of(
    workspace: Path, home: Home, settings: Settings, roots: Sequence[str] = (), plugins: tuple[Plugin, ...] = ()
) -> "SlashEntries":
    """Return the slash commands of a workspace, and of a task's other folders and plug-ins."""
    places = commands.Places(workspace, home.root, Path.home(), tuple(map(Path, roots)), plugins)
    return SlashEntries(places, settings.words_off)


class SlashEntries:
    """The slash commands of a workspace; each kind is read once, on first use. `off` are patterns of `kind/name`."""

    def __init__(self, places: commands.Places, off: Sequence[str] = ()) -> None:
        self._places = places
        self._off = off

    @cached_property
    def _files(self) -> commands.FoundWords:
        found = commands.found_words(self._places)
        on = {name: file for name, file in found.files.items() if not self._is_off(f"{file.kind}/{name}")}
        return commands.FoundWords(on, found.skipped)

    @cached_property
    def found_skills(self) -> Found:
        """The skills, including those that are not slash commands, and why one is left out."""
        places = self._places
        return found_skills(places.workspace, places.person, places.roots, places.plugins)

    @cached_property
    def _skills(self) -> dict[str, Skill]:
        mine = (skill for skill in self.found_skills.skills if not skill.only_models)
        return {skill.name: skill for skill in mine if not self._is_off(f"{SKILL}/{skill.name}")}

    @property
    def skipped(self) -> tuple[str, ...]:
        """A sentence on each file or skill that should be a slash command but is not."""
        return (*self._files.skipped, *self.found_skills.skipped)

    def listed(self, where: slash_commands.SlashPlace) -> list[SlashEntry]:
        """Return all slash commands of a surface. Reads the start of the files."""
        rows = [row for name, row in slash_commands.SLASH_COMMANDS.items() if name == row.name and where in row.where]
        own = [SlashEntry(row.name, row.section, row.text, row.rest) for row in sorted(rows, key=_section_rank)]
        return [*own, *self._listed_files(), *self._listed_skills()]

    def _listed_files(self) -> Iterator[SlashEntry]:
        for name, file in sorted(self._files.files.items(), key=lambda found: (KINDS.index(found[1].kind), found[0])):
            try:
                text = commands.read_word(file)
            except OSError:
                continue
            yield SlashEntry(
                f"{name}.md" if name in slash_commands.SLASH_COMMANDS else name,
                file.kind,
                text.description,
                text.hint,
                file.shown,
            )

    def _listed_skills(self) -> Iterator[SlashEntry]:
        for name, skill in self._skills.items():
            if name not in slash_commands.SLASH_COMMANDS and name not in self._files.files:
                yield SlashEntry(
                    name, SKILL, skill.description, source=commands.shown_path(Path(skill.file), self._places)
                )

    def expanded(self, text: str, where: slash_commands.SlashPlace) -> Expansion:
        """Expand the slash commands of a text. Raises UsageError if a file cannot be read."""
        found: list[Expansion] = []
        taken = ""
        for name, begin, end in slash_commands.words_in(text):
            rest, is_first = text[end:].strip(), not text[:begin].strip()
            if not is_first and os.path.lexists(f"/{name}"):
                continue  # the path of a folder at the root, in the middle of a sentence
            if not taken and (given := self._expand_one(name, rest, where)):
                taken, found = name, [given if is_first else _add_doubt(given, name), *found]
            elif name != taken and (skill := self._skill(name)):
                found.append(Expansion(notes=(_skill_note(skill, rest if is_first else ""),)))
        return Expansion(
            notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
            tool=next((one.tool for one in found if one.tool), ""),
            offers=frozenset[str]().union(*(one.offers for one in found)),
        )

    def expand_prompt(self, text: str, *, can_ask: bool, only: bool) -> Expansion:
        """Expand the slash commands of a prompt; `can_ask` if a person can answer. With `only`, check it first."""
        where = slash_commands.SlashPlace.TERMINAL if can_ask else slash_commands.SlashPlace.RUN
        if only:
            self.check(text, where)
        return self.expanded(text, where)

    def check(self, text: str, where: slash_commands.SlashPlace = slash_commands.SlashPlace.TERMINAL) -> None:
        """Raise UsageError for a command that does not work here, or a prompt that is just an unknown command."""
        name, _ = slash_commands.split_slash_command(text)
        row = slash_commands.SLASH_COMMANDS.get(name)
        if row and (where not in row.where or (where is slash_commands.SlashPlace.RUN and not row.is_for_the_model)):
            raise UsageError(
                f"/{name} works only in a terminal session.", 'Start halo without "run" and -p, and type it there.'
            )
        if (
            row
            or not name
            or name.startswith(MCP_PREFIX)
            or not slash_commands.is_alone(text)
            or self._file(name)
            or self._skill(name)
            or os.path.lexists(f"/{name}")
        ):
            return
        if name.lower() in {*Mode, *ApprovalMode}:
            setting = "mode" if name.lower() in {*Mode} else "approvals"
            raise UsageError(f"There is no slash command /{name}.", f"Did you mean /{setting} {name.lower()}?")
        known = [*slash_commands.SLASH_COMMANDS, *self._files.files, *self._skills]
        meant = " or ".join(f"/{word}" for word in slash_commands.nearest_names(name.lower(), known))
        hint = f"Did you mean {meant}?" if meant else self._list_commands(where)
        raise UsageError(f"There is no slash command /{name}.", hint)

    def _list_commands(self, where: slash_commands.SlashPlace) -> str:
        """Say what there is; `/help` answers only in a session."""
        if where is not slash_commands.SlashPlace.RUN:
            return "List the slash commands: /help"
        own = [row.name for row in slash_commands.ROWS if row.is_for_the_model and where in row.where]
        return f"Slash commands here: {', '.join(f'/{name}' for name in [*own, *self._files.files, *self._skills])}."

    def _expand_one(self, name: str, rest: str, where: slash_commands.SlashPlace) -> Expansion | None:
        """Expand one command that is not a skill. Raises UsageError if its file cannot be read."""
        row = slash_commands.SLASH_COMMANDS.get(name)
        if row and row.is_for_the_model and where in row.where:
            return _expand_own(row, where)
        file = None if row else self._file(name)
        return _file_note(file, name, rest) if file else None

    def _file(self, name: str) -> commands.WordFile | None:
        """Return a command's file. `/name.md` names it even if `/name` is a built-in command."""
        return self._files.files.get(name) or self._files.files.get(name.removesuffix(".md"))

    def _skill(self, name: str) -> Skill | None:
        return self._skills.get(name)

    def _is_off(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._off)


def _section_rank(row: slash_commands.SlashCommand) -> int:
    return list(type(row.section)).index(row.section)


def _expand_own(row: slash_commands.SlashCommand, where: slash_commands.SlashPlace) -> Expansion:
    """Expand a built-in command. Tools that need a person's approval are offered only in a terminal."""
    if row.by is slash_commands.By.TOOL:
        return Expansion(tool=row.tool)
    offers = frozenset({row.tool} if row.tool and where is slash_commands.SlashPlace.TERMINAL else ())
    return Expansion((prompt_request(row.prompt),), offers=offers)


def _add_doubt(given: Expansion, name: str) -> Expansion:
    """Add a note that a command in the middle of a sentence may only be mentioned."""
    doubt = f"[/{name} appears in the middle of the message: if the user only mentions it, ignore these instructions.]"
    return replace(given, notes=tuple(replace(note, text=f"{note.text}\n\n{doubt}") for note in given.notes))


def _file_note(file: commands.WordFile, name: str, arguments: str) -> Expansion:
    try:
        text = commands.read_word(file)
    except OSError as error:
        raise UsageError(
            f"Cannot read /{name}: {file.path}: {error.strerror}.", "Fix the file, or leave the command out."
        ) from error
    head = " ".join([f"The {file.kind} /{file.name}, from {file.shown}.", *_list_remarks(text)])
    lines = [head, "The user asks you to follow these instructions. Their own message is below."]
    if text.cut:
        lines.append(f"Only the beginning is included; use read_file for the rest: {file.path}")
    body = fill_arguments(text.body, arguments, file.dialect, is_command=file.kind == "command")
    return Expansion((Note("\n".join([*lines, "", body]), source=file.kind),))


def _list_remarks(text: commands.WordText) -> Iterator[str]:
    """Yield notes on what a file asks for in vain; the person and the model see them."""
    if text.has_commands:
        yield "Its !`commands` were not run; the model may run them like any other command."
    if "allowed-tools" in text.ignored:
        yield "Its allowed-tools have no effect here."
    if "model" in text.ignored:
        yield "The model it names is ignored."


def _skill_note(skill: Skill, arguments: str) -> Note:
    try:
        text = skill_for_model(skill, lambda body: fill_skill(body, arguments, skill.dialect))
    except OSError as error:
        raise UsageError(
            f"Cannot read the skill {skill.file}: {error.strerror}.", "Fix the file, or leave the command out."
        ) from error
    return Note(f"The skill /{skill.name}, from {skill.file}.\nThe user asks you to use it.\n\n{text}", source=SKILL)
