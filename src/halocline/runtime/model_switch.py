"""Change the model of an open task: `/model NAME`."""

from typing import TYPE_CHECKING

from halocline.protocol.errors import UsageError
from halocline.providers.wrappers.per_mode import Switching
from halocline.runtime.start import model_change

if TYPE_CHECKING:
    from halocline.runtime.assembly.assembly import Assembly
    from halocline.runtime.open_task import OpenTask


async def change_model(opened: "OpenTask", assembly: "Assembly", named: str) -> None:
    """Use this model from the next request on. Raises UsageError and then keeps the old one.

    If each mode has its own model, only the present mode's changes, so that each keeps its choice.
    """
    if not named.strip():
        raise UsageError("The model has no name.", "Name one as provider/model. List them: halo models")
    _refuse_in_a_turn(opened)
    new = await assembly.model(named)
    try:
        _refuse_in_a_turn(opened)
    except UsageError:
        await new.close()
        raise
    state, old = opened.task.state, opened.model.now
    if isinstance(old, Switching):
        opened.model.now, old = old.replaced(state.plan.mode, new)
    else:
        opened.model.now = new
    if opened.model.names[state.plan.mode] != state.model.name:
        opened.task.emit(model_change(state.plan.mode, opened.model.names, assembly))
    await old.close()


def _refuse_in_a_turn(opened: "OpenTask") -> None:
    if opened.task.state.turn is not None:
        raise UsageError("The model cannot be changed while a turn runs.", "Wait for its end, or stop it.")
