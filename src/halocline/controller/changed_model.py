"""Another model for a task that is open: `/model NAME`."""

from typing import TYPE_CHECKING

from halocline.ports.model import Model
from halocline.protocol.errors import UsageError
from halocline.protocol.events import Mode, ModelChanged
from halocline.providers.switching import name_in

if TYPE_CHECKING:
    from halocline.controller.assembly import Assembly
    from halocline.controller.controller import OpenTask


async def change_model(opened: "OpenTask", assembly: "Assembly", named: str) -> None:
    """Ask this model from the next request on, in both modes. Raises UsageError; then the old one stays."""
    _refuse_in_a_turn(opened)
    new = await assembly.model(named)
    try:
        _refuse_in_a_turn(opened)
    except UsageError:
        await new.close()
        raise
    task = opened.task
    old, task.model = task.model, _as_before(task.model, new)
    opened.models = {mode: name_in(mode, new) for mode in Mode}
    if opened.models[task.state.mode] != task.state.model:
        task.emit(ModelChanged(model=opened.models[task.state.mode]))
    await old.close()


def _refuse_in_a_turn(opened: "OpenTask") -> None:
    if opened.task.state.turn is not None:
        raise UsageError("The model can be changed once this turn has ended.", "Ctrl-C ends it now.")


def _as_before(old: Model, new: Model) -> Model:
    """What is recorded stays recorded."""
    from halocline.controller.recorded import RecordingModel

    return old.with_model(new) if isinstance(old, RecordingModel) else new
