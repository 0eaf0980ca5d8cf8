"""What a person may type at the prompt with a slash before it. Only these words count; any other text is a prompt.

Some are answered here, about the task's jobs. The others let the model have a tool that it is offered on request only;
what was typed behind the word goes along.
"""

from halocline.controller.client import Client
from halocline.protocol.commands import StopJob
from halocline.protocol.jobs import JobInfo, JobState
from halocline.protocol.values import Value

JOBS = "/jobs"
USAGE = "/jobs          list the jobs\n/jobs show ID  the end of what one printed\n/jobs stop ID  end one"


class Slash(Value, frozen=True):
    """One word: what it does, what may follow, and the tool that it lets the model have."""

    text: str
    rest: str = ""
    tool: str = ""


SLASH = {
    JOBS: Slash("list the commands that go on, show what one printed, stop one", "[show ID | stop ID]"),
    "/newtask": Slash("go on in a fresh task, with a hand-over that you accept", "[what matters]", "new_task"),
    "/newrule": Slash("make a rule for agents in this project", "[the rule]", "new_rule"),
    "/reportbug": Slash("prepare a report about a bug of Halocline; nothing is sent", "[what happened]", "report_bug"),
    "/explain-changes": Slash("comments on the lines of a diff", "[which changes]", "generate_explanation"),
}


def tool_of(prompt: str) -> str:
    """The tool that a prompt asks for; empty for any other."""
    word = prompt.split(maxsplit=1)[0] if prompt.strip() else ""
    return SLASH[word].tool if word in SLASH else ""


def is_for_us(prompt: str) -> bool:
    """Whether a prompt is answered here and not sent to a model."""
    return prompt.split(maxsplit=1)[:1] == [JOBS]


def answer(prompt: str, client: Client, task: str) -> str:
    """What is said to a prompt for us."""
    jobs = {job.name: job for job in client.jobs(task)}
    match prompt.split()[1:]:
        case []:
            return "\n".join(_listed(job, client.job_tail(task, job.name)) for job in jobs.values()) or "No jobs."
        case ["show", name] if name in jobs:
            return f"{_status(jobs[name])}\n{client.job_tail(task, name) or '[it printed nothing]'}"
        case ["stop", name] if name in jobs:
            return _stopped(jobs[name], client, task)
        case ["show" | "stop", name]:
            return f"There is no job {name!r}. There are: {', '.join(jobs) or 'none'}."
    return USAGE


def _stopped(job: JobInfo, client: Client, task: str) -> str:
    if job.state is JobState.ENDED:
        return f"{job.name} has ended already."
    client.send(StopJob(task=task, job=job.name))
    return f"Stopping {job.name}: {_line(job.command)}"


def _listed(job: JobInfo, tail: str) -> str:
    last = tail.rsplit("\n", 1)[-1]
    return _status(job) + (f"\n    {last}" if last else "")


def _status(job: JobInfo) -> str:
    return f"{job.name}  {_state(job)}  {_line(job.command)}"


def _state(job: JobInfo) -> str:
    if job.state is not JobState.ENDED:
        from halocline.surfaces.figures import duration  # which a run without a person does not need

        ports = f", port {', '.join(map(str, job.ports))}" if job.ports else ""
        return f"runs for {duration(job.seconds)}{ports}"
    if job.stopped:
        return f"stopped ({job.stopped})"
    return "ended" if job.exit_code is None else f"ended with exit code {job.exit_code}"


def _line(command: str) -> str:
    return " ".join(command.split())
