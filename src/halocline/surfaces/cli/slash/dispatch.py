"""Answers to slash commands that are not for the model.

The commands are rows of `runtime/prompts/slash_commands.py`; each that is answered here has one function. Answers are
shown and never sent to a model.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size

from halocline.client import SLASH_COMMANDS, Client, SlashCommand, SlashPlace, list_prompts, split_slash_command
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, Mode, TodoStatus, is_looser
from halocline.protocol.values import Value
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.output.table import format_time
from halocline.surfaces.cli.output.view import View
from halocline.surfaces.figures import format_plural, model_name

ANEW = "anew"
LISTED_TASKS = 15
INDENT = 2
"""Columns before an answer."""
NO_SKILLS = "No skills here. A skill is a folder such as .agents/skills/NAME with a SKILL.md file."
NO_SERVERS = "No MCP servers. To add one: halo mcp add"
LATER = "{word} works between turns: answer first, or end the turn with Ctrl-C."


class LeaveTask(Value, frozen=True):
    """Leave this task: for the task with this ID, for a new one (`anew`), or to quit (empty).

    With `roots` it is the same task, reopened with these folders added.
    """

    to: str = ""
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SlashContext:
    """Context of an answer: the task, and the view that can ask questions."""

    client: Client
    task: str
    view: View

    @property
    def workspace(self) -> Path:
        return Path(self.client.state(self.task).workspace)


Said = str | LeaveTask
"""An empty text shows nothing: the event of the change is shown instead."""


def find_own_command(prompt: str) -> SlashCommand | None:
    """Return the slash command at the start of a prompt if it is answered here and not sent to a model."""
    row = SLASH_COMMANDS.get(split_slash_command(prompt)[0])
    return row if row and not row.is_for_the_model else None


async def answer_command(prompt: str, desk: SlashContext) -> Said:
    """Answer a slash command that is ours; during a turn, only those that allow it."""
    name, rest = split_slash_command(prompt)
    row = SLASH_COMMANDS[name]
    if desk.client.state(desk.task).turn is not None and not row.during:
        return LATER.format(word=f"/{name}")
    try:
        return await ANSWERS[row.name](desk, rest)
    except HaloclineError as error:
        return f"{error.text} {error.hint}".rstrip()


async def _answer_help(desk: SlashContext, rest: str) -> Said:

    words = desk.client.words(desk.workspace)
    lines, kind = [], ""
    prompts = list_prompts(desk.client.mcp_prompts(desk.task))
    for word in [*words.listed(SlashPlace.TERMINAL), *prompts]:
        if word.kind != kind:
            lines += ["", f"{word.kind[:1].upper()}{word.kind[1:]}"]
            kind = word.kind
        about = " ".join(f"{word.about} {f'({word.source})' if word.source else ''}".split())
        lines.append(clean(f"  /{word.name} {word.rest}".rstrip() + f": {about}"))
    return "\n".join([*lines, *([""] if words.skipped else []), *words.skipped]).strip()


async def _answer_quit(desk: SlashContext, rest: str) -> Said:
    return LeaveTask()


async def _answer_clear(desk: SlashContext, rest: str) -> Said:
    return LeaveTask(ANEW)


async def _answer_resume(desk: SlashContext, rest: str) -> Said:
    workspace = str(desk.workspace)
    others = [info for info in desk.client.history() if info.workspace == workspace and info.task != desk.task]
    if rest:
        found = desk.client.find(rest)
        if found == desk.task:
            return "You are already in that task."
        here = found in (info.task for info in others)
        return LeaveTask(found) if here else f"That task belongs to another folder. To open it: halo --resume {found}"

    lines = [f"{info.task}  {format_time(info.changed_at)}  {' '.join(info.title.split())}" for info in others]
    more = [f"… and {len(lines) - LISTED_TASKS} more: halo tasks list"] if len(lines) > LISTED_TASKS else []
    how = "To resume one: /resume ID" if lines else "No other tasks in this folder."
    return "\n".join([*lines[:LISTED_TASKS], *more, how])


async def _add_dir(desk: SlashContext, rest: str) -> Said:
    state = desk.client.state(desk.task)
    if not rest:
        folders = "\n".join((state.workspace, *state.roots))
        return f"{folders}\nTo add one: /add-dir DIR"
    if desk.client.is_attached(desk.task):
        return f"This task is running in process {desk.client.writer(desk.task)}. Use /add-dir there."
    if going := desk.client.running(desk.task):
        return f"Adding a folder reopens the task, which would stop: {', '.join(going)}. Stop it first, or wait for it."
    with_programs = desk.client.with_code(desk.workspace, (rest,), state.roots)
    if any(folder not in (desk.workspace, *map(Path, state.roots)) for folder in with_programs):
        desk.view.say(f"The folder has its own hooks or MCP servers. To enable them: halo trust add {rest}")
    return LeaveTask(desk.task, (rest,))


async def _answer_export(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.commands.tasks import markdown_of

    name = rest or f"halocline-{desk.task}.md"
    return await asyncio.to_thread(_write_export, desk.workspace, name, markdown_of(desk.client, desk.task))


def _write_export(folder: Path, name: str, text: str) -> str:
    path = folder / Path(name).expanduser()
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return f"{path} already exists. Name another: /export FILE"
    except OSError as error:
        return f"Cannot write {path}: {error.strerror}. Name another: /export FILE"
    return f"Written to {path}"


async def _answer_undo(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.checkpoints import undo_changes

    return await undo_changes(desk.client, desk.task, desk.view)


async def _answer_checkpoint(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.checkpoints import about_checkpoints

    return await about_checkpoints(rest, desk.client, desk.task, desk.view)


async def _answer_model(desk: SlashContext, rest: str) -> Said:
    before = desk.client.state(desk.task).model.name
    if rest:
        await desk.client.change_model(desk.task, rest)
        if desk.client.state(desk.task).model.name != before:
            return "\n".join(desk.client.remarks(desk.task))
    return f"The model is {model_name(before)}. To change it: /model PROVIDER/NAME"


async def _answer_effort(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.effort import answer_effort

    return answer_effort(rest, desk.client, desk.task)


async def _answer_permissions(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.permissions import answer_permissions

    if rest in tuple(ApprovalMode):  # in older versions it was another name of /approvals
        return await _answer_approvals(desk, rest)
    return answer_permissions(rest, desk.client, desk.task)


async def _auto_approve(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.auto_approve import answer_auto_approve

    return await answer_auto_approve(rest, desk.client, desk.task, desk.view)


async def _answer_mode(desk: SlashContext, rest: str) -> Said:
    if rest and rest not in tuple(Mode):
        return f"Unknown mode {rest!r}. Use plan or act."
    return _report_change(desk, cmd.SetMode(task=desk.task, mode=Mode(rest)) if rest else None, "mode")


async def _answer_approvals(desk: SlashContext, rest: str) -> Said:
    if rest and rest not in tuple(ApprovalMode):
        return f"Unknown approval mode {rest!r}. Use one of: {', '.join(ApprovalMode)}."
    if rest and not await _confirm_mode(desk, ApprovalMode(rest)):
        return f"Approval mode unchanged: {desk.client.state(desk.task).permissions.approval_mode}"
    return _report_change(
        desk, cmd.SetPolicy(task=desk.task, approval_mode=ApprovalMode(rest)) if rest else None, "approval_mode"
    )


LOOSER = {
    ApprovalMode.ACCEPT_EDITS: "Edits files in the folder without approval, but asks before commands.",
    ApprovalMode.AUTO: "Works in the folder without approval, but asks before risky actions and outside the folder.",
    ApprovalMode.YOLO: "Never asks. Every command runs with your permissions, and checkpoints can restore only "
    "files in the folder.",
}
"""Confirmation texts for modes that ask less."""


async def _confirm_mode(desk: SlashContext, mode: ApprovalMode) -> bool:
    """Ask before switching to a mode that asks less, showing what it means."""
    if not is_looser(mode, desk.client.state(desk.task).permissions.approval_mode):
        return True
    yes, no = f"Switch to {mode}", "Keep it"
    text = f"Switch to {mode}? {LOOSER[mode]}"
    asked = ev.QuestionAsked(f"mode {time.monotonic_ns()}", text, (yes, no))
    return await desk.view.ask_question(asked) == yes


def _report_change(desk: SlashContext, command: cmd.AnyCommand | None, what: str) -> str:
    """Report a change; between turns its event is shown instead."""
    before = desk.client.state(desk.task)
    if command:
        desk.client.send(command)
    state = desk.client.state(desk.task)
    is_shown = state.seq > before.seq and state.turn is None
    return "" if is_shown else f"The {what.replace('_', ' ')} is {getattr(state, what)}."


async def _answer_cost(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.costs import by_turn, turns_of

    lines = by_turn(turns_of(desk.client.past(desk.task)))
    return "\n".join([*lines, f"For each step: halo tasks show {desk.task} --cost"]) if lines else "No requests yet."


async def _answer_compact(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.compact import answer_compact

    return await answer_compact(rest, desk.client, desk.task, desk.view)


async def _answer_todos(desk: SlashContext, rest: str) -> Said:
    marks = {TodoStatus.PENDING: "○", TodoStatus.IN_PROGRESS: "▸", TodoStatus.COMPLETED: "✓"}
    todos = desk.client.state(desk.task).plan.todos
    return "\n".join(f"{marks[todo.status]} {todo.text}" for todo in todos) or "The to-do list is empty."


async def _answer_jobs(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.slash.jobs import about_jobs

    return about_jobs(rest, desk.client, desk.task)


async def _answer_skills(desk: SlashContext, rest: str) -> Said:
    found = desk.client.words(desk.workspace).found_skills
    lines = [f"/{skill.name}: {' '.join(skill.description.split())}\n    {skill.folder}" for skill in found.skills]
    return "\n".join([*(lines or [NO_SKILLS]), *found.skipped])


async def _answer_context(desk: SlashContext, rest: str) -> Said:
    from halocline.surfaces.cli.commands.context import report_lines

    return "\n".join(report_lines(desk.client.context(desk.task), get_terminal_size().columns - INDENT))


async def _answer_mcp(desk: SlashContext, rest: str) -> Said:

    servers = desk.client.mcp_standings(desk.task)
    lines = [f"{clean(each.name)}  {each.state}  {format_plural(each.tools, 'tool')}" for each in servers]
    lines = [f"{line}: {clean(each.error)}" if each.error else line for line, each in zip(lines, servers, strict=True)]
    prompts = [f"/{clean(prompt.command)}" for prompt in desk.client.mcp_prompts(desk.task)]
    return "\n".join([*(lines or [NO_SERVERS]), *([f"Prompts: {', '.join(prompts)}"] if prompts else [])])


async def _answer_rules(desk: SlashContext, rest: str) -> Said:
    from halocline.client import InstructionService
    from halocline.surfaces.cli.commands.rules import describe_files

    return describe_files(InstructionService.open(desk.workspace).found())


async def _answer_fork(desk: SlashContext, rest: str) -> Said:
    from halocline.client import Fork

    last = desk.client.state(desk.task).seq
    if rest and not rest.isdecimal():
        return f"Give an event number: /fork EVENT. To list them: halo tasks show {desk.task} --points"
    return LeaveTask(await desk.client.time.fork(Fork("", desk.task, int(rest or last))))


ANSWERS: dict[str, Callable[[SlashContext, str], Awaitable[Said]]] = {
    "help": _answer_help,
    "quit": _answer_quit,
    "clear": _answer_clear,
    "resume": _answer_resume,
    "add-dir": _add_dir,
    "export": _answer_export,
    "fork": _answer_fork,
    "undo": _answer_undo,
    "checkpoint": _answer_checkpoint,
    "model": _answer_model,
    "effort": _answer_effort,
    "permissions": _answer_permissions,
    "mode": _answer_mode,
    "approvals": _answer_approvals,
    "auto-approve": _auto_approve,
    "compact": _answer_compact,
    "cost": _answer_cost,
    "todos": _answer_todos,
    "jobs": _answer_jobs,
    "context": _answer_context,
    "mcp": _answer_mcp,
    "rules": _answer_rules,
    "skills": _answer_skills,
}
"""Function of each slash command that is not for the model."""
