"""The modes and options of a session that a client can show and change: mode, model, effort."""

from collections.abc import Sequence
from typing import Literal

from acp import schema

from halocline.client import Efforts, OfferedModel
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Effort

PLAN = "plan"
_MODES = {
    PLAN: ("Plan", "Only read and discuss; change nothing"),
    ApprovalMode.ASK.value: ("Ask", "Ask before every edit, and before commands that do more than read"),
    ApprovalMode.ACCEPT_EDITS.value: ("Accept edits", "Edit files in the project without asking"),
    ApprovalMode.AUTO.value: ("Auto", "Also run ordinary commands without asking"),
    ApprovalMode.YOLO.value: ("Never ask", "Run everything without asking, except what may never run"),
}
MODE, MODEL, EFFORT = "mode", "model", "effort"
USUAL = "default"
"""The effort of a task that sets none."""

Category = Literal["mode", "model", "thought_level"]


def to_mode(mode: Mode, approval_mode: ApprovalMode) -> str:
    """Return the ACP mode of a task: plan mode, or act mode with an approval mode."""
    return PLAN if mode is Mode.PLAN else approval_mode.value


def list_modes(current: str) -> schema.SessionModeState:
    """Return all modes."""
    modes = [schema.SessionMode(id=name, name=title, description=text) for name, (title, text) in _MODES.items()]
    return schema.SessionModeState(available_modes=modes, current_mode_id=current)


def list_mode_commands(task: str, mode: str) -> list[cmd.AnyCommand]:
    """Return the commands that switch a task to a mode. Raises KeyError for an unknown one."""
    if mode not in _MODES:
        raise KeyError(mode)
    if mode == PLAN:
        return [cmd.SetMode(task=task, mode=Mode.PLAN)]
    return [cmd.SetMode(task=task, mode=Mode.ACT), cmd.SetPolicy(task=task, approval_mode=ApprovalMode(mode))]


def make_effort_command(task: str, value: str) -> cmd.SetEffort:
    """Return the command that sets the reasoning effort. Raises ValueError for an unknown one."""
    return cmd.SetEffort(task=task, effort=None if value == USUAL else Effort(value))


def list_config_options(
    mode: str, model: str, models: Sequence[OfferedModel], effort: Effort | None, efforts: Efforts
) -> list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]:
    """Return the options with their current values."""
    modes = [(name, title, text) for name, (title, text) in _MODES.items()]
    offered = {one.name: one.name for one in models} | {model: model}
    found: list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean] = [
        _make_select(MODE, "Mode", "mode", mode, modes),
        _make_select(MODEL, "Model", "model", model, [(name, title, "") for name, title in offered.items()]),
    ]
    if efforts.levels:
        usual = efforts.usual.value if efforts.usual else "the model's own"
        levels = [(USUAL, f"Default ({usual})", ""), *((one.value, one.value, "") for one in efforts.levels)]
        current = effort.value if effort in efforts.levels and effort else USUAL
        found.append(_make_select(EFFORT, "Reasoning effort", "thought_level", current, levels))
    return found


def _make_select(
    name: str, title: str, category: Category, current: str, values: Sequence[tuple[str, str, str]]
) -> schema.SessionConfigOptionSelect:
    options = [
        schema.SessionConfigSelectOption(value=value, name=label, description=text or None)
        for value, label, text in values
    ]
    return schema.SessionConfigOptionSelect(
        id=name, name=title, category=category, current_value=current, options=options, type="select"
    )
