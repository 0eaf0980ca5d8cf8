"""What the model is told before a request: what became of jobs, errors found late, what the person mentioned by `@`."""

from collections.abc import Sequence
from pathlib import Path

from halocline.protocol.events import DiagnosticsReported, JobsReported, MentionsResolved
from halocline.protocol.messages import Message
from halocline.protocol.state import State
from halocline.task.jobs import news_of as news_of_jobs
from halocline.task.machine import Machine

News = JobsReported | DiagnosticsReported | MentionsResolved


async def news_of(state: State, machine: Machine, visible: Sequence[Message] = ()) -> list[News]:
    """Nothing most of the time. A file whose text is in `visible`, what the model still reads, is not given again."""
    news: list[News] = [*news_of_jobs(machine.shell.jobs)]
    if late := machine.diagnostics.late():
        from halocline.context.diagnostic_notes import LATE, introduced

        news.append(DiagnosticsReported(content=(introduced(late, Path(state.workspace), LATE),)))
    said = [words for words in state.unheard if "@" in words]
    if said and machine.mentions and (content := await machine.mentions.resolve(said, state, visible)):
        news.append(MentionsResolved(content=content))
    return news
