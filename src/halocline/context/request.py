"""From what a task knows to what the model reads: a pure step from state to request.

The system prompt was fixed when the task began and messages are only appended, so the bytes of one request are a prefix
of the next and the provider's cache holds; `view` says when that is given up.
"""

from collections.abc import Callable, Mapping

from halocline.context.compaction.thresholds import Room, count_used, find_room
from halocline.context.token_estimate import Sum, request_tokens
from halocline.context.view import View, replies_left_out
from halocline.ports.model import Request
from halocline.ports.tool import Toolset
from halocline.protocol.events import Mode
from halocline.protocol.messages import Effort, Message
from halocline.protocol.queries.usage import Shortened
from halocline.protocol.state.state import State
from halocline.protocol.values import Value


class Thinking(Value, frozen=True):
    """How hard to think: a word for it, or a bound in tokens. None leaves it to the vendor."""

    effort: Effort | None = None
    budget: int | None = None


class Context:
    """Builds requests. `max_tokens` bounds one reply, None leaves it to the model; `thinking` is by mode.

    `at` is the part of the window from which on a conversation is crowded; None: as `context.room` has it. `sees` says
    of a model whether pictures may be sent to it.
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
        self._sum = Sum()

    def request(self, state: State, toolset: Toolset) -> Request:
        """What the model is asked now."""
        thinking = Thinking(state.effort, state.thinking_budget)
        if thinking == Thinking():  # the task has no wish of its own
            thinking = self._thinking.get(state.mode, thinking)
        return Request(
            model=state.model,
            system=state.system_prompt,
            messages=self.visible(state),
            tools=toolset.specs(state),
            max_tokens=self._max_tokens,
            effort=thinking.effort,
            thinking_budget=thinking.budget,
            cache_key=state.task,
            output_schema=state.output_schema,
            replies_left_out=replies_left_out(state),
        )

    def visible(self, state: State) -> tuple[Message, ...]:
        """What of the conversation the model reads. Where its window is known, no message takes more than a third."""
        return self._view.of(state, self._most(state), sees=self._sees(state.model))

    def passes(self, state: State) -> Shortened:
        """What `visible` leaves out of the conversation, makes up and cuts."""
        from halocline.context.reports.removals import report_removals  # for people who ask

        return report_removals(state, self._most(state), sees=self._sees(state.model))

    def _most(self, state: State) -> int | None:
        return self.room(state).allowed // 3 if state.window or state.limit else None

    def room(self, state: State) -> Room:
        """How much there is room for."""
        return find_room(state, state.limits.compacts_at if state.limits else self._at)

    def used(self, state: State, toolset: Toolset) -> int:
        """Tokens of the request that would be made now: what the provider counted last and what came since.

        Where it has counted nothing, an estimate of the whole.
        """
        return count_used(state) if state.last_usage.total else request_tokens(self.request(state, toolset), self._sum)
