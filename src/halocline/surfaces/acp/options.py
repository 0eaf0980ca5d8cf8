"""The modes and options of a session that a client can show and change: mode, model, effort."""

from collections.abc import Sequence
from typing import Literal

from acp import schema

from halocline.client.models import Efforts, OfferedModel
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Effort
from halocline.surfaces.acp.failures import refuse_params

PLAN = "plan"
_MODES = {
    PLAN: ("Plan", "Only read and discuss; change nothing"),
    ApprovalMode.ASK.value: ("Ask", "Ask before every edit, and before commands that do more than read"),
    ApprovalMode.ACCEPT_EDITS.value: ("Accept edits", "Edit files in the project without asking"),
    ApprovalMode.AUTO.value: ("Auto", "Also run ordinary commands without asking"),
    ApprovalMode.YOLO.value: ("Never ask", "Run everything without asking, except what may never run"),
}
USUAL = "default"
"""The effort of a task that sets none."""

Category = Literal["mode", "model", "thought_level"]
Options = list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]


class SessionOptions:
    """The modes and options of a session's task, which another process may run."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._models: list[OfferedModel] | None = None
        """The models on offer. They are asked for once: a local server that does not answer must not hold up events."""

    def find_mode(self, task: str) -> str:
        """Return the mode of a task."""
        state = self._client.state(task)
        return to_mode(state.plan.mode, state.permissions.approval_mode)

    def list_modes(self, task: str) -> schema.SessionModeState:
        """Return all modes, with the current one."""
        return list_modes(self.find_mode(task))

    async def list(self, task: str) -> Options:
        """Return all options with their values."""
        if self._models is None:
            self._models = [one for one in await self._client.models.list_models() if one.usable]
        state = self._client.state(task)
        efforts = self._client.models.efforts(state.model.name, state.plan.mode)
        return list_config_options(self.find_mode(task), state.model.name, self._models, state.model.effort, efforts)

    async def list_updates(self, task: str) -> tuple[schema.CurrentModeUpdate, schema.ConfigOptionUpdate]:
        """Return the updates that tell a client the modes and options as they are now."""
        mode = schema.CurrentModeUpdate(current_mode_id=self.find_mode(task), session_update="current_mode_update")
        changed = await self.list(task)
        return mode, schema.ConfigOptionUpdate(config_options=changed, session_update="config_option_update")

    async def set_mode(self, task: str, mode: str) -> None:
        """Switch the mode. Raises RequestError for an unknown one; UsageError and TaskBusy as `Client.deliver`."""
        try:
            commands = list_mode_commands(task, mode)
        except KeyError:
            raise refuse_params(f"There is no mode {mode!r}.") from None
        for command in commands:
            await self._client.deliver(command)

    async def set(self, task: str, name: str, value: str | bool) -> None:
        """Change one option. Raises RequestError, UsageError and TaskBusy."""
        match name:
            case "mode":
                await self.set_mode(task, str(value))
            case "model":
                await self._client.change_model(task, str(value))
            case "effort":
                try:
                    command = make_effort_command(task, str(value))
                except ValueError:
                    raise refuse_params(f"There is no effort {value!r}.") from None
                await self._client.deliver(command)
            case _:
                raise refuse_params(f"There is no option {name!r}.")


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
    return [cmd.SetPolicy(task=task, approval_mode=ApprovalMode(mode)), cmd.SetMode(task=task, mode=Mode.ACT)]


def make_effort_command(task: str, value: str) -> cmd.SetEffort:
    """Return the command that sets the reasoning effort. Raises ValueError for an unknown one."""
    return cmd.SetEffort(task=task, effort=None if value == USUAL else Effort(value))


def list_config_options(
    mode: str, model: str, models: Sequence[OfferedModel], effort: Effort | None, efforts: Efforts
) -> Options:
    """Return the options with their current values."""
    modes = [(name, title, text) for name, (title, text) in _MODES.items()]
    offered = {one.name: one.name for one in models} | {model: model}
    found: Options = [
        _make_select("mode", "Mode", "mode", mode, modes),
        _make_select("model", "Model", "model", model, [(name, title, "") for name, title in offered.items()]),
    ]
    if efforts.levels:
        usual = efforts.usual.value if efforts.usual else "the model's own"
        levels = [(USUAL, f"Default ({usual})", ""), *((one.value, one.value, "") for one in efforts.levels)]
        current = effort.value if effort in efforts.levels and effort else USUAL
        found.append(_make_select("effort", "Reasoning effort", "thought_level", current, levels))
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
