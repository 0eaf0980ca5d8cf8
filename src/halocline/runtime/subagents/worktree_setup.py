"""Prepares an agent's new worktree by the command of the settings.

It is judged as if the task that starts the agent ran it, and never asked about: what may not run by itself is told to
the agent, whose own call of it is asked like any other.
"""

from pathlib import Path

from msgspec.structs import replace

from halocline.policy.gate import decide_call
from halocline.ports.hooks import Hook, HookEnd
from halocline.ports.tool import Summary
from halocline.protocol.events.hooks import HookSource
from halocline.protocol.kinds import Mode, ToolKind
from halocline.protocol.permission_rules import Verdict
from halocline.runtime.assembly.assembly import Assembly
from halocline.task.calls.policy_input import make_policy_context
from halocline.task.task import Task

LONGEST = 600.0
"""Seconds for the command."""
SHOWN = 2_000
"""Characters of its output that the agent reads if it failed."""
_NOT_RUN = "The setup command of this worktree did not run, because {why}: {command}\nRun it yourself if you need it."
_FAILED = "The setup command of this worktree, {command}, {how}. The end of its output:\n{output}"


async def set_up_worktree(folder: Path, parent: Task, assembly: Assembly, *, trusted: bool) -> str:
    """Run the command for new worktrees in one; return what its agent must know, which is mostly nothing."""
    settings = assembly.in_folder(Path(parent.state.workspace), trusted=trusted).settings
    command = settings.worktree_setup.strip()
    if not command:
        return ""
    context = make_policy_context(parent.state, parent.home, parent.host.shell_facts)
    context = replace(context, workspace=folder, mode=Mode.ACT)
    in_sandbox = False if context.sandbox.required else None
    decision = decide_call(
        Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command", in_sandbox=in_sandbox), context
    )
    if decision.verdict is not Verdict.ALLOW:
        return parent.host.secrets.redact(_NOT_RUN.format(why=decision.reason, command=command))
    words = ("/bin/sh", "-c", command)
    hook = Hook("worktree_setup", None, "", HookSource.USER, "", words)
    ended = await assembly.hook_runner(folder).run(hook, b"", LONGEST, lambda piece: None)
    return parent.host.secrets.redact(_describe_failure(command, ended))


def _describe_failure(command: str, ended: HookEnd) -> str:
    if ended.exit_code == 0 and not ended.timed_out:
        return ""
    how = f"did not end in {LONGEST:.0f} s" if ended.timed_out else f"ended with exit code {ended.exit_code}"
    output = f"{ended.output}{ended.errors}{ended.trouble}"[-SHOWN:]
    return _FAILED.format(command=command, how=how, output=output)
