"""The system prompt: Markdown templates split into sections, filled once when a task starts and fixed in its log.

What must stay true: it depends only on the arguments here, so that `halo context --prompt` shows what a task gets.
A section is named by its heading in lower case; the text before the first heading is the section `role`.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from halocline.context.system_prompt.model_families import family_of
from halocline.context.templates import read_template
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
SECTIONS = ("role", "working", "habits", "editing", "commands", "safety", "finishing", "machine")
"""Sections that a user may replace, in the order of the prompt; `habits` is for the model's family."""
MACHINE = "machine"
"""The section that is also appended to a prompt that the user replaced as a whole."""
SMALL_WINDOW = 32_768
"""Largest context window, in tokens, that gets the compact prompt."""
SMALL_SIZE = 4.0
"""Largest model, in thousand millions of parameters, that gets it (measured with one of 1.5: benchmarks/README.md)."""
_HEADING = compile_later(r"^# (.+)$", re.MULTILINE)


class PromptOptions(Value, frozen=True):
    """The user's changes: other sections (an empty one is omitted), another `whole`, text `added`, a language."""

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
    """Build the prompt for a task in this workspace; `more` holds further sections, such as the skills.

    `models` are those the task starts with, in each mode. The compact prompt is for a small context window.
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
            f"# Language\nAnswer in {wishes.language}. Keep the project's language in code, names and commit messages."
        )
    text = "\n\n".join(filter(None, parts)) + "\n" + more
    return f"{text}\n# From the user\n{wishes.added.strip()}\n" if wishes.added.strip() else text


def subagent_prompt(
    workspace: Path, role: str, more: str = "", wishes: PromptOptions = AS_IT_IS, *, writes: bool = False
) -> str:
    """Build the prompt for a sub-agent: its role or the default one, how it works and reports, and the usual rules."""
    sections = sections_of(read_template("subagent"))
    usual, how = ("worker", "writing") if writes else ("role", "reporting")
    whole = f"{(role or sections[usual]).removeprefix('# Worker').strip()}\n\n{sections[how].strip()}"
    return system_prompt(
        workspace, more, wishes=PromptOptions(whole=whole, added=wishes.added, language=wishes.language)
    )


def sections_of(text: str) -> dict[str, str]:
    """Split a prompt at its first-level headings; the text before the first one is the role."""
    parts = {"role": ""}
    begin, name = 0, "role"
    for found in _HEADING.finditer(text):
        parts[name] = parts.get(name, "") + text[begin : found.start()]
        begin, name = found.start(), found[1].strip().lower()
    parts[name] = parts.get(name, "") + text[begin:]
    return {name: part for name, part in parts.items() if part.strip()}


def text_tools(tools: str) -> str:
    """Build the section for a model without native tool calls: how to write a call, and the tools."""
    return read_template("text_tools").format(tools=tools)


def _read_sections(name: str) -> dict[str, str]:
    return {name: part.strip() for name, part in sections_of(read_template(name)).items()}


def _read_habits(models: Iterable[str]) -> str:
    families = dict.fromkeys(filter(None, map(family_of, models)))
    if not families:
        return ""
    known = _read_sections("habits")
    return _with_heading("habits", "\n".join(known[name].partition("\n")[2] for name in families))


def _with_heading(name: str, text: str) -> str:
    """Add the heading to a section, unless it is empty, has one, or is the role."""
    text = text.strip()
    return text if not text or name == "role" or text.startswith("# ") else f"# {name.capitalize()}\n{text}"


def _fill_in(text: str, known: Mapping[str, str]) -> str:
    """Fill in the known placeholders; other braces are the user's own text."""
    return re.sub("|".join(map(re.escape, known)), lambda found: known[found[0]], text)
