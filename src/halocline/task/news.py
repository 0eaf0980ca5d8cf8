"""What the model is told before a request: what became of jobs, MCP servers, errors found late,

and the `@problems` of a prompt.
"""

from pathlib import Path

from halocline.context.mentions import mentions_problems
from halocline.protocol.events import DiagnosticsReported, Event
from halocline.protocol.messages import UserMessage
from halocline.protocol.state import State
from halocline.task.jobs import news_of as news_of_jobs
from halocline.task.machine import Machine


async def news_of(state: State, machine: Machine) -> list[Event]:
    """Nothing most of the time."""
    news: list[Event] = [*news_of_jobs(machine.shell.jobs)]
    if machine.mcp:
        news += await machine.mcp.news(state)
    workspace = Path(state.workspace)
    if late := machine.diagnostics.late():
        from halocline.context.diagnostic_notes import LATE, introduced

        news.append(DiagnosticsReported(content=(introduced(late, workspace, LATE),)))
    last = state.messages[-1] if state.messages else None
    if isinstance(last, UserMessage) and mentions_problems(last.content):
        from halocline.context.diagnostic_notes import current

        changed = [workspace / path for path in sorted(state.files_changed)]
        news.append(DiagnosticsReported(content=(current(await machine.diagnostics.current(changed), workspace),)))
    return news
