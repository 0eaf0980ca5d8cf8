"""What a task says of its jobs: their ends as they come, and to the model, before a request, what is new to it."""

from collections.abc import Callable

from halocline.context.compaction.stale_files import EDITS
from halocline.ports.jobs import Jobs
from halocline.protocol.events import Event, JobEnded, JobsReported
from halocline.protocol.jobs import JobInfo
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.state.state import State


def tell_of_ends(jobs: Jobs, emit: Callable[[Event], None]) -> None:
    """Write down every end from now on."""

    def ended(info: JobInfo) -> None:
        emit(JobEnded(job=info.name, command=info.command, exit_code=info.exit_code, stopped=info.stopped))

    jobs.begin(ended)


async def news_of(state: State, jobs: Jobs) -> tuple[JobsReported, ...]:
    """What to tell the model now; nothing most of the time."""
    if _has_just_edited(state):
        await jobs.settle()
    news = jobs.news()
    if not news:
        return ()
    from halocline.context.notes.jobs import job_news

    return (JobsReported(content=(job_news(news),)),)


def _has_just_edited(state: State) -> bool:
    """Whether the newest reply called for an edit."""
    newest = next((said for said in reversed(state.messages) if isinstance(said, AssistantMessage)), None)
    return newest is not None and any(call.name in EDITS for call in newest.tool_calls)
