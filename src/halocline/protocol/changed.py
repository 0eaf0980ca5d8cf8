"""Events that say what a person changed of a task besides its mode: the model, its effort, the approvals and
their switches, leave that is taken back.
"""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Grant
from halocline.protocol.messages import Effort


class ModelChanged(Durable, frozen=True):
    """Another model from now on; `window` is how many tokens it can read, where that is known."""

    model: str
    window: int | None = None


class EffortChanged(Durable, frozen=True):
    """How hard the model shall think from now on, in both modes: a level, or tokens. Neither: as set elsewhere."""

    effort: Effort | None = None
    budget: int | None = None


class PolicyChanged(Durable, frozen=True):
    """Another approval mode from now on. `client` set it; empty: whoever opened the task, or a log that is older."""

    approval_mode: ApprovalMode
    client: str = ""


class ApprovalSwitched(Durable, frozen=True):
    """A kind of act is allowed from now on (`on`), asked about (false), or as the approval mode says (None).

    It holds in this task, over what the settings say of `auto_approve`. `client` is who switched it.
    """

    switch: ApprovalSwitch
    on: bool | None = None
    client: str = ""


class GrantTakenBack(Durable, frozen=True):
    """Leave that was given for good is no more. `client` took it back here; empty, its rule was removed elsewhere."""

    grant: Grant
    client: str = ""
