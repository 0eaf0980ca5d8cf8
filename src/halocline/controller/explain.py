"""What the gate says of commands that nobody runs: for `halo policy explain`."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from halocline.hosts.shell_facts import LocalShellFacts
from halocline.policy.gate import Posture, decide
from halocline.ports.tool import Summary
from halocline.protocol.events import ApprovalMode, CommandPart, Mode, ToolKind
from halocline.protocol.values import Value
from halocline.store.paths import Home
from halocline.store.settings import load_settings


class Explanation(Value, frozen=True, omit_defaults=False):
    """The decision on one command, and why. `runs` is the form in which one that is allowed as reading is run."""

    decision: str
    rule: str
    reason: str
    parts: tuple[CommandPart, ...] = ()
    runs: str = ""


def explainer(
    workspace: Path, mode: Mode, approval_mode: ApprovalMode | None = None, env: Mapping[str, str] = os.environ
) -> Callable[[str], Explanation]:
    """Gives the decision on a command, were a task to ask for it now. Raises UsageError and SettingsError."""
    home = Home.of(env)
    chosen = approval_mode or load_settings(home.settings, env).approval_mode
    posture = Posture(workspace, home.root, mode, chosen, facts=LocalShellFacts(env))

    def explain(command: str) -> Explanation:
        decision = decide(Summary(command, ToolKind.EXECUTE, command=command), posture)
        return Explanation(
            decision.verdict.value, decision.rule, decision.reason, decision.parts, decision.canonical or ""
        )

    return explain
