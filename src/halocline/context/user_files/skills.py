"""Skills: folders with a SKILL.md that explains how to do something. Names and descriptions go into the prompt.

A skill is named for its folder, as in Claude Code. What must stay true: a skill is text, nothing in it is run; a
project's skill does not lead out of the project by a link, and a user's own skill wins over a project's of that name.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline import context
from halocline.context.budget import Budget, fit_lines
from halocline.protocol.config_locations import SKILL_ROWS, Dialect
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.file_names import make_printable
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.context.text_files import ReadText

FILE = "SKILL.md"
MOST = 100
MOST_FILES = 50
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_024
LONGEST_FILE = 100_000
LISTED = Budget(MOST, 20_000, 2 * LONGEST_NAME + LONGEST_DESCRIPTION + 5)


class Skill(Value, frozen=True):
    """One skill; `folder` is absolute.

    `only_yours`: it runs as a slash command, and the model is not told of it. `only_models`: it is no slash command.
    """

    name: str
    description: str
    folder: str
    only_yours: bool = False
    only_models: bool = False
    dialect: Dialect = "plain"
    plugin: str = ""
    """The folder of the plug-in that has it."""

    @property
    def file(self) -> str:
        return f"{self.folder}/{FILE}"


class Found(Value, frozen=True):
    """The skills by name, and a remark on each folder that should be one and is not."""

    skills: tuple[Skill, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def offered(self) -> tuple[Skill, ...]:
        """The skills that the model may use by itself."""
        return tuple(skill for skill in self.skills if not skill.only_yours)


class _Invalid(Exception):
    """Raised for a folder that is not a valid skill, with the reason."""


def found_skills(
    workspace: Path, home: Path | None = None, roots: Sequence[str | Path] = (), plugins: Sequence[Plugin] = ()
) -> Found:
    """Look for skills in the home folder, in the workspace and in a task's other folders; the first of a name wins.

    Those of plug-ins have the names of both.
    """
    home = home or Path.home()
    skills: dict[str, Skill] = {}
    skipped: list[str] = []
    places = {home / row.path: ("", row.dialect) for row in SKILL_ROWS if row.root == "~"}
    for project in (workspace, *map(Path, roots)):
        within = os.path.realpath(project)
        places |= {project / row.path: (within, row.dialect) for row in SKILL_ROWS if not row.root}
    for folder, (within, dialect) in places.items():
        for path in _skill_folders(folder):
            try:
                skill = replace(_read_skill(path, within), dialect=dialect)
            except _Invalid as why:
                skipped.append(f"The skill {path} is ignored: {why}")
            else:
                skills.setdefault(skill.name, skill)
    for plugin in plugins:
        _add_of_plugin(plugin, skills, skipped)
    return Found(tuple(sorted(skills.values(), key=lambda skill: skill.name))[:MOST], tuple(skipped))


def _add_of_plugin(plugin: Plugin, skills: dict[str, Skill], skipped: list[str]) -> None:
    """Add the skills of a plug-in; a place of it may itself be one."""
    for place in map(Path, plugin.paths("skill")):
        for path in [place] if (place / FILE).exists() else _skill_folders(place):
            try:
                skill = _read_skill(path, os.path.realpath(plugin.folder))
            except _Invalid as why:
                skipped.append(f"The skill {path.name} of the plug-in {plugin.name} is ignored: {why}")
                continue
            if plugin.has("skill", skill.name):
                name = plugin.named(skill.name)
                skills[name] = replace(skill, name=name, dialect=plugin.dialect, plugin=plugin.folder)


def skills_section(skills: tuple[Skill, ...]) -> str:
    """Build the skills section of the system prompt; empty without skills."""
    if not skills:
        return ""
    fitted = fit_lines((f"- {skill.name}: {' '.join(skill.description.split())}" for skill in skills), LISTED)
    lines = "\n".join(fitted.lines) + ("\nThere are more; use_skill lists them." if fitted.cut else "")
    return f"\n# Skills\nBefore you start on what one of these is for, load its instructions with use_skill.\n{lines}\n"


def read_instructions(skill: Skill) -> str:
    """Read the text below the front matter; a very long one is cut, with a note. Raises OSError."""
    read = _read_file(skill.file)
    rest = f"\n[The rest of {skill.file} is omitted; read it with read_file.]" if read.is_cut else ""
    return context.instructions.markdown_head.split_head(read.text)[1] + rest


def bundled_files(skill: Skill, most: int) -> tuple[str, ...]:
    """List files beside SKILL.md, relative to the folder; `most` + 1 if there are more."""
    found: list[str] = []
    for folder, folders, names in os.walk(skill.folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            relative = os.path.relpath(os.path.join(folder, name), skill.folder)
            if relative != FILE:
                found.append(make_printable(relative))
            if len(found) > most:
                return tuple(found)
    return tuple(found)


def skill_for_model(skill: Skill, fill: Callable[[str], str] = str) -> str:
    """Return the instructions of a skill and the list of its files, for the model. Raises OSError.

    `fill` puts in what a person typed after its name. In Claude Code's dialect, a variable names the skill's folder.
    """
    text = fill(read_instructions(skill))
    if skill.dialect == "claude":
        text = text.replace("${CLAUDE_SKILL_DIR}", skill.folder)
        text = text.replace("${CLAUDE_PLUGIN_ROOT}", skill.plugin or "${CLAUDE_PLUGIN_ROOT}")
    return f"# Skill {skill.name}\n\n{text.strip()}\n{_describe_files(skill)}".rstrip()


def _describe_files(skill: Skill) -> str:
    files = bundled_files(skill, MOST_FILES)
    if not files:
        return ""
    names = "\n".join(files[:MOST_FILES]) + ("\n…" if len(files) > MOST_FILES else "")
    return f"\n[Bundled files in {skill.folder}; read them with read_file when needed:\n{names}]"


def _skill_folders(place: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return
    for name in names[:MOST]:
        if not name.startswith(".") and (place / name).is_dir():
            yield place / name


def _read_skill(folder: Path, within: str) -> Skill:
    file = folder / FILE
    if within and not os.path.realpath(file).startswith(f"{within}/"):
        raise _Invalid("it is a link that leads out of the project.")
    try:
        head, body = context.instructions.markdown_head.split_head(_read_file(str(file)).text)
    except FileNotFoundError:
        raise _Invalid(f"it has no {FILE}.") from None
    except OSError as error:
        raise _Invalid(f"{FILE} cannot be read ({error.strerror}).") from error
    if len(folder.name) > LONGEST_NAME or not folder.name.isprintable():
        raise _Invalid(f"the name of its folder is longer than {LONGEST_NAME} characters, or cannot be printed.")
    fields = context.instructions.markdown_head.read_fields(head)
    description = fields.get("description", "").strip() or _first_paragraph(body)
    if not description or len(description) > LONGEST_DESCRIPTION:
        raise _Invalid(f"its description is empty or longer than {LONGEST_DESCRIPTION} characters.")
    only_yours = fields.get("disable-model-invocation", "").lower() in ("true", "yes")
    only_models = fields.get("user-invocable", "").lower() in ("false", "no")
    return Skill(folder.name, description, str(folder), only_yours, only_models)


def _first_paragraph(body: str) -> str:
    """Return the first paragraph that is no heading, on one line."""
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", body))
    return next((text for text in paragraphs if text and not text.startswith("#")), "")[:LONGEST_DESCRIPTION]


def _read_file(path: str) -> "ReadText":
    return context.text_files.load_text(path, LONGEST_FILE)  # only needed where there are skills
