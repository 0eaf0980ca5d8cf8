"""Read mentions that are not files: a web page, the terminal, changes, a commit, another task, a symbol."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

from halocline.context.budget import COMMAND, MENTIONED_ONCE, Budget, bound_text, fit_lines
from halocline.context.notes.diagnostics import note_problems, note_shown_problems
from halocline.context.notes.jobs import describe_status
from halocline.context.user_files.mentions import Kind, Mention
from halocline.edits.text import read_source
from halocline.policy.gate import decide_call
from halocline.ports.code import Definition
from halocline.ports.editor import TerminalCommand
from halocline.ports.host import SearchQuery
from halocline.ports.revisions import Changes
from halocline.ports.tool import Summary, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import DurableEvent, SteeringReceived, TurnEnded, TurnStarted
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import AssistantMessage, Note, Text, ToolResult
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.protocol.terminal_text import plain_output
from halocline.runtime.mentions.access import DATA, Ground, make_notes
from halocline.task.calls.network_access import Reach
from halocline.tools import web_fetch
from halocline.tools.left_out import say_absent

LATER = {
    Kind.URL: "a web page, fetched when you send this",
    Kind.PROBLEMS: "errors from language servers",
    Kind.CHANGES: "uncommitted changes",
}
"""Mentions whose size is unknown until they are sent."""
SYMBOL = Budget(200, 20_000, 500)
MOST_DEFINITIONS = 5
MOST_LOOKED_AT = 100
_SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NAMES = re.compile(r"^(?:--- a/|\+\+\+ b/|rename (?:from|to) |Binary files a/)(.+?)\t?$", re.MULTILINE)
_HEAD = re.compile(r"diff --git a/(.+) b/(.+)")

Parts = tuple[Note, ...]


async def read_page(mention: Mention, ground: Ground) -> Parts:
    """Fetch a web page. The mention permits one request to its host; redirects are judged as for a tool."""
    summary = Summary(f"Fetch {mention.target}", ToolKind.FETCH, url=mention.target, tool="web_fetch")
    decision = decide_call(summary, ground.policy_context())
    if decision.verdict is Verdict.DENY or decision.rule == "link-local":
        raise ToolFailure(f"not included: {decision.reason} (rule {decision.rule})")
    context = ground.context(Reach(summary, ground.policy_context, ground.host.tools.web))
    output = await web_fetch.run(web_fetch.Input(mention.target), context)
    text = "\n".join(part.text for part in output.content if isinstance(part, Text))
    return make_notes("web_page", f"{mention.target}: {len(text):,} characters", text)


async def read_problems(mention: Mention, ground: Ground) -> Parts:
    """Return what the person's editor shows; elsewhere what language servers report for changed and read files."""
    if (shown := await ground.host.sources.diagnostics.shown()) is not None:
        now = ground.as_it_is_now()
        return (note_shown_problems([one for one in shown if now.admits(one.path)], ground.workspace),)
    changed = [ground.workspace / path for path in sorted(ground.state.files.changed)]
    return (note_problems(await ground.host.sources.diagnostics.current(changed), ground.workspace),)


_NO_OUTPUT = "[no output, or the editor did not give it: some lose that of commands that end within 50 ms]"


async def read_terminal(mention: Mention, ground: Ground) -> Parts:
    """Return the latest command with its output, the jobs, and what ran last in the person's terminals."""
    jobs = ground.host.tools.shell.jobs
    await jobs.find_ports()
    sections = [
        f"{info.name}: {info.command}\n[{describe_status(info)}]\n{jobs.tail(info.name)}".rstrip()
        for info in jobs.list()
    ]
    if latest := _latest_command(ground.state):
        sections.insert(0, latest)
    terminals = await _read_editor_terminals(ground)
    if not (sections or terminals):
        return make_notes("terminal", "@terminal: no command has run in this task")
    text = bound_text("\n\n".join([*terminals, *sections]), COMMAND, ground.blobs.put)
    beside = f", and {_count_of(len(terminals), 'terminal')} of the user" if terminals else ""
    label = f"@terminal: the latest command and {_count_of(len(jobs.list()), 'job')}{beside} ({DATA})"
    return make_notes("terminal", label, text)


async def _read_editor_terminals(ground: Ground) -> list[str]:
    """Describe the latest command of each terminal in the person's editor, which only their own mention opens."""
    source = ground.host.sources.terminals
    commands = await source.latest() if source and ground.by_person else ()
    return [_describe_terminal(command) for command in commands]


def _describe_terminal(command: TerminalCommand) -> str:
    end = "" if command.exit_code is None else f"exit code {command.exit_code}"
    state = ", ".join(filter(None, ["still running" if command.is_running else end, command.folder]))
    head = f"Terminal {command.terminal} of the user" + (f" [{state}]" if state else "")
    output = plain_output(command.output).rstrip() or ("" if command.is_running else _NO_OUTPUT)
    return f"{head}\n$ {command.command}\n{output}".rstrip()


def _latest_command(state: State) -> str:
    """Return the latest command with its output; empty if none has run."""
    results: dict[str, str] = {}
    for message in reversed(state.messages):
        if isinstance(message, ToolResult):
            results[message.call] = message.text
        elif isinstance(message, AssistantMessage):
            for call in reversed(message.tool_calls):
                if call.name == "execute_command" and call.id in results:
                    return f"$ {call.arguments.get('command', '')}\n{results[call.id]}"
    return ""


async def read_changes(mention: Mention, ground: Ground) -> Parts:
    """Return the uncommitted changes, without files the model may not see."""
    found = await ground.host.tools.revisions.changes()
    return await asyncio.to_thread(_describe_changes, found, ground.as_it_is_now())


def _describe_changes(found: Changes, ground: Ground) -> Parts:
    """Judge each file, of which there may be thousands; the loop must not wait for that."""
    seen = [f"{letters} {name}" for letters, name in found.files if ground.admits(ground.workspace / name)]
    if not seen:
        return make_notes("git_changes", f"@git-changes: no changes on {found.title}")
    label = f"@git-changes: {_count_of(len(seen), 'file')} on {found.title} ({DATA})"
    return make_notes("git_changes", label, "\n".join([*seen, "", _read_diff(found, ground)]).rstrip())


async def read_commit(mention: Mention, ground: Ground) -> Parts:
    """Return a commit: its message, the line counts of each file, and the diff."""
    found = await ground.host.tools.revisions.commit(mention.target)
    diff = await asyncio.to_thread(_read_diff, found, ground.as_it_is_now())
    stat = [_changed_file(section) for section in _SECTION.split(diff) if section.startswith("diff ")]
    label = f"{mention.text}: a commit of {_count_of(len(stat), 'file')} ({DATA})"
    return make_notes("commit", label, "\n\n".join(filter(None, [found.title, "\n".join(stat), diff])))


def _read_diff(found: Changes, ground: Ground) -> str:
    sections = [section for section in _SECTION.split(found.diff) if section.strip()]
    shown = [section for section in sections if _is_admitted(section, ground)]
    text = "".join(shown).rstrip()
    if len(shown) < len(sections):
        text += "\n[files that the model may not see are left out]"
    return bound_text(text, MENTIONED_ONCE, ground.blobs.put)


def _is_admitted(section: str, ground: Ground) -> bool:
    """True if every file named in a section of a diff may be read."""
    names = {name.strip('"') for name in _NAMES.findall(section.split("\n@@", 1)[0])}
    if not names and (head := _HEAD.match(section)):
        names = {head[1], head[2]}
    return bool(names) and all(ground.admits(ground.workspace / name) for name in names if name != "/dev/null")


def _changed_file(section: str) -> str:
    lines = section.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    head = _HEAD.match(section)
    return f"{head[2] if head else lines[0]} +{added} −{removed}"


async def read_task(
    mention: Mention, ground: Ground, past: Callable[[str], tuple[str, Sequence[DurableEvent]]]
) -> Parts:
    """Return another task's prompts, answers and changed files. Raises HaloclineError."""
    name, events = past(mention.target)
    sections, state = [], State()
    for event in events:
        state = reduce_event(state, event)
        match event:
            case TurnStarted(content=content) | SteeringReceived(content=content):
                sections.append("User: " + "".join(part.text for part in content if isinstance(part, Text)))
            case TurnEnded() if answer := final_text(state):
                sections.append(f"Agent: {answer}")
    if state.files.changed:
        sections.append(f"Files changed: {', '.join(sorted(state.files.changed))}")
    text = bound_text("\n\n".join(sections), MENTIONED_ONCE, ground.blobs.put)
    return make_notes("task", f"{mention.text}: task {name}, “{state.title}”, in {state.workspace} ({DATA})", text)


async def read_symbol(mention: Mention, ground: Ground) -> Parts:
    """Return the definitions of a class, function or method. `Outer.name` narrows the search. Raises ToolFailure."""
    *outer, name = re.split(r"[.:#]+", mention.target.removesuffix("()")) or [""]
    if not re.fullmatch(r"[\w$?!~-]+", name):
        raise ToolFailure("not found: this is not the name of a class or function")
    ctx = ground.context()
    places = [place async for place in _find_definitions(name, tuple(outer), ground, ctx)]
    if not places:
        left_out = await ctx.host.search.count_left_out(ctx.workspace)
        raise ToolFailure(say_absent("not found: no definition of that name in the workspace", left_out))
    shown = "\n\n".join(places[:MOST_DEFINITIONS])
    more = f"\n\n[{len(places) - MOST_DEFINITIONS} more places]" if len(places) > MOST_DEFINITIONS else ""
    return make_notes("symbol", f"{mention.text}: defined in {_count_of(len(places), 'place')} ({DATA})", shown + more)


async def _find_definitions(name: str, outer: tuple[str, ...], ground: Ground, ctx: ToolContext) -> AsyncIterator[str]:
    regex = rf"(^|[^\w$]){re.escape(name)}($|[^\w$])"
    result = await ctx.host.search.search(SearchQuery(str(ctx.workspace), regex, context=0, limit=5_000))
    paths = dict.fromkeys(match.path for match in result.matches if ctx.host.code.knows(match.path))
    for path in list(paths)[:MOST_LOOKED_AT]:
        place = Path(path)
        if not ground.admits(place):
            continue
        try:
            data = await read_source(ctx.host.files, place, 1_000_000)
        except OSError:  # it changed in the meantime
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        for found in await ctx.host.code.definitions(place.name, data) or ():
            if found.name == name and found.parent[len(found.parent) - len(outer) :] == outer:
                yield "\n".join(_show_symbol(found, place.relative_to(ctx.workspace).as_posix(), lines))


def _show_symbol(found: Definition, path: str, lines: list[str]) -> Iterator[str]:
    yield f"{path}:{found.line}-{found.last_line} ({' '.join([found.kind, *found.parent[-1:]])})"
    fitted = fit_lines(lines[found.line - 1 : found.last_line], SYMBOL, numbered_from=found.line)
    yield from fitted.lines
    if fitted.cut:
        yield f"[continue with start_line={found.line + len(fitted.lines)}]"


def _count_of(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
