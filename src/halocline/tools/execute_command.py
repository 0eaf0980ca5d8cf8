"""execute_command: one shell command in the workspace; its end, or that it goes on, is told in words."""

import os.path
import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.context.notes.jobs import exit_words, find_answer
from halocline.context.notes.withheld_variables import withheld_note
from halocline.ports.host import Left, ShellCommand, ShellResult
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.events import DurableEvent, JobStarted, ToolKind
from halocline.protocol.messages import Text
from halocline.protocol.values import JsonObject
from halocline.tools.schema import schema_of

TIME_LIMIT = 600.0
_SILENT = 5.0
_STOPPED = re.compile(
    r"(?i)read-only file system|operation not permitted|permission denied|could ?n[o']t resolve|name resolution"
    r"|network is unreachable|name or service not known|connection refused|EROFS|EPERM|EACCES|EAI_AGAIN|ENETUNREACH"
)
STOPPED = (
    "it ran in the sandbox: only the workspace and /tmp can be written, and the network is off unless a person set it "
    "on. If that stopped it and it is needed, send it again with unsandboxed=true; a person decides"
)
_LEFT = {
    Left.MODEL: "it goes on as {job}",
    Left.PERSON: "the person let it go on as {job}",
    Left.SHELL: "what it left running goes on as {job}",
}


class Input(msgspec.Struct):
    command: Annotated[str, Meta(description="Command line for bash.")]
    requires_approval: Annotated[
        bool, Meta(description="True when it deletes, overwrites, installs or reaches beyond the workspace.")
    ] = False
    timeout: Annotated[float | None, Meta(description="Seconds until it is stopped.")] = None
    background: Annotated[
        bool, Meta(description="Let it go on as a job once it is ready or quiet: for servers, watchers, long builds.")
    ] = False
    tty: Annotated[bool, Meta(description="Give it a terminal; answer its prompts with job.")] = False


class SandboxedInput(Input):
    unsandboxed: Annotated[
        bool, Meta(description="Ask the person to let it run outside the sandbox; only when the sandbox stopped it.")
    ] = False


def summary(input: Input) -> Summary:
    return Summary(
        title=input.command,
        kind=ToolKind.EXECUTE,
        command=input.command,
        risky=input.requires_approval,
        in_sandbox=not _leaves_shell(input),
    )


def _leaves_shell(input: Input) -> bool:
    return isinstance(input, SandboxedInput) and input.unsandboxed


def patch_instead(input: Input, cwd: str) -> tuple[str, JsonObject] | None:
    """A patch that is handed to the shell is an edit of its files, and is judged, shown and made as one."""
    if "patch" not in input.command or "\n" not in input.command:
        return None
    from halocline.edits.shell_patch import shell_patch  # commands that are no patch do without

    found = shell_patch(input.command)
    if found is None:
        return None
    folder = str(Path(cwd, os.path.expanduser(found.folder))) if cwd or found.folder else ""
    return "apply_patch", {"input": found.text, "folder": folder}


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    limit = input.timeout if input.timeout and input.timeout > 0 else None
    if limit is None and not (input.background or input.tty):
        limit = TIME_LIMIT
    command = ShellCommand(
        ctx.call.judged_command or input.command,
        str(ctx.workspace),
        limit,
        background=input.background,
        terminal=input.tty,
        judged=bool(ctx.call.judged_command),
        unsandboxed=_leaves_shell(input),
    )
    result = await ctx.host.shell.run(command, ctx.report)
    output = result.output.rstrip("\n") or "[no output]"
    told = (Text(f"{output}\n[{'; '.join(_describe_status(result, limit, input.command))}]"),)
    return ToolOutput(told, events=_list_events(result, input.command, ctx.call.id))


def _list_events(result: ShellResult, command: str, call: str) -> tuple[DurableEvent, ...]:
    events: list[DurableEvent] = [result.moved] if result.moved else []
    if result.left:
        events.append(JobStarted(job=result.job, command=command, call=call, by=result.left.value))
    return tuple(events)


def _describe_status(result: ShellResult, limit: float | None, command: str = "") -> list[str]:
    said = [] if result.exit_code is None and result.left else [_describe_end(result, command, limit)]
    if result.left:
        said.append(_LEFT[result.left].format(job=result.job))
    if result.ports:
        where = ", which no other command reaches if the sandbox has no network" if result.sandboxed else ""
        said.append(f"listening on port {', '.join(map(str, result.ports))}{where}")
    if result.full_screen:
        said.append("it draws on the whole screen, which cannot be shown; prefer a program that does not")
    if result.gone:
        said.append(f"the folder {result.gone} is gone, so it ran in the workspace")
    if result.sandboxed and result.exit_code and _STOPPED.search(result.output):
        said.append(STOPPED)
    if note := withheld_note(command, result.output, result.exit_code, result.withheld):
        said.append(note)
    return [*said, *result.set_aside]


def _describe_end(result: ShellResult, command: str, limit: float | None) -> str:
    code, time = result.exit_code, f"{result.seconds:.1f} s"
    if code is not None:
        return f"{exit_words(code, find_answer(command, result))} {'in' if code >= 0 else 'after'} {time}"
    return f"stopped: it was still running after {limit:g} s; {_give_advice(result)}"


def _give_advice(result: ShellResult) -> str:
    """How to do better, by what it did at the end."""
    if result.ports:
        return f"it listened on port {result.ports[0]}: start a server with background=true"
    if result.stuck and result.quiet > _SILENT:
        return (
            f"it had been silent for {result.quiet:.0f} s and used no processor: if it waits for input, use flags that "
            "do not ask, or tty=true; if it serves, background=true"
        )
    return "for a long one set timeout, or use background=true and wait for it with job"


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "execute_command",
        "Run a bash command, for builds, tests, git and the like; the result has its output and exit code. The first "
        "begins in the workspace; cd and export last from one call to the next. Without tty there is no input: use "
        f"flags that do not ask. Stopped after {TIME_LIMIT:g} s unless timeout, background or tty says otherwise.",
        schema_of(Input),
    ),
    kind=ToolKind.EXECUTE,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
    instead=patch_instead,
)

SANDBOXED: Tool[SandboxedInput] = Tool(
    spec=ToolSpec(
        TOOL.spec.name,
        f"{TOOL.spec.description} It runs in a sandbox: it can write the workspace and /tmp, and what it leaves "
        "running without background ends with it.",
        schema_of(SandboxedInput),
    ),
    kind=TOOL.kind,
    input=SandboxedInput,
    summary=summary,
    run=run,
    edits=True,
    instead=patch_instead,
)
"""The same where commands are held in a sandbox: it can ask to be let out."""
SANDBOXED_IN_AUTO: Tool[SandboxedInput] = replace(SANDBOXED)
"""The same where they are held in approval mode auto only: in other modes the model is told nothing of it."""
