"""Prompts that wait for the end of a turn. After a turn that ended badly they wait for the person."""

from halocline.protocol.messages import StopReason
from halocline.surfaces.cli.input.line_input import Prompt

HOLDS = frozenset({StopReason.CANCELLED, StopReason.ERROR, StopReason.MAX_TURN_REQUESTS, StopReason.REFUSAL})
"""Ends of a turn after which a queued prompt is not sent by itself."""


class PromptQueue:
    """Queued prompts in order. `is_held`: they wait until the person sends one."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.is_held = False

    def add(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)

    def hold(self, prompt: Prompt) -> None:
        """Keep a prompt that could not be sent, for the person to edit or send again."""
        self.prompts.insert(0, prompt)
        self.is_held = True

    def end_turn(self, reason: StopReason) -> None:
        """Hold the queue if the turn did not end well."""
        self.is_held = bool(self.prompts) and reason in HOLDS

    def take_first(self) -> Prompt | None:
        """Take the next prompt, whether held or not."""
        self.is_held = self.is_held and len(self.prompts) > 1
        return self.prompts.pop(0) if self.prompts else None

    def take_next(self) -> Prompt | None:
        """Take the next prompt unless the queue is held."""
        return None if self.is_held else self.take_first()

    def take_last(self) -> Prompt | None:
        """Take the newest prompt, to edit it."""
        taken = self.prompts.pop() if self.prompts else None
        self.is_held = self.is_held and bool(self.prompts)
        return taken
