"""execute_command: one shell command in the workspace; the result says how it ended, or that it still runs."""

import os.path
import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline import edits
from halocline.context.notes.jobs import exit_words, find_answer
from halocline.context.notes.withheld_variables import withheld_note
from halocline.ports.host import Left, ShellCommand, ShellResult
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput
from halocline.protocol.events import DurableEvent, JobStarted
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import Text
from halocline.protocol.values import JsonObject
from halocline.tools.schema import define_tool
from halocline.tools.time_limits import read_seconds

TIME_LIMIT, LONGEST, LONGEST_JOB = 600.0, 3600.0, 86_400.0
"""Seconds for a command: the usual limit, and the longest that a call can set, also for one that becomes a job."""
_SILENT = 5.0
_STOPPED = (
    r"(?i)read-only file system|operation not permitted|permission denied|device or resource busy|could ?n[o']t resolve"
    r"|name resolution|network is unreachable|name or service not known|connection refused"
    r"|EROFS|EPERM|EACCES|EBUSY|EAI_AGAIN|ENETUNREACH"
)
STOPPED = "it ran in the sandbox: {bounds}"
ADVICE = ". If that blocked a command you need, send it again with unsandboxed=true; the user decides"
_LEFT = {
    Left.MODEL: "still running as {job}",
    Left.PERSON: "the user moved it to the background; still running as {job}",
    Left.SHELL: "processes it started are still running as {job}",
}
_FOR_PERSON = _LEFT | {Left.PERSON: "in the background ({job})"}


class Input(msgspec.Struct):
    command: Annotated[str, Meta(description="Bash command line.")]
    requires_approval: Annotated[
        bool, Meta(description="True if it deletes, overwrites, installs or reaches outside the workspace.")
    ] = False
    timeout: Annotated[float | None, Meta(description="Seconds (not milliseconds) before it is stopped.")] = None
    background: Annotated[
        bool, Meta(description="Keep it running as a job once ready or quiet: for servers, watchers, long builds.")
    ] = False
    tty: Annotated[bool, Meta(description="Give it a terminal; answer its prompts with job.")] = False
    folder: str = ""
    """Where to run it without moving the shell, as other agents' tools take it."""

    def __post_init__(self) -> None:
        """Take line ends of Windows for plain ones, before the command is judged, shown and run: bash does not."""
        self.command = self.command.replace("\r\n", "\n")


class SandboxedInput(Input):
    unsandboxed: Annotated[
        bool, Meta(description="Ask the user to run it outside the sandbox; only after the sandbox blocked it.")
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


def read_otherwise(input: Input, cwd: str) -> tuple[str, JsonObject] | None:
    """Turn a piped patch into an apply_patch call, and a folder into a part of the command: the gate judges both so."""
    if "patch" in input.command and "\n" in input.command:
        found = edits.formats.shell_patch.shell_patch(input.command)
        if found is not None:
            parts = [os.path.expanduser(part) for part in (cwd, input.folder, found.folder) if part]
            return "apply_patch", {"input": found.text, "folder": str(Path(*parts)) if parts else ""}
    if not input.folder.strip():
        return None
    given = msgspec.to_builtins(input) | {"command": _write_in_folder(input.command, input.folder.strip())}
    return "execute_command", {key: value for key, value in given.items() if value and key != "folder"}


def _write_in_folder(command: str, folder: str) -> str:
    """Write a command that runs in a folder, or not at all, and leaves the shell where it is."""
    home, slash, below = folder.partition("/") if folder[:1] == "~" else ("", "", folder)
    name = f"~{slash}{shlex.quote(below) if below else ''}" if home == "~" else shlex.quote(folder)
    place = f"./{name}" if folder[0] == "-" else name
    is_plain = not re.search(r"[^\w\s./:=@%+,*?'\"$~&|>-]|\n|\|\||(?<!&)&(?!&)", command)
    return f"(cd {place} && {command})" if is_plain else f"(cd {place} && {{\n{command}\n}})"


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    goes_on = input.background or input.tty
    usual, longest = (None, LONGEST_JOB) if goes_on else (TIME_LIMIT, LONGEST)
    limit, note = read_seconds("timeout", input.timeout, usual, longest)
    command = ShellCommand(
        ctx.call.judged_command or ctx.call.mixed_command or input.command,
        str(ctx.workspace),
        limit,
        background=input.background,
        terminal=input.tty,
        judged=bool(ctx.call.judged_command),
        unsandboxed=_leaves_shell(input),
        call=ctx.call.id,
        written=input.command,
        hides=ctx.call.hides,
        shows_secrets=ctx.call.shows_secrets,
        traceparent=ctx.call.traceparent,
    )
    result = await ctx.host.shell.run(command, ctx.report)
    output = result.output.rstrip("\n") or "[no output]"
    notes = [*filter(None, (note, ctx.call.left_out))]
    status, shown = (
        "; ".join([*_describe_status(result, limit, input.command, to_person=to_person), *notes])
        for to_person in (False, True)
    )
    events = _list_events(result, input.command, ctx.call.id)
    return ToolOutput((Text(f"{output}\n[{status}]"),), events=events, for_person="" if shown == status else shown)


def _list_events(result: ShellResult, command: str, call: str) -> tuple[DurableEvent, ...]:
    events: list[DurableEvent] = [result.moved] if result.moved else []
    if result.left:
        events.append(JobStarted(job=result.job, command=command, call=call, by=result.left.value))
    return tuple(events)


def _describe_status(
    result: ShellResult, limit: float | None, command: str = "", *, to_person: bool = False
) -> list[str]:
    """Describe how a command ended; the model is also told what to do about it."""
    facts = []
    if result.exit_code is not None or not result.left:
        is_late = result.exit_code is None and not to_person
        facts.append(_describe_end(result, command, limit) + (f"; {_give_advice(result)}" if is_late else ""))
    if result.left:
        facts.append((_FOR_PERSON if to_person else _LEFT)[result.left].format(job=result.job))
    if result.ports:
        where = ", which other commands cannot reach if the sandbox has no network" if result.sandboxed else ""
        facts.append(f"listening on port {', '.join(map(str, result.ports))}{where}")
    if result.full_screen:
        facts.append("full-screen programs cannot be shown" + "; use one that prints plain output" * (not to_person))
    if result.gone:
        facts.append(f"the folder {result.gone} no longer exists, so it ran in the workspace")
    if result.sandboxed and result.exit_code and re.search(_STOPPED, result.output):
        facts.append(STOPPED.format(bounds=result.bounds) + ADVICE * (not to_person))
    if note := withheld_note(command, result.output, result.exit_code, result.withheld):
        facts.append(note)
    return [*facts, *result.set_aside]


def _describe_end(result: ShellResult, command: str, limit: float | None) -> str:
    code, time = result.exit_code, f"{result.seconds:.1f} s"
    if code is not None:
        return f"{exit_words(code, find_answer(command, result))} {'in' if code >= 0 else 'after'} {time}"
    return f"stopped: it was still running after {limit:g} s"


def _give_advice(result: ShellResult) -> str:
    """Advise what to do instead, from what the command did at the end."""
    if result.ports:
        return f"it listened on port {result.ports[0]}: start servers with background=true"
    if result.stuck and result.quiet > _SILENT:
        return (
            f"it was silent for {result.quiet:.0f} s and used no CPU: if it waits for input, use flags that avoid "
            "prompts, or tty=true; if it is a server, background=true"
        )
    return "for a long command set timeout, or use background=true and wait for it with job"


DESCRIPTION = (
    "Run a bash command (builds, tests, git and so on); returns its output and exit code. The first one starts in "
    "the workspace; cd and export persist between calls. Without tty there is no input: use flags that avoid "
    f"prompts. Stopped after {TIME_LIMIT:g} s unless you set timeout, background or tty."
)


def _define(input: type[Input], description: str) -> Tool[Any]:
    more: Any = {"unsaid": ("folder",), "edits": True, "instead": read_otherwise}
    return define_tool("execute_command", description, ToolKind.EXECUTE, input, summary, run, **more)


TOOL = _define(Input, DESCRIPTION)
_IN_SANDBOX = (
    f"{DESCRIPTION} It runs in a sandbox: it can write only to the workspace and /tmp, and processes it leaves running "
    "without background end with it."
)
SANDBOXED = _define(SandboxedInput, _IN_SANDBOX)
"""The tool when commands run in a sandbox: a call can ask to run outside it."""
SANDBOXED_IN_AUTO = replace(SANDBOXED)
"""The tool when only approval mode auto uses the sandbox: other modes offer the plain one."""
