"""Describe how a command would be sandboxed, for display and for the log. Pure."""

from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import SandboxStanding


def must_hold(summary: Summary, checked: SandboxChecked) -> str:
    """Describe the sandbox for a call; empty if none is wanted or the call starts no command."""
    if summary.in_sandbox is None or checked.standing is SandboxStanding.OFF:
        return ""
    if checked.standing is SandboxStanding.NONE:
        return f"not sandboxed ({'; '.join(checked.lacks)})"
    if not summary.in_sandbox:
        return "outside the sandbox"
    if checked.standing is SandboxStanding.PARTIAL:
        return f"in a sandbox with gaps ({'; '.join(checked.lacks)})"
    return "in the sandbox"
