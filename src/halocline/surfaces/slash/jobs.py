"""`/jobs`: background jobs of a task. It also stops commands that the person runs elsewhere (`!`)."""

from collections.abc import Container, Sequence

from halocline.client.tasks import Client
from halocline.protocol.commands import StopCommand, StopJob
from halocline.protocol.events.jobs import JobInfo, JobState
from halocline.surfaces.figures import format_duration
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

USAGE = "/jobs          list jobs\n/jobs show ID  show the end of a job's output\n/jobs stop ID  stop a job"


async def answer_jobs(context: SlashContext, rest: str) -> SlashAnswer:
    client, task = context.client, context.task
    jobs = {job.name: job for job in client.jobs(task)}
    match _name_job(rest.split(), jobs):
        case []:
            return "\n".join(_describe_job(job, client.job_tail(task, job.name)) for job in jobs.values()) or "No jobs."
        case ["show", name] if name in jobs:
            return f"{_describe_status(jobs[name])}\n{client.job_tail(task, name) or '[no output]'}"
        case ["stop", name] if name in jobs:
            return _stop_job(jobs[name], client, task)
        case ["stop", run] if own := [one for one in client.state(task).user_commands.running if one.run == run]:
            client.send(StopCommand(task=task, run=run))
            return f"Stopping {run}: {_short_line(own[0].command)}"
        case ["show" | "stop", name]:
            return f"No job {name!r}. Jobs: {', '.join(jobs) or 'none'}."
    return USAGE


async def complete_jobs(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            return {"show ": "", "stop ": ""}
        case ["show" | "stop"]:
            running = client.state(task).user_commands.running if given == ["stop"] else ()
            return {job.name: job.command for job in client.jobs(task)} | {one.run: one.command for one in running}
    return {}


def _name_job(words: list[str], jobs: Container[str]) -> list[str]:
    """Return the words with the whole name of a job that stands there by its number."""
    return [*words[:1], *(f"job-{word}" if f"job-{word}" in jobs else word for word in words[1:])]


def _stop_job(job: JobInfo, client: Client, task: str) -> str:
    if job.state is JobState.ENDED:
        return f"{job.name} has already ended."
    client.send(StopJob(task=task, job=job.name))
    return f"Stopping {job.name}: {_short_line(job.command)}"


def _describe_job(job: JobInfo, tail: str) -> str:
    last = tail.rsplit("\n", 1)[-1]
    return _describe_status(job) + (f"\n    {last}" if last else "")


def _describe_status(job: JobInfo) -> str:
    return f"{job.name}  {_describe_state(job)}  {_short_line(job.command)}"


def _describe_state(job: JobInfo) -> str:
    if job.state is not JobState.ENDED:
        ports = f", port {', '.join(map(str, job.ports))}" if job.ports else ""
        return f"running for {format_duration(job.seconds)}{ports}"
    if job.stopped:
        return f"stopped ({job.stopped})"
    return "ended" if job.exit_code is None else f"ended with exit code {job.exit_code}"


def _short_line(command: str) -> str:
    return " ".join(command.split())
