"""Builds the request to the model from the state of a task. Pure.

The system prompt is fixed when the task starts and messages are only appended, so one request is a prefix of the next
and the provider's cache stays valid; `view` documents the exceptions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from halocline.context.compaction.thresholds import Room, count_used, find_room
from halocline.context.compaction.view import View, replies_left_out
from halocline.context.system_prompt.environment import Reported
from halocline.context.token_estimate import Sum, request_tokens
from halocline.ports.model import Request
from halocline.ports.tool import Toolset
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Effort, Message
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.protocol.queries.usage import Shortened


class Thinking(Value, frozen=True):
    """Thinking settings: an effort level, or a budget in tokens. None leaves it to the vendor."""

    effort: Effort | None = None
    budget: int | None = None


class Context:
    """Builds requests. `max_tokens` bounds one reply, None leaves it to the model; `thinking` is by mode.

    `at` is the share of the window at which to compact, None for the default of `find_room`. `sees` tells whether a
    model accepts images.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        thinking: Mapping[Mode, Thinking] | None = None,
        at: float | None = None,
        sees: Callable[[str], bool] = lambda model: True,
    ) -> None:
        self._max_tokens = max_tokens
        self._thinking = thinking or {}
        self._at = at
        self._sees = sees
        self._view = View()
        self._reported = Reported()
        self._sum = Sum()

    def request(self, state: State, toolset: Toolset) -> Request:
        """Build the next request."""
        thinking = Thinking(state.model.effort, state.model.thinking_budget)
        if thinking == Thinking():  # the task sets none of its own
            thinking = self._thinking.get(state.plan.mode, thinking)
        return Request(
            model=state.model.name,
            system=state.prompt.system,
            messages=self.visible(state),
            tools=toolset.specs(state),
            max_tokens=self._max_tokens,
            effort=thinking.effort,
            thinking_budget=thinking.budget,
            cache_key=state.task,
            output_schema=state.answer.schema,
            replies_left_out=replies_left_out(state),
        )

    def visible(self, state: State) -> Sequence[Message]:
        """Return the messages that the model reads. If its window is known, no message takes more than a third."""
        return self._view.of(state, self._most(state), sees=self._sees(state.model.name))

    def reported(self, state: State) -> dict[str, str]:
        """Return the facts of the environment, by name, that the model reads."""
        return self._reported.of(state)

    def passes(self, state: State) -> "Shortened":
        """Report what `visible` leaves out, makes up and shortens."""
        from halocline.context.reports.removals import report_removals  # only needed for the report

        return report_removals(state, self._most(state), sees=self._sees(state.model.name))

    def _most(self, state: State) -> int | None:
        return self.room(state).allowed // 3 if state.model.window or state.model.limit else None

    def room(self, state: State) -> Room:
        """Return the context window and how much of it a request may use."""
        return find_room(state, state.budget.limits.compacts_at if state.budget.limits else self._at)

    def used(self, state: State, toolset: Toolset) -> int:
        """Return the tokens of the next request: the provider's last count and what came since.

        If it has counted nothing yet, estimate the whole.
        """
        return (
            count_used(state)
            if state.budget.last_usage.total
            else request_tokens(self.request(state, toolset), self._sum)
        )
