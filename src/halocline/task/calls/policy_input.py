"""Input of the gate, from a task's state: what a call touches, and what else the decision depends on."""

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from halocline import edits
from halocline.policy.destinations import parse_destination
from halocline.policy.gate import PolicyContext, build_classifier
from halocline.policy.presets import with_switches
from halocline.policy.read_scope import ReadScope, judged_places
from halocline.ports.permissions import Permissions
from halocline.ports.shell_facts import NoFacts, ShellFacts
from halocline.ports.tool import AnyTool, Summary
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import GrantTakenBack
from halocline.protocol.kinds import Mode, Scope, bound_mode
from halocline.protocol.messages import ToolCall
from halocline.protocol.permission_rules import Rule, RuleBook, Source, Verdict
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.task.calls.arguments import input_of

if TYPE_CHECKING:
    from halocline.task.calls.events import Run

OUTPUTS = "outputs"
"""Folder, inside the task's own, with copies of its commands' output."""
PATHS = ("path", "file_path", "absolutePath", "folder")
"""Arguments that may name a folder of the task."""
PATCHES = {"apply_patch": "input"}
"""Arguments that are patches, by tool: their paths may name one, too."""
NO_PAGE = "No web page is open in the browser. Launch one first."


def summary_of(call: ToolCall, tool: AnyTool, model: str, state: State) -> tuple[msgspec.Struct, Summary]:
    """Return a call's input, and what it would touch.

    Raises:
        msgspec.ValidationError: the arguments do not fit.
        ToolFailure: there is nothing to act on.
    """
    given = input_of(with_roots(call, state), tool, model)
    actor = state.subagents.subtask.actor if state.subagents.subtask else ""
    summary = tool.summary(given)
    title = _shorten_title(summary, state.workspace)
    return given, with_shell_folder(replace(summary, tool=tool.name, agent=actor, title=title), state)


def with_roots(call: ToolCall, state: State) -> JsonObject:
    """Replace `NAME:path` by the path in the task's folder of that name, with `@` as in mentions or without.

    The gate judges that path.
    """
    if not state.roots:
        return call.arguments

    def resolve(key: str, value: str) -> str:
        if key in PATHS:
            return _resolve_root(value, state)
        if key == PATCHES.get(call.name):
            return edits.formats.patch.map_paths(value, lambda path: _resolve_root(path, state))
        return value

    return {key: resolve(key, value) if isinstance(value, str) else value for key, value in call.arguments.items()}


def _resolve_root(text: str, state: State) -> str:
    name, colon, rest = text.removeprefix("@").partition(":")
    found = [root for root in (state.workspace, *state.roots) if os.path.basename(root) == name]
    if not colon or len(found) != 1:
        return text
    return os.path.join(found[0], rest.lstrip("/"))


def _shorten_title(summary: Summary, workspace: str) -> str:
    """The title with each path in the workspace as one reads it there, however the model wrote it."""
    title = summary.title
    for path in summary.paths if not summary.command else ():
        if path.startswith(f"{workspace}/") and (short := path.removeprefix(workspace).lstrip("/")):
            title = re.sub(rf"(?<![\w./~-]){re.escape(path)}", short.replace("\\", r"\\"), title)
    return title


def with_shell_folder(summary: Summary, state: State) -> Summary:
    """Add the shell's current folder, which the policy judges like any path.

    For an action on a page, add the page's host. Raises ToolFailure if no page is open.
    """
    if summary.on_page:
        if not state.host.page:
            raise ToolFailure(NO_PAGE)
        title = f"{summary.title} on {parse_destination(state.host.page).exactly}"
        return replace(summary, title=title, url=state.host.page)
    if not summary.command or summary.place or not state.host.shell.cwd:
        return summary
    return replace(
        summary,
        place=_shown_folder(state.host.shell.cwd, state.workspace),
        paths=(*summary.paths, state.host.shell.cwd),
    )


def make_policy_context(state: State, home: Path, facts: ShellFacts | None = None) -> PolicyContext:
    """Return everything a decision depends on besides the call. `home` is Halocline's own folder.

    A sub-agent that only reads is judged as in plan mode, whatever its parent's mode.
    """
    workspace, outputs = _folders_of(state.workspace, home, state.task)
    subtask = state.subagents.subtask
    only_reads = subtask is not None and not subtask.writes
    return PolicyContext(
        workspace=workspace,
        home=home,
        mode=Mode.PLAN if only_reads else state.plan.mode,
        subagent=only_reads,
        approval_mode=bound_mode(state.permissions.approval_mode, state.permissions.rules.modes_off),
        grants=state.permissions.grants,
        refusals=state.permissions.refusals,
        book=with_switches(_rules_after_answer(state), state.permissions.switches),
        facts=facts or NoFacts(),
        exported=state.host.shell.exported,
        path=state.host.shell.path,
        sandbox=state.host.sandbox,
        outputs=outputs,
        roots=state.other_roots,
    )


@lru_cache
def _folders_of(workspace: str, home: Path, task: str) -> tuple[Path, Path]:
    """Return a task's workspace, and the folder with the output of its commands."""
    return Path(workspace), Path(home, "tasks", task, OUTPUTS)


def scope_of_reading(state: State, home: Path, book: RuleBook) -> ReadScope:
    """Return what may be read without asking, by rules that the log may not have yet."""
    known = replace(state, permissions=replace(state.permissions, rules=book))
    return ReadScope(build_classifier(make_policy_context(known, home)), {})


def scope_of(run: "Run", ground: PolicyContext, own: Sequence[Path]) -> ReadScope:
    """Return what a judged call may read: its resolved paths, and with the workspace the task's other folders.

    An approval may have taken hours, so the task's own folders are then looked at again.
    """
    kinds = build_classifier(ground, run.summary, None if run.approved else run.folders)
    judged = judged_places(run.places, run.identities, kinds)
    return ReadScope(kinds, judged, own) if run.tool.edits else ReadScope(kinds, judged, exact=run.approved)


def lapsed_grants(state: State, leave: Permissions) -> list[GrantTakenBack]:
    """Return this task's permanent grants that were removed from their file since."""
    folders = {Scope.PROJECT: Path(state.workspace), Scope.EVERYWHERE: None}
    gone = {grant for grant, scope in state.permissions.kept_grants if not leave.is_kept(grant, folders[scope])}
    return [GrantTakenBack(grant=grant) for grant in sorted(gone, key=repr)]


def _rules_after_answer(state: State) -> RuleBook:
    """Return the rules without the ask rule that the user already answered when they let the sub-agent start."""
    rule = state.subagents.subtask.answered if state.subagents.subtask else ""
    if not rule:
        return state.permissions.rules
    left = (one for one in state.permissions.rules.rules if not _asks_as(one, rule))
    return replace(state.permissions.rules, rules=tuple(left))


def _asks_as(one: Rule, name: str) -> bool:
    """True for the ask rule of that name; an administrator's rule always asks again."""
    return one.name == name and one.decision is Verdict.ASK and one.source is not Source.MANAGED


def _shown_folder(folder: str, workspace: str) -> str:
    """Return the folder for display: relative if it is below the workspace."""
    inside = folder.removeprefix(f"{workspace}/")
    return inside if inside != folder else folder
