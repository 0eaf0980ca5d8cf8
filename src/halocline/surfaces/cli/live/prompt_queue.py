"""Prompts that wait for the end of a turn. After a turn that ended badly they wait for the person.

A prompt sent after the person stopped the turn is what they want instead: it goes first, however the turn ends.
"""

from halocline.protocol.messages import StopReason
from halocline.surfaces.cli.input.line_input import Prompt

HOLDS = frozenset({StopReason.CANCELLED, StopReason.ERROR, StopReason.MAX_TURN_REQUESTS, StopReason.REFUSAL})
"""Ends of a turn after which a queued prompt is not sent by itself."""


class PromptQueue:
    """Queued prompts in order. `is_held`: they wait until the person sends one, all but those sent after a stop."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.is_held = False
        self._after_stop = 0
        """Count of the first prompts that were sent after a stop."""

    def add(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)

    def add_after_stop(self, prompt: Prompt) -> None:
        """Queue a prompt for the moment when the turn that the person stopped has ended."""
        self.prompts.insert(self._after_stop, prompt)
        self._after_stop += 1

    def holds(self, index: int) -> bool:
        """True if this prompt waits for the person."""
        return self.is_held and index >= self._after_stop

    def hold(self, prompt: Prompt) -> None:
        """Keep a prompt that could not be sent, for the person to edit or send again."""
        self.prompts.insert(0, prompt)
        self.is_held, self._after_stop = True, 0

    def end_turn(self, reason: StopReason) -> None:
        """Hold the queue if the turn did not end well."""
        self.is_held = len(self.prompts) > self._after_stop and reason in HOLDS

    def take_first(self) -> Prompt | None:
        """Take the next prompt, whether held or not."""
        self.is_held = self.is_held and len(self.prompts) > 1
        self._after_stop = max(0, self._after_stop - 1)
        return self.prompts.pop(0) if self.prompts else None

    def take_next(self) -> Prompt | None:
        """Take the next prompt unless it waits for the person."""
        return None if self.holds(0) else self.take_first()

    def take_last(self) -> Prompt | None:
        """Take the newest prompt, to edit it."""
        taken = self.prompts.pop() if self.prompts else None
        self._after_stop = min(self._after_stop, len(self.prompts))
        self.is_held = self.is_held and bool(self.prompts)
        return taken
