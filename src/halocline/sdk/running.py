"""Running tasks from a program: one call for a result, an open task for more, many at once."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from halocline.batch.purse import Purse
from halocline.client.tasks import Client, open_client
from halocline.ports.model import Model
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value
from halocline.sdk.option_types import require_text
from halocline.sdk.options import Options, read_choices, read_folder, read_options, with_options
from halocline.sdk.raised import Raised
from halocline.sdk.result import Result, TaskFailed
from halocline.sdk.task import Task
from halocline.sdk.threads import run_on_own_loop
from halocline.sdk.values import describe_error

if TYPE_CHECKING:
    from typing_extensions import TypeForm  # what type checkers have; classes alone need none

T = TypeVar("T")
NAME = "sdk"
"""The client's name in commands."""
AT_ONCE = 4


class Job(Value, frozen=True):
    """One of many runs: its prompt, and the folder and model that differ from the options of all."""

    prompt: str
    folder: Path | str | None = None
    model: str | Model | None = None


Jobs = Sequence[str | Job]


class BatchOptions(Options, total=False):
    """Options of many runs."""

    at_once: int
    max_total_cost: float | None


@overload
async def run(prompt: str, *, result: None = None, **options: Unpack[Options]) -> Result[None]: ...
@overload
async def run(prompt: str, *, result: type[T], **options: Unpack[Options]) -> Result[T]: ...
@overload
async def run(prompt: str, *, result: "TypeForm[T]", **options: Unpack[Options]) -> Result[T]: ...
@with_options
async def run(prompt: str, *, result: Any = None, **options: Unpack[Options]) -> Result[Any]:
    """Run one prompt to its end, in a task of its own.

    Args:
        prompt: what to do.
        result: the type of the answer (`Result.value`): a dataclass, TypedDict, pydantic model, `list[str]` and so on.
        options: see `Options`.

    Raises:
        TaskFailed: it ended with an error, or without a value of that type; `result` of the error has the rest.
        UsageError: an option is wrong, or there is no model.
        SettingsError: a settings file is invalid.
    """
    require_text(prompt)
    async with _opened(None, options) as task:
        done: Result[Any] = await task.run(prompt, result=result)
    if done.error:
        raise done.error
    return done


@overload
def run_sync(prompt: str, *, result: None = None, **options: Unpack[Options]) -> Result[None]: ...
@overload
def run_sync(prompt: str, *, result: type[T], **options: Unpack[Options]) -> Result[T]: ...
@overload
def run_sync(prompt: str, *, result: "TypeForm[T]", **options: Unpack[Options]) -> Result[T]: ...
@with_options
def run_sync(prompt: str, *, result: Any = None, **options: Unpack[Options]) -> Result[Any]:
    """Run one prompt to its end, for scripts and notebooks. Raises as `run` does.

    Where an event loop runs already, as in a notebook, it runs in a thread, and that loop waits. Ctrl-C interrupts the
    task, which can be resumed.
    """
    make = partial(run, prompt, result=result, **options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    return run_on_own_loop(make)


@with_options
@asynccontextmanager
async def open(*, resume: str | None = None, **options: Unpack[Options]) -> AsyncGenerator[Task]:
    """Open a new task, or one from before, and close it in the end; a turn that runs then is interrupted.

    Args:
        resume: the id of a task to go on with, or its beginning.
        options: see `Options`.

    Raises:
        UsageError: an option is wrong, or there is no model.
        TaskNotFound: there is no task to resume.
        TaskBusy: another process runs it.
    """
    async with _opened(resume, options) as task:
        yield task


@overload
async def run_all(jobs: Jobs, *, result: None = None, **options: Unpack[BatchOptions]) -> list[Result[None]]: ...
@overload
async def run_all(jobs: Jobs, *, result: type[T], **options: Unpack[BatchOptions]) -> list[Result[T]]: ...
@overload
async def run_all(jobs: Jobs, *, result: "TypeForm[T]", **options: Unpack[BatchOptions]) -> list[Result[T]]: ...
@with_options
async def run_all(
    jobs: Jobs,
    *,
    at_once: int = AT_ONCE,
    max_total_cost: float | None = None,
    result: Any = None,
    **options: Unpack[Options],
) -> list[Result[Any]]:
    """Run many prompts, each in a task of its own, and return their results in the same order.

    One that fails does not stop the others: its result has the `error`.

    Args:
        jobs: the prompts; a `Job` has its own folder or model.
        at_once: how many run at the same time.
        max_total_cost: US dollars for all of them; when that is spent, no further one starts. None spends more by
            itself.
        result: the type of each answer.
        options: for all of them; see `Options`.

    Raises:
        UsageError: an option is wrong.
    """
    if max_total_cost is not None:  # none may spend more by itself, and each needs a model whose price is known
        options["max_cost"] = min(max_total_cost, options.get("max_cost") or max_total_cost)
    room, purse = asyncio.Semaphore(max(1, at_once)), Purse(max_total_cost)
    wanted = [Job(job) if isinstance(job, str) else job for job in jobs]
    async with _client_of(options) as client, asyncio.TaskGroup() as group:
        running = [group.create_task(_run_within(room, purse, client, job, result, options)) for job in wanted]
    return [one.result() for one in running]


async def _run_within(
    room: asyncio.Semaphore, purse: Purse, client: Client, job: Job, kind: Any, options: Options
) -> Result[Any]:
    async with room:
        try:
            purse.require_money()
            done = await _run_job(client, job, kind, options)
        except Exception as error:
            return _failed(error)
        purse.spend(done.cost)
        return done


async def _run_job(client: Client, job: Job, kind: Any, options: Options) -> Result[Any]:
    own = options.copy()
    if job.folder is not None:
        own["folder"] = job.folder
    if job.model is not None:
        own["model"] = job.model
    async with _task_on(client, own, None) as task:
        try:
            done: Result[Any] = await task.run(job.prompt, result=kind)
        except Exception as error:
            return _failed(error, task.result)
    return done


def _failed(error: Exception, done: Result[Any] | None = None) -> Result[Any]:
    """Return the result of a run that raised; the cause of its error is what was raised."""
    known = error if isinstance(error, HaloclineError) else HaloclineError(describe_error(error))
    result: Result[Any] = done or Result(task="")
    result.error = TaskFailed(known.text, known.hint, result)
    result.error.__cause__ = error
    return result


@asynccontextmanager
async def _opened(resume: str | None, options: Options) -> AsyncGenerator[Task]:
    async with _client_of(options) as client, _task_on(client, options, resume) as task:
        yield task


@asynccontextmanager
async def _task_on(client: Client, options: Options, resume: str | None) -> AsyncGenerator[Task]:
    """Open a task and close it in the end; a turn that runs then is interrupted."""
    task = await _open_on(client, options, resume)
    try:
        yield task
    finally:
        if task.state.turn:
            task.interrupt()
        await task.close()
    task.raise_first()


@asynccontextmanager
async def _client_of(options: Options) -> AsyncIterator[Client]:
    client = open_client(read_choices(options), NAME, is_watched=lambda: False, folder=read_folder(options))
    try:
        yield client
    finally:
        await client.close()


async def _open_on(client: Client, options: Options, resume: str | None) -> Task:
    model = options.get("model")
    if model is not None and not isinstance(model, str):
        client.attach_model(model)
    raised = Raised()
    chosen = read_options(options, raised)
    name = await client.resume(resume, chosen) if resume else await client.start(read_folder(options), chosen)
    return Task(client, name, options, raised)
