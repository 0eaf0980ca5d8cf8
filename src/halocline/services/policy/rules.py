"""What people ask of the policy: which rules hold, whether a file of them is sound, what was and would be decided.

Nothing is run here, and nothing is kept.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.grid import Switches, with_switches
from halocline.ports.tool import Summary
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events import ApprovalMode, CommandPart, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Source
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.rules.workspace_roots import roots_of
from halocline.services.policy.audit import Reviewed, review_task
from halocline.store.permissions.rules import Unreadable, read_rules
from halocline.store.tasks import history
from halocline.task.calls.policy_input import other_roots
from halocline.task.log import read_log

if TYPE_CHECKING:
    from halocline.services.mcp.policy import JudgedTools
    from halocline.services.policy.approval_switches import Standing


class Explanation(Value, frozen=True, omit_defaults=False):
    """The decision on one command, and why. `runs` is the form in which one that is allowed as reading is run.

    `scripts` are files of the workspace that it runs, with what stands for their content.
    """

    decision: str
    rule: str
    reason: str
    parts: tuple[CommandPart, ...] = ()
    runs: str = ""
    scripts: tuple[str, ...] = ()


class PolicyService:
    """Answers for one home."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    @classmethod
    def open(cls) -> "PolicyService":
        """Raises UsageError and SettingsError."""
        return cls(Assembly.of(Choices()))

    def posture(
        self,
        workspace: Path,
        mode: Mode,
        approval_mode: ApprovalMode | None,
        wanted: Sequence[str | Path] = (),
        known: Sequence[str] | None = None,
        switches: Switches = MappingProxyType({}),
    ) -> PolicyContext:
        """What a task would be judged by that began here now, and had set these switches.

        None: the approval mode of the settings.

        It works in the `wanted` folders as well, and those of the settings, or the ones that are `known`.
        Raises UsageError.
        """
        assembly = self._assembly
        roots = roots_of(workspace, wanted, assembly.settings, known)
        book = with_switches(self.book(workspace, roots), switches)
        return PolicyContext(
            workspace,
            assembly.home.root,
            mode,
            approval_mode or assembly.settings.approval_mode,
            book=book,
            facts=assembly.shell_facts(),
            roots=other_roots(State(roots=roots, rules=book)),
        )

    def book(self, workspace: Path, roots: tuple[str, ...] = ()) -> RuleBook:
        """The rules in force in a workspace, and in a task's other folders."""
        return self._assembly.leave(workspace, roots).book()

    def rules_left_out(self, workspace: Path) -> list[Rule]:
        """The project's rules that would allow something, while the folder is not trusted."""
        hooks = self._assembly.hooks_of(workspace)
        return [] if hooks.is_trusted else hooks.allowing_rules

    def switches(self, state: State) -> "tuple[Standing, ...]":
        """The approval switches of a task, by the rules that it knows, or would read if none was judged yet."""
        from halocline.services.policy.approval_switches import list_standings

        known = state.rules if state.rules != RuleBook() else self.book(Path(state.workspace), state.roots)
        return list_standings(state, known, self._assembly.home.root, self._assembly.shell_facts())

    def kept(self, workspace: Path) -> list[Rule]:
        """The leave that was given for this project, and then that for everywhere."""
        rules = [rule for rule in self.book(workspace).rules if rule.source is Source.GRANT]
        return [rule for place in (str(workspace), "") for rule in rules if rule.workspace == place]

    def take_out(self, rule: Rule) -> bool:
        """Take leave back that reached beyond a task. False when it is gone already. Raises UsageError."""
        from halocline.store.permissions.grants import take_out

        if rule.source is not Source.GRANT:
            raise UsageError("This rule was not given by an answer.", "Take it out of its file of rules.")
        try:
            return take_out(self._assembly.home.grants, rule)
        except OSError as error:
            raise UsageError(f"It is not taken back: {error}.", "The rules are as they were.") from None

    def mcp_tools(self, posture: PolicyContext) -> "JudgedTools":
        """The tools of MCP servers of the posture's workspace, as they would be decided of."""
        from halocline.services.mcp.policy import JudgedTools

        return JudgedTools(self._assembly.mcp_of(posture.workspace), posture)

    def grid(self, posture: PolicyContext) -> dict[str, str]:
        """Of each kind of act, whether it would be allowed, asked about or denied."""
        return {name: decide_call(summary, posture).verdict.value for name, summary in GRID.items()}

    def audit(self, task: str) -> list[Reviewed]:
        """What was decided of each call of a task. Raises TaskNotFound and UsageError."""
        return list(self._reviewed(history.find_task(self._assembly.home.tasks, task), None))

    def simulate(self, rules: Sequence[Rule], tasks: Sequence[str]) -> list[Reviewed]:
        """What would have been decided had these been the person's rules; of all tasks when none is named."""
        folder = self._assembly.home.tasks
        names = [history.find_task(folder, task) for task in tasks] or [
            info.task for info in history.newest_first(folder)
        ]
        return [row for name in names for row in self._reviewed(name, rules)]

    def _reviewed(self, task: str, rules: Sequence[Rule] | None) -> Iterator[Reviewed]:
        def book(then: RuleBook) -> RuleBook:
            if rules is None:
                return then
            return replace(then, rules=(*(rule for rule in then.rules if rule.source is not Source.USER), *rules))

        try:
            events = list(read_log(self._assembly.home.log(task)))
        except HaloclineError:
            return
        yield from review_task(events, self._assembly.tools(), self._assembly.home.root, book)


GRID = {
    "read": Summary("Read", ToolKind.READ, ("a.txt",), tool="read_file"),
    "read_outside": Summary("Read", ToolKind.READ, ("/usr/share/a.txt",), tool="read_file"),
    "edit": Summary("Edit", ToolKind.EDIT, ("a.txt",), tool="write_to_file"),
    "edit_outside": Summary("Edit", ToolKind.EDIT, ("/usr/share/a.txt",), tool="write_to_file"),
    "safe_commands": Summary("ls", ToolKind.EXECUTE, command="ls", tool="execute_command"),
    "all_commands": Summary("./a", ToolKind.EXECUTE, command="./a", tool="execute_command"),
    "web": Summary("Fetch", ToolKind.FETCH, url="https://example.com/", tool="web_fetch"),
    "browser": Summary("Click", ToolKind.EXECUTE, url="https://example.com/", on_page=True, tool="browser_action"),
    "mcp": Summary("Ask", ToolKind.OTHER, mcp="server/tool", read_only=True, definition="any", tool="server__tool"),
}
"""An act of each kind that the classic switches (`auto_approve`) are for."""


def explain_command(command: str, posture: PolicyContext) -> Explanation:
    """The decision on a command, were a task to ask for it now."""
    decision = decide_call(Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command"), posture)
    from halocline.policy.shell.exclusions import shorten_form  # no start pays for the judge of commands

    runs, scripts = shorten_form(decision.canonical or ""), decision.scripts
    return Explanation(decision.verdict.value, decision.rule, decision.reason, decision.parts, runs, scripts)


def rules_in(file: Path) -> list[Rule]:
    """The rules of a file, as a person's own. Raises UsageError when it is none, or its examples fail."""
    if not file.is_file():
        raise UsageError(f"There is no file {file}.", "Name a file with tables [[rule]].")
    try:
        return read_rules(file, Source.USER)
    except Unreadable as error:
        raise UsageError(
            str(error), "Until it is mended, everything is asked about where the file is in force."
        ) from None
