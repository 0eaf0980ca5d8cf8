"""job: manages commands that keep running. Text typed into one is a command, and the gate judges it as one."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context.notes.jobs import describe_status
from halocline.ports.jobs import JobOutput
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.jobs import JobState
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool
from halocline.tools.time_limits import read_seconds

_KEYS = frozenset("\x03\x04\x1a\x1b\r\n\t ")
"""Interrupt, end of input, suspend, escape, Enter and blanks: keys that are no command to a shell."""
_LONGEST_WAIT = 600.0
NOTHING_NEW = "[no new output; {job} is still running. To wait for its end, set wait.]"
"""Always the same text, so that repeated reads are detected as a loop."""


class Action(StrEnum):
    LIST = "list"
    READ = "read"
    WRITE = "write"
    STOP = "stop"


class Input(msgspec.Struct):
    action: Annotated[Action, Meta(description="Operation to perform.")]
    job: Annotated[str, Meta(description="Job name; omit for list.")] = ""
    text: Annotated[
        str, Meta(description="write: text to type; \\n is Enter, \\u0003 is Ctrl-C. Only for jobs with tty.")
    ] = ""
    wait: Annotated[float, Meta(description="read: seconds to wait for the job to end.")] = 0.0


def summary(input: Input) -> Summary:
    match input.action:
        case Action.LIST:
            return Summary(title="List jobs", kind=ToolKind.READ)
        case Action.READ:
            return Summary(title=f"Read {input.job}", kind=ToolKind.READ)
        case Action.WRITE if set(input.text) - _KEYS:
            return Summary(
                title=f"{input.job} ← {input.text.rstrip()}", kind=ToolKind.EXECUTE, command=input.text, place=input.job
            )
        case Action.WRITE:
            return Summary(title=f"{input.job} ← {_name_keys(input.text)}", kind=ToolKind.OTHER)
        case Action.STOP:
            return Summary(title=f"Stop {input.job}", kind=ToolKind.OTHER)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    jobs = ctx.host.shell.jobs
    match input.action:
        case Action.LIST:
            await jobs.find_ports()
            lines = [f"{info.name}: {info.command}\n[{describe_status(info)}]" for info in jobs.list()]
            return ToolOutput.of("\n".join(lines) or "No jobs.")
        case Action.READ:
            wait, note = read_seconds("wait", input.wait or None, 0.0, _LONGEST_WAIT)
            output = await jobs.read(input.job, wait or 0.0)
            if not (output.text or input.wait or output.info.state is JobState.ENDED):
                return ToolOutput.of(NOTHING_NEW.format(job=input.job))
            return _describe_output(output, "" if output.info.state is JobState.ENDED else note)
        case Action.WRITE:
            if not input.text:
                raise ToolFailure("text is empty. Set it to what you want to type.")
            return _describe_output(await jobs.write(input.job, input.text))
        case Action.STOP:
            await jobs.stop(input.job)
            return _describe_output(await jobs.read(input.job))


def _describe_output(output: JobOutput, note: str = "") -> ToolOutput:
    text = output.text.rstrip("\n") or "[no new output]"
    facts = "; ".join(filter(None, (describe_status(output.info), output.hint, note)))
    return ToolOutput.of(f"{text}\n[{output.info.name}: {facts}]")


def _name_keys(keys: str) -> str:
    return "".join(
        {"\x03": "^C", "\x04": "^D", "\x1a": "^Z", "\x1b": "Esc", "\n": "⏎", "\r": "⏎"}.get(key, key) for key in keys
    )


DESCRIPTION = (
    "Manage commands that keep running: list them, read new output and status, write to a terminal, or stop one. "
    "They end with the task."
)
TOOL = define_tool("job", DESCRIPTION, ToolKind.EXECUTE, Input, summary, run, edits=True)
