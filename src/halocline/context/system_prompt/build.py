"""The system prompt: Markdown templates cut into sections, filled once when a task begins and fixed in its log.

What must stay true: it is a function of what is given here, so that `halo context --prompt` shows what a task gets.
Sections are known by their heading in lower case; the words before the first heading are the section `role`.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from halocline.context.system_prompt.model_families import family_of
from halocline.context.templates import read_template
from halocline.protocol.values import Value

NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
SECTIONS = ("role", "working", "habits", "editing", "commands", "safety", "finishing", "machine")
"""What a person may replace, in the order of the prompt; `habits` are words for the model's family."""
MACHINE = "machine"
"""The section that also stands behind a prompt which a person wrote as a whole."""
SMALL_WINDOW = 32_768
"""Tokens of a window up to which a task gets the compact prompt."""
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


class PromptOptions(Value, frozen=True):
    """What a person wants: other sections (an empty one is left out), another `whole`, words `added`, a language."""

    sections: Mapping[str, str] = {}
    whole: str | None = None
    added: str = ""
    language: str = ""


AS_IT_IS = PromptOptions()


def system_prompt(
    workspace: Path,
    more: str = "",
    *,
    models: Iterable[str] = (),
    compact: bool = False,
    wishes: PromptOptions = AS_IT_IS,
) -> str:
    """The text for a task in this workspace; `more` are sections of others, as that of the skills.

    `models` are those the task begins with, in each mode. A compact prompt is for those with a small window.
    """
    sections = _read_sections("compact" if compact else "system")
    if not compact:
        sections |= {"habits": _read_habits(models)}
    if wishes.whole is not None:
        sections = {"role": wishes.whole.strip(), MACHINE: sections[MACHINE]}
    sections |= {name: _with_heading(name, text) for name, text in wishes.sections.items()}
    known = {"{workspace}": str(workspace), "{system}": NAMES.get(sys.platform, sys.platform)}
    parts = [_fill_in(sections.get(name, ""), known) for name in SECTIONS]
    if wishes.language:
        parts.append(
            f"# Language\nAnswer in {wishes.language}. Code, names and commit messages stay as the project has them."
        )
    text = "\n\n".join(filter(None, parts)) + "\n" + more
    return f"{text}\n# From the person\n{wishes.added.strip()}\n" if wishes.added.strip() else text


def subagent_prompt(workspace: Path, role: str, more: str = "", wishes: PromptOptions = AS_IT_IS) -> str:
    """The text for a sub-agent: its own words or the usual ones, how it reports, and what holds for every task here."""
    sections = sections_of(_read_file("subagent"))
    whole = f"{(role or sections['role']).strip()}\n\n{sections['reporting'].strip()}"
    return system_prompt(
        workspace, more, wishes=PromptOptions(whole=whole, added=wishes.added, language=wishes.language)
    )


def sections_of(text: str) -> dict[str, str]:
    """A prompt cut before its headings of the first level; what stands before the first one is the role."""
    parts = {"role": ""}
    begin, name = 0, "role"
    for found in _HEADING.finditer(text):
        parts[name] = parts.get(name, "") + text[begin : found.start()]
        begin, name = found.start(), found[1].strip().lower()
    parts[name] = parts.get(name, "") + text[begin:]
    return {name: part for name, part in parts.items() if part.strip()}


def text_tools(tools: str) -> str:
    """What a model without tool calls of its own is told: how to write a call, and which tools there are."""
    return _read_file("text_tools").format(tools=tools)


def _read_sections(name: str) -> dict[str, str]:
    return {name: part.strip() for name, part in sections_of(_read_file(name)).items()}


def _read_habits(models: Iterable[str]) -> str:
    families = dict.fromkeys(filter(None, map(family_of, models)))
    if not families:
        return ""
    known = _read_sections("habits")
    return _with_heading("habits", "\n".join(known[name].partition("\n")[2] for name in families))


def _with_heading(name: str, text: str) -> str:
    """A section with its heading, unless it is empty, has one, or is the role."""
    text = text.strip()
    return text if not text or name == "role" or text.startswith("# ") else f"# {name.capitalize()}\n{text}"


def _fill_in(text: str, known: Mapping[str, str]) -> str:
    """The text with what is known put in; other braces are the person's own."""
    return re.sub("|".join(map(re.escape, known)), lambda found: known[found[0]], text)


def _read_file(name: str) -> str:
    return read_template(name)
