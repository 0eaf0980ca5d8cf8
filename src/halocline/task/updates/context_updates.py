"""What the model is told before a request: rules, jobs, what the person ran, MCP servers, files that changed, the to-do
list, its surroundings, errors found late, what the person mentioned by `@`; and the tools that rules take from it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.context.system_prompt.environment import environment_news
from halocline.protocol.events import (
    DiagnosticsReported,
    EnvironmentReported,
    Event,
    MentionsResolved,
    OwnCommandsReported,
    RulesChanged,
)
from halocline.protocol.messages import Message
from halocline.protocol.state.state import State
from halocline.task.host import TaskHost
from halocline.task.updates.jobs import news_of as news_of_jobs


async def news_of(state: State, host: TaskHost, visible: Callable[[], Sequence[Message]]) -> list[Event]:
    """Nothing most of the time. A file whose text is in `visible`, what the model still reads, is not given again."""
    news: list[Event] = [*_news_of_rules(state, host), *await news_of_jobs(state, host.tools.shell.jobs)]
    if state.own_untold:
        from halocline.context.notes.user_shell import own_commands_note

        news.append(OwnCommandsReported(content=(own_commands_note(state.own_untold),)))
    if host.tools.mcp:
        news += await host.tools.mcp.news(state)
    if host.sources.instructions and (rules := host.sources.instructions.news(state)):
        news.append(rules)
    if host.sources.changes:
        news += await host.sources.changes.news(state)
    if changed_around := environment_news(state):
        news.append(EnvironmentReported(content=(changed_around,)))
    if late := host.sources.diagnostics.late():
        from halocline.context.notes.diagnostics import LATE, note_new_problems

        news.append(DiagnosticsReported(content=(note_new_problems(late, Path(state.workspace), LATE),)))
    said = [words for words in state.unheard if "@" in words]
    if said and host.sources.mentions and (content := await host.sources.mentions.resolve(said, state, visible())):
        news.append(MentionsResolved(content=content))
    return news


def _news_of_rules(state: State, host: TaskHost) -> list[Event]:
    """Rules that take a tool from the model, or give it back; others are told when a call is judged by them."""
    from halocline.policy.rules import withdrawn_tools

    book = host.permissions.book()
    before, now = (withdrawn_tools(some.rules, state.workspace) for some in (state.rules, book))
    return [RulesChanged(book=book)] if before != now else []
