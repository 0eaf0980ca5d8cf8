"""execute_command: one shell command in the workspace; its end is told in words, whatever it was."""

import signal
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.host import ShellCommand, ShellResult
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.events import ToolKind
from halocline.tools.schema import schema_of

TIME_LIMIT = 600.0
_MEANINGS = {126: "not executable", 127: "command not found"}


class Input(msgspec.Struct):
    command: Annotated[str, Meta(description="Command line for bash.")]
    requires_approval: Annotated[
        bool, Meta(description="True when it deletes, overwrites, installs or reaches beyond the workspace.")
    ] = False
    timeout: Annotated[float | None, Meta(description="Seconds.")] = None


def summary(input: Input) -> Summary:
    return Summary(title=input.command, kind=ToolKind.EXECUTE, command=input.command, risky=input.requires_approval)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    limit = input.timeout if input.timeout and input.timeout > 0 else TIME_LIMIT
    command = ShellCommand(input.command, str(ctx.workspace), limit)
    result = await ctx.shell.run(command, ctx.progress)
    output = result.output.rstrip("\n") or "[no output]"
    return ToolOutput.of(f"{output}\n[{_status(result, limit)}]")


def _status(result: ShellResult, limit: float) -> str:
    code, time = result.exit_code, f"{result.seconds:.1f} s"
    if code is None:
        return (
            f"stopped: it was still running after {limit:g} s; for a long one set timeout, or run it in the background"
        )
    if code < 0:
        return f"killed by {_signal(-code)} after {time}"
    meaning = _MEANINGS.get(code) or (_signal(code - 128) if code > 128 else "")
    return f"exit code {code}{f' ({meaning})' if meaning else ''} in {time}"


def _signal(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}" if number < 65 else ""


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "execute_command",
        "Run a bash command in the workspace, for builds, tests, git and the like; the result has its output and exit "
        "code. Each call is a new shell without stdin or terminal: use non-interactive flags. It is stopped after "
        f"{TIME_LIMIT:g} s unless timeout says otherwise; end with `&` what must go on running.",
        schema_of(Input),
    ),
    kind=ToolKind.EXECUTE,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
)
