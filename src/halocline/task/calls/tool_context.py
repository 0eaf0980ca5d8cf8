"""Builds what a call may use, and what the policy knows when it judges one."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from halocline.files.meant_paths import find_meant
from halocline.policy.gate import PolicyContext, build_classifier, decide_call, make_hider
from halocline.policy.holding import SHOWS_SECRETS
from halocline.policy.paths import Judged
from halocline.policy.read_scope import ReadScope
from halocline.ports.host import ShellCommand
from halocline.ports.tool import Asker, CurrentCall, Summary, TaskView, ToolContext
from halocline.protocol import events as ev
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import COMMAND_TOOL, ToolKind
from halocline.protocol.messages import Message
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.state.state import State
from halocline.protocol.traces.context import header_for_call
from halocline.task.calls.events import Run
from halocline.task.calls.held_files import Admit, HeldFiles
from halocline.task.calls.network_access import Reach
from halocline.task.calls.policy_input import lapsed_grants, make_policy_context, scope_of, with_shell_folder
from halocline.task.host import TaskHost

NOT_ADMITTED = "The command `{command}` was not run: {reason} (rule {rule})."


class ToolContexts:
    """The contexts of one task's calls, as the task is now."""

    def __init__(
        self,
        *,
        emit: Callable[..., None],
        state: Callable[[], State],
        host: TaskHost,
        ask: Asker,
        home: Path,
        visible: Callable[[State], Sequence[Message]],
    ) -> None:
        self._emit = emit
        self._state = state
        self._host = host
        self._ask = ask
        self._home = home
        self._visible = visible

    def policy_context(self) -> PolicyContext:
        """Return what the policy judges by, after recording changes to the rules and the kept grants."""
        book = self._host.permissions.book()
        if book != self._state().permissions.rules:
            self._emit(ev.RulesChanged(book=book))
        if self._state().permissions.kept_grants:
            self._emit(*lapsed_grants(self._state(), self._host.permissions))
        return self.known_policy()

    def known_policy(self) -> PolicyContext:
        """Return the same as it was recorded last."""
        return make_policy_context(self._state(), self._home, self._host.shell_facts)

    def build(self, run: Run, admit: Admit | None = None) -> ToolContext:
        """Return the context of one call; its changes of files wait for `admit`."""
        state = self._state()
        own = tuple(filter(None, (self._host.folder, run.tool.keeps_in)))
        policy = self.known_policy()
        scope = scope_of(run, policy, own)
        host = self._host
        files = host.tools.files.only(Judged(run.places, *own), scope)
        return ToolContext(
            call=self._current_call(run, policy),
            workspace=policy.workspace,
            host=replace(
                host.tools,
                files=HeldFiles(files, admit) if admit else files,
                search=host.tools.search.only(scope),
            ),
            task=self._task_view(state, run),
            ask=self._ask,
            reach=Reach(run.summary, self.policy_context, host.tools.web),
            report=partial(self._progress, run.call.id),
            secrets=host.secrets,
            admit_command=partial(self.admit_command, run.call.id, is_covered=run.tool.kind is ToolKind.EXECUTE),
        )

    async def admit_command(self, call: str, command: str, *, is_covered: bool) -> ShellCommand:
        """Judge a command that a tool of the program runs within its call, or that the person gave. Raises ToolFailure.

        What would need approval is covered by that of a call which may do anything, or by the person's word.
        """
        found = await self._host.tools.shell.sandbox(self._state().permissions.approval_mode)
        if found != self._state().host.sandbox:
            self._emit(found)
        asked = Summary(command, ToolKind.EXECUTE, command=command, in_sandbox=True, tool=COMMAND_TOOL)
        policy = self.policy_context()
        decision = decide_call(with_shell_folder(asked, self._state()), policy)
        if decision.verdict is Verdict.DENY or (decision.verdict is Verdict.ASK and not is_covered):
            raise ToolFailure(NOT_ADMITTED.format(command=command, reason=decision.reason, rule=decision.rule))
        return ShellCommand(
            decision.canonical or decision.mixed or command,
            self._state().workspace,
            judged=decision.canonical is not None,
            call=call,
            written=command,
            hides=make_hider(policy, COMMAND_TOOL),
            traceparent=self._place_in_trace(call),
        )

    async def find_meant(self, run: Run, text: str) -> list[str]:
        """Return paths in the workspace that a call may have meant by another one; none that is hidden."""
        state, tools = self._state(), self._host.tools
        kinds = build_classifier(make_policy_context(state, self._home), run.summary)
        scope = ReadScope(kinds, {kinds.workspace: ""})
        files = tools.files.only(lambda _: False, scope)
        return await find_meant(text, Path(state.workspace), files, tools.search.only(scope))

    def _current_call(self, run: Run, policy: PolicyContext) -> CurrentCall:
        hides = make_hider(policy, run.summary.tool, run.summary.agent) if run.summary.command else None
        shows = run.approved and run.rule in SHOWS_SECRETS
        traceparent = self._place_in_trace(run.call.id)
        return CurrentCall(run.call.id, run.rule, run.runs, run.mixed, hides, shows, run.left_out, traceparent)

    def _place_in_trace(self, call: str) -> str:
        state = self._state()
        return header_for_call(state.task, state.trace, call)

    def _task_view(self, state: State, run: Run) -> TaskView:
        host = self._host
        return TaskView(
            folder=host.folder,
            roots=tuple(map(Path, state.roots)),
            plugins=state.prompt.plugins,
            mode=state.plan.mode,
            approval_mode=state.permissions.approval_mode,
            model=state.model.name,
            takes_images=partial(host.takes_images, state.last_message.model or state.model.name),
            messages=partial(self._visible, state),
            todos=state.plan.todos,
            known=None if run.accepted else state.files.known,
            syntax_errors=host.editing.syntax_errors,
            partial_edits=host.editing.partial,
            new_task_id=host.new_task_id,
        )

    def _progress(self, call: str, text: str) -> None:
        self._emit(ev.ToolCallProgressed.of(call, text, self._host.secrets.redact))
