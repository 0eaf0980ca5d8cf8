"""`/status`: the place of a task and all that is in force in it, on one screen."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size

from halocline._version import __version__
from halocline.client.git import read_branch
from halocline.client.instructions import InstructionService
from halocline.client.policy import FolderHooks, PolicyService, summarize_switch
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, SandboxStanding
from halocline.protocol.queries.usage import ContextReport
from halocline.protocol.state.state import State
from halocline.surfaces.figures import format_count, format_known_cost, format_plural, format_tokens, model_name
from halocline.surfaces.rows.words import describe_effort
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

LABEL, INDENT, WIDEST = 11, 2, 100
"""Columns of the labels, those before an answer, and the most that are used."""
_SANDBOX = {
    SandboxStanding.OFF: "off, so commands run with your permissions",
    SandboxStanding.FULL: "on",
    SandboxStanding.PARTIAL: "on, with gaps",
    SandboxStanding.NONE: "not available, so commands run with your permissions",
}


async def answer_status(context: SlashContext, rest: str) -> SlashAnswer:
    width = min(WIDEST, get_terminal_size().columns - INDENT)
    facts = list_facts(context.client, context.client.state(context.task))
    return "\n".join(line for label, text in facts for line in _fact_lines(label, text, width))


def _fact_lines(label: str, text: str, width: int) -> Sequence[str]:
    head = f"{label:<{LABEL}}"
    return textwrap.wrap(clean(text), width, initial_indent=head, subsequent_indent=" " * LABEL) or [head]


def list_facts(client: Client, state: State) -> Iterator[tuple[str, str]]:
    """Yield what is known of a task, each with its label. The texts may hold anything that names of files hold."""
    folder = Path(state.workspace)
    provider, _, model = model_name(state.model.name).partition("/")
    branch = read_branch(state.workspace)
    yield "Halocline", __version__
    yield "Task", f"{state.task} · {state.title}".removesuffix(" · ")
    yield "Folder", " and ".join(map(_shorten_home, (state.workspace, *state.roots)))
    yield "Branch", branch or "none: not a git repository"
    yield "Model", f"{model} · provider {provider} · effort {_describe_effort(state)}"
    yield "Mode", state.plan.mode
    yield "Approvals", _describe_approvals(state)
    yield "Sandbox", _describe_sandbox(state)
    yield "Trust", _describe_trust(client.hooks_of(folder))
    yield "Rules", _describe_rules(folder)
    yield "MCP", _describe_servers(client, state.task)
    yield "Context", _describe_context(client.context(state))
    yield "Cost", _describe_cost(state)


def _shorten_home(folder: str) -> str:
    home = str(Path.home())
    return f"~{folder.removeprefix(home)}" if folder == home or folder.startswith(f"{home}/") else folder


def _describe_effort(state: State) -> str:
    return describe_effort(state.model.effort, state.model.thinking_budget) or "from the settings"


def _describe_approvals(state: State) -> str:
    mode = state.permissions.approval_mode
    if mode is ApprovalMode.YOLO:
        return f"{mode}, so nothing asks"
    return f"{mode} · {summarize_switch(PolicyService.open().switches(state)).rstrip('.')}"


def _describe_sandbox(state: State) -> str:
    found = state.host.sandbox
    kind = f" ({found.way})" if found.way else ""
    return _SANDBOX[found.standing] + kind + (f": {'; '.join(found.lacks)}" if found.lacks else "")


def _describe_trust(hooks: FolderHooks) -> str:
    try:
        standing = str(hooks.standing)
    except HaloclineError as error:
        return error.text
    match standing:
        case "nothing":
            return "nothing here needs it"
        case "trusted":
            return "trusted, so the folder's own hooks, MCP servers and rules are on"
        case "changed":
            return "changed since you trusted it, so its hooks, MCP servers and rules are off: halo trust add"
    return "not trusted, so its hooks, MCP servers and rules are off: halo trust add"


def _describe_rules(workspace: Path) -> str:
    files = InstructionService.open(workspace).found()
    held = [f"{file.path} ({file.holds})" if file.holds != "always" else file.path for file in files if not file.inert]
    off = len(files) - len(held)
    return (", ".join(held) or "none") + (f" · {format_plural(off, 'file')} not in force: /rules" if off else "")


def _describe_servers(client: Client, task: str) -> str:
    servers = client.mcp_standings(task) if client.is_open(task) else ()
    return ", ".join(f"{each.name} {each.state} ({format_plural(each.tools, 'tool')})" for each in servers) or "none"


def _describe_context(report: ContextReport) -> str:
    share = round(100 * report.used / report.window) if report.window else 0
    window = format_count(report.window) if report.window_known else f"about {format_count(report.window)}"
    left = f"{format_count(report.free)} left before it is compacted"
    return f"{format_count(report.used)} of {window} tokens used ({share}%) · {left}"


def _describe_cost(state: State) -> str:
    budget = state.budget
    if not budget.steps:
        return "nothing yet"
    spent = (
        format_known_cost(budget),
        format_plural(budget.steps, "step"),
        format_tokens(budget.usage, budget.known_cost),
    )
    return " · ".join(spent)
