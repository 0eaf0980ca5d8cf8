"""Slash commands that only show something: `/help`, `/cost`, `/todos`, `/skills`, `/context`, `/rules`, `/hooks` …"""

import textwrap
from collections.abc import Callable, Sequence
from shutil import get_terminal_size

from halocline.client.instructions import InstructionService
from halocline.client.mcp import list_prompts
from halocline.client.prompts import SlashPlace
from halocline.client.settings import run_checks
from halocline.client.tasks import Client
from halocline.protocol.commands import DropPictures, StopHook
from halocline.protocol.kinds import TodoStatus
from halocline.surfaces.context_report import report_lines
from halocline.surfaces.costs import by_turn, turns_of
from halocline.surfaces.folder_lists import (
    describe_files,
    describe_finding,
    describe_hooks,
    describe_memory,
    describe_plugins,
)
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

INDENT = 2
"""Columns before an answer."""
NAMES, WIDE = 24, 70
"""Columns of the names in `/help`, and the width from which texts are beside them."""
DROP, DROPS = "drop-pictures", "take all pictures so far out of what the model reads; the log keeps them"
NO_SKILLS = "No skills here. A skill is a folder such as .agents/skills/NAME with a SKILL.md file."


async def answer_help(context: SlashContext, rest: str) -> SlashAnswer:
    return f"Press ? in an empty prompt for the keys.\n{list_commands(context)}"


def list_commands(context: SlashContext, is_offered: Callable[[str], bool] = lambda name: True) -> str:
    """List the commands as two columns: the command with what it takes, and what it does."""
    state = context.client.state(context.task)
    words = context.client.words(context.workspace, state.roots, state.prompt.plugins)
    lines, kind = list[str](), ""
    prompts = list_prompts(context.client.mcp_prompts(context.task))
    for word in [*filter(lambda word: is_offered(word.name), words.listed(SlashPlace.TERMINAL)), *prompts]:
        if word.kind != kind:
            lines += ["", f"{word.kind[:1].upper()}{word.kind[1:]}"]
            kind = word.kind
        about = " ".join(f"{word.about} {f'({word.source})' if word.source else ''}".split())
        lines += _help_lines(clean(f"/{word.name} {word.rest}".rstrip()), clean(about))
    return "\n".join([*lines, *([""] if words.skipped else []), *words.skipped]).rstrip()


def _help_lines(name: str, about: str) -> list[str]:
    """A command beside its text; above it where there is no room."""
    width = get_terminal_size().columns - INDENT - 1
    column = NAMES if width >= WIDE else NAMES // 4
    text = textwrap.wrap(about, width - column - INDENT) or [""]
    beside = text.pop(0) if len(name) < column - 1 else ""
    first = f"{name:<{column}}{beside}".rstrip()
    return [f"  {first}", *(f"  {'':<{column}}{more}" for more in text)]


async def answer_cost(context: SlashContext, rest: str) -> SlashAnswer:

    lines = by_turn(turns_of(context.client.past(context.task)))
    return "\n".join([*lines, f"For each step: halo tasks show {context.task} --cost"]) if lines else "No requests yet."


async def answer_todos(context: SlashContext, rest: str) -> SlashAnswer:
    marks = {TodoStatus.PENDING: "○", TodoStatus.IN_PROGRESS: "▸", TodoStatus.COMPLETED: "✓"}
    todos = context.client.state(context.task).plan.todos
    return "\n".join(f"{marks[todo.status]} {todo.text}" for todo in todos) or "The to-do list is empty."


async def answer_skills(context: SlashContext, rest: str) -> SlashAnswer:
    state = context.client.state(context.task)
    found = context.client.words(context.workspace, state.roots, state.prompt.plugins).found_skills
    lines = [f"/{skill.name}: {' '.join(skill.description.split())}\n    {skill.folder}" for skill in found.skills]
    return "\n".join([*(lines or [NO_SKILLS]), *found.skipped])


async def answer_context(context: SlashContext, rest: str) -> SlashAnswer:
    if rest.strip() == DROP:
        sent = context.client.send(DropPictures(task=context.task))
        return "" if sent else "The model reads no pictures."
    if rest.strip():
        return f"/context                show what fills the context window\n/context {DROP}  {DROPS}"
    return "\n".join(report_lines(context.client.context(context.task), get_terminal_size().columns - INDENT))


async def answer_hooks(context: SlashContext, rest: str) -> SlashAnswer:
    if rest.strip() == "stop":
        stopped = context.client.send(StopHook(task=context.task))
        return "Stopping the hooks that run now." if stopped else "No hook has been running for long."
    if rest.strip():
        return "/hooks       list hooks\n/hooks stop  stop those that run now"
    return describe_hooks(context.client.hooks_of(context.workspace).list())


async def complete_hooks(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else {"stop": "stop the hooks that run now"}


async def answer_rules(context: SlashContext, rest: str) -> SlashAnswer:

    return describe_files(InstructionService.open(context.workspace).found())


async def answer_memory(context: SlashContext, rest: str) -> SlashAnswer:
    memory = context.client.memory_of(context.workspace)
    off = () if memory.on else ("Memory is off, so tasks read no notes. To turn it on: /config memory true",)
    return "\n".join([describe_memory(memory), *off])


async def answer_doctor(context: SlashContext, rest: str) -> SlashAnswer:
    lines = list[str]()
    for finding in await run_checks(context.workspace):
        lines += [
            "".join(describe_finding(finding)),
            *([f"  {finding.hint}"] if finding.hint and not finding.ok else []),
        ]
    return "\n".join(lines)


async def answer_plugins(context: SlashContext, rest: str) -> SlashAnswer:
    return describe_plugins(context.client.plugins_of(context.workspace).listed())
