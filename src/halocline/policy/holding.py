"""How a command would be held, in words for a person and for the log; pure."""

from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked, SandboxStanding


def must_hold(summary: Summary, checked: SandboxChecked) -> str:
    """Empty when no sandbox is wanted, or when the call starts no command."""
    if summary.in_sandbox is None or checked.standing is SandboxStanding.OFF:
        return ""
    if checked.standing is SandboxStanding.NONE:
        return f"not sandboxed ({'; '.join(checked.lacks)})"
    if not summary.in_sandbox:
        return "outside the sandbox"
    if checked.standing is SandboxStanding.PARTIAL:
        return f"in a sandbox with gaps ({'; '.join(checked.lacks)})"
    return "in the sandbox"
