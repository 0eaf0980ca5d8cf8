"""Inspect the policy: which rules apply, whether a rule file is valid, what was and would be decided.

Nothing is run here, and nothing is stored except when a grant is removed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.presets import Switches, with_switches
from halocline.policy.shell.programs.exclusions import shorten_form
from halocline.ports.tool import Summary
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import CommandPart, Rule, RuleBook, Source
from halocline.protocol.state.permissions import PermissionsState
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.rules.workspace_roots import roots_of
from halocline.services.policy.approval_switches import GRID, SwitchStatus, list_standings
from halocline.services.policy.audit import ReviewedCall, review_task
from halocline.services.policy.judged_tools import JudgedTools
from halocline.store.permissions.grants import take_out
from halocline.store.permissions.rules import Unreadable, read_rules
from halocline.store.tasks import history
from halocline.task.log import read_log


class Explanation(Value, frozen=True, omit_defaults=False):
    """The decision on one command, and why. `runs` is the form in which a command allowed as read-only is run.

    `scripts` are files of the workspace that it runs, each with a fingerprint of its content.
    """

    decision: str
    rule: str
    reason: str
    parts: tuple[CommandPart, ...] = ()
    runs: str = ""
    scripts: tuple[str, ...] = ()


class PolicyService:
    """Policy queries for one home."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    @classmethod
    def open(cls) -> "PolicyService":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        return cls(Assembly.of(Choices()))

    def policy_context(
        self,
        workspace: Path,
        mode: Mode,
        approval_mode: ApprovalMode | None,
        wanted: Sequence[str | Path] = (),
        known: Sequence[str] | None = None,
        switches: Switches = MappingProxyType({}),
    ) -> PolicyContext:
        """Return the policy context of a task that would start here now with these switches.

        With `approval_mode` None, the settings decide. In addition to the workspace, it covers the `wanted` folders and
        either the `known` ones or those of the settings. Raises UsageError.
        """
        assembly = self._assembly.in_folder(workspace)
        roots = roots_of(workspace, wanted, assembly.settings, known)
        book = with_switches(self.book(workspace, roots), switches)
        approves = approval_mode or assembly.settings.approval_mode
        return PolicyContext(
            workspace,
            assembly.home.root,
            mode,
            approves,
            book=book,
            facts=assembly.shell_facts(),
            sandbox=assembly.check_sandbox(workspace, approves, roots),
            roots=State(roots=roots, permissions=PermissionsState(rules=book)).other_roots,
        )

    def book(self, workspace: Path, roots: tuple[str, ...] = ()) -> RuleBook:
        """Return the rules in force in a workspace and in a task's other folders."""
        return self._assembly.in_folder(workspace).rule_files(workspace, roots).book()

    def rules_left_out(self, workspace: Path) -> list[Rule]:
        """Return the project's allowing rules, which are ignored while the folder is not trusted."""
        hooks = self._assembly.hooks_of(workspace)
        return [] if hooks.is_trusted else hooks.allowing_rules

    def switches(self, state: State) -> tuple[SwitchStatus, ...]:
        """Return the approval switches of a task, by the rules it has read, or would read at its first call."""
        known = (
            state.permissions.rules
            if state.permissions.rules != RuleBook()
            else self.book(Path(state.workspace), state.roots)
        )
        return list_standings(state, known, self._assembly.home.root, self._assembly.shell_facts())

    def kept(self, workspace: Path) -> list[Rule]:
        """Return the grants for this project, then those for all projects."""
        rules = [rule for rule in self.book(workspace).rules if rule.source is Source.GRANT]
        return [rule for place in (str(workspace), "") for rule in rules if rule.workspace == place]

    def take_out(self, rule: Rule) -> bool:
        """Remove a grant that applies beyond one task. Return False if it is already gone. Raises UsageError."""
        if rule.source is not Source.GRANT:
            raise UsageError("This rule does not come from an approval.", "Remove it from its rule file instead.")
        try:
            return take_out(self._assembly.home.grants, rule)
        except OSError as error:
            raise UsageError(f"Cannot remove the grant: {error}.", "It is still in force.") from None

    def mcp_tools(self, posture: PolicyContext) -> JudgedTools:
        """Return the decisions on the tools of the workspace's MCP servers."""
        return JudgedTools(self._assembly.in_folder(posture.workspace).mcp_of(posture.workspace), posture)

    def grid(self, posture: PolicyContext) -> dict[str, str]:
        """Return allow, ask or deny for each kind of act."""
        return {name: decide_call(summary, posture).verdict.value for name, summary in GRID.items()}

    def audit(self, task: str) -> list[ReviewedCall]:
        """Return the decision on each call of a task. Raises TaskNotFound and UsageError."""
        return list(self._review_log(history.find_task(self._assembly.home.tasks, task), None))

    def simulate(self, rules: Sequence[Rule], tasks: Sequence[str]) -> list[ReviewedCall]:
        """Decide the calls of tasks (default: all) as if these were the person's rules."""
        folder = self._assembly.home.tasks
        names = [history.find_task(folder, task) for task in tasks] or [
            info.task for info in history.newest_first(folder)
        ]
        return [row for name in names for row in self._review_log(name, rules)]

    def _review_log(self, task: str, rules: Sequence[Rule] | None) -> Iterator[ReviewedCall]:
        def book(then: RuleBook) -> RuleBook:
            if rules is None:
                return then
            return replace(then, rules=(*(rule for rule in then.rules if rule.source is not Source.USER), *rules))

        try:
            events = list(read_log(self._assembly.home.log(task)))
        except HaloclineError:
            return
        yield from review_task(events, self._assembly.tools(), self._assembly.home.root, book)


def explain_command(command: str, posture: PolicyContext, *, in_sandbox: bool | None = True) -> Explanation:
    """Return the decision on a command if a task asked for it now; `in_sandbox` is as in a `Summary`."""
    summary = Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command", in_sandbox=in_sandbox)
    decision = decide_call(summary, posture)
    runs, scripts = shorten_form(decision.canonical or ""), decision.scripts
    return Explanation(decision.verdict.value, decision.rule, decision.reason, decision.parts, runs, scripts)


def read_rule_file(file: Path) -> list[Rule]:
    """Read a rule file as the person's own. Raises UsageError if it is invalid or its examples fail."""
    if not file.is_file():
        raise UsageError(f"There is no file {file}.", "Name a rule file, which has [[rule]] tables.")
    try:
        return read_rules(file, Source.USER)
    except Unreadable as error:
        raise UsageError(
            str(error), "Correct the file. Until then, every call needs approval wherever it applies."
        ) from None
