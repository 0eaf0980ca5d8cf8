"""How a task that happened in another tool becomes one of ours; part of `events`, where every reader finds it."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.kinds import ApprovalMode, Mode


class TaskAdopted(Durable, frozen=True):
    """An imported task goes on here, with this model and system prompt from now on."""

    model: str
    mode: Mode
    approval_mode: ApprovalMode
    system_prompt: str
    version: str
    compact: bool = False
