"""Context updates before a request: rules, jobs, agents, the user's own commands, MCP servers, changed files, the to-do
list, the environment, late errors, `@` mentions; tools that rules withdraw, and images that the model does not see.
"""

from pathlib import Path

from halocline import policy
from halocline.context import notes
from halocline.context.request import Context
from halocline.context.system_prompt.environment import note_environment_changes
from halocline.protocol import events as ev
from halocline.protocol.events.subagents import AgentsReported
from halocline.protocol.messages import UserPart
from halocline.protocol.state.state import State
from halocline.task.host import TaskHost
from halocline.task.updates.jobs import collect_updates as news_of_jobs
from halocline.task.updates.unseen_images import report_unseen_images


async def collect_updates(state: State, host: TaskHost, context: Context) -> list[ev.Event]:
    """Collect the updates; usually none. A file whose text the model reads already is not repeated."""
    news: list[ev.Event] = [
        *report_unseen_images(state, host.takes_images),
        *_report_withdrawn_tools(state, host),
        *await news_of_jobs(state, host.tools.shell.jobs),
    ]
    if state.user_commands.unreported:
        news.append(
            ev.OwnCommandsReported(content=(notes.user_shell.own_commands_note(state.user_commands.unreported),))
        )
    if state.subagents.unreported:
        news.append(AgentsReported(content=(notes.agents.note_reports(state.subagents.unreported),)))
    if host.tools.mcp:
        news += await host.tools.mcp.collect_changes(state)
    if host.sources.instructions and (rules := host.sources.instructions.collect_changes(state)):
        news.append(rules)
    if host.sources.changes:
        news += await host.sources.changes.collect_changes(state)
    if changed_around := note_environment_changes(state, context.reported(state)):
        news.append(ev.EnvironmentReported(content=(changed_around,)))
    if late := host.sources.diagnostics.late():
        note = notes.diagnostics.note_new_problems(late, Path(state.workspace), notes.diagnostics.LATE)
        news.append(ev.DiagnosticsReported(content=(note,)))
    if content := await _resolve_mentions(state, host, context):
        news.append(ev.MentionsResolved(content=content))
    return news


async def _resolve_mentions(state: State, host: TaskHost, context: Context) -> tuple[UserPart, ...]:
    pending = state.pending
    said, files = ([text for text in texts if "@" in text] for texts in (pending.unheard, pending.unheard_files))
    if not (said or files) or host.sources.mentions is None:
        return ()
    return await host.sources.mentions.resolve(said, state, context.visible(state), files)


def _report_withdrawn_tools(state: State, host: TaskHost) -> list[ev.Event]:
    """Report rules that withdraw a tool or restore it; other rules are recorded when a call is judged by them."""
    book = host.permissions.book()
    before, now = (
        policy.rules.withdrawn_tools(some.rules, state.workspace) if some.rules else frozenset[str]()
        for some in (state.permissions.rules, book)
    )
    return [ev.RulesChanged(book=book)] if before != now else []
