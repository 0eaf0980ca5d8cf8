"""The use of a task so far, as the governor compares it with the limits."""

import msgspec
from msgspec.structs import replace

from halocline.protocol.events.limits import Limits, RequestReserved, RequestSettled
from halocline.protocol.events.mcp import McpSampled
from halocline.protocol.events.steps import SideQuestionAnswered, UsageReported
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.events.tool_calls import ToolCallEnded
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import Text, ToolCall, Usage
from halocline.protocol.state.plan import PROGRESS
from halocline.protocol.values import Value


class BudgetState(Value, frozen=True):
    """Limits, and what counts toward them. What was taken before the latest extension is `forgiven`.

    `last_usage` is that of the conversation's latest request: it predicts the size of the next. `spent` is the known
    part of the cost, `unpriced` counts the requests beside it. `last_outcome` is the signature and the first text of
    the last call. `child_steps` are those of sub-agents since the prompt. `reserved` are the requests under a limit
    that run; what those without a report may have taken is `assumed`.
    """

    limits: Limits | None = None
    steps: int = 0
    usage: Usage = Usage()
    last_usage: Usage = Usage()
    spent: float = 0.0
    unpriced: int = 0
    failures_in_row: int = 0
    same_call_in_row: int = 0
    last_outcome: tuple[str, str] = ("", "")
    forgiven_steps: int = 0
    forgiven_cost: float = 0.0
    forgiven_tokens: int = 0
    child_steps: int = 0
    assumed_cost: float = 0.0
    assumed_tokens: int = 0
    reserved: tuple[RequestReserved, ...] = ()

    @property
    def counted_cost(self) -> float:
        """US dollars that count toward the limit."""
        return self.spent + self.assumed_cost - self.forgiven_cost

    @property
    def counted_tokens(self) -> int:
        """Tokens that count toward the limit."""
        return self.usage.total + self.assumed_tokens - self.forgiven_tokens

    @property
    def cost(self) -> float | None:
        """US dollars; None if it is unknown."""
        return None if self.unpriced else self.spent

    @property
    def known_cost(self) -> float | None:
        """The cost to show: unknown, too, where requests were made and none was counted, as after an interrupt."""
        return self.cost if self.cost or self.usage.total or not self.steps else None

    def after_prompt(self) -> "BudgetState":
        return replace(
            self,
            failures_in_row=0,
            same_call_in_row=0,
            last_outcome=("", ""),
            forgiven_steps=self.steps,
            child_steps=0,
        )

    def after_failure(self) -> "BudgetState":
        """Count a failure that is not a call's."""
        return replace(self, failures_in_row=self.failures_in_row + 1)

    def after_extension(self, limit: str) -> "BudgetState":
        """Start the count of this limit again; steps and failures start again with each."""
        found = replace(self, failures_in_row=0, same_call_in_row=0, forgiven_steps=self.steps, child_steps=0)
        match limit:
            case "cost":
                return replace(found, forgiven_cost=self.spent + self.assumed_cost)
            case "tokens":
                return replace(found, forgiven_tokens=self.usage.total + self.assumed_tokens)
        return found

    def after_reservation(self, event: RequestReserved) -> "BudgetState":
        return replace(self, reserved=(*self.reserved, event))

    def after_settlement(self, event: RequestSettled) -> "BudgetState":
        """Count what a request without a report may have taken."""
        return replace(
            self,
            reserved=tuple(one for one in self.reserved if one.request != event.request),
            assumed_tokens=self.assumed_tokens + event.tokens,
            assumed_cost=self.assumed_cost + event.cost,
        )

    def after_subagent(self, event: SubagentEnded) -> "BudgetState":
        """Add what a sub-agent took."""
        return replace(
            self.after_usage(event),
            child_steps=self.child_steps + event.steps,
            assumed_tokens=self.assumed_tokens + event.assumed_tokens,
            assumed_cost=self.assumed_cost + event.assumed_cost,
        )

    def settle_all(self) -> tuple[RequestSettled, ...]:
        """Return the settlements of requests whose process died: each may have taken all that was reserved for it."""
        return tuple(RequestSettled(one.request, one.tokens, one.cost or 0.0) for one in self.reserved)

    def after_usage(self, event: UsageReported | McpSampled | SideQuestionAnswered | SubagentEnded) -> "BudgetState":
        """Add usage and cost. Other requests than the conversation's say nothing about its size."""
        return replace(
            self,
            usage=self.usage + event.usage,
            last_usage=event.usage if isinstance(event, UsageReported) else self.last_usage,
            spent=self.spent + ((event.known_sum if isinstance(event, SubagentEnded) else event.cost) or 0.0),
            unpriced=self.unpriced + (event.cost is None),
        )

    def after_call(self, call: ToolCall | None, event: ToolCallEnded, *, declined: bool) -> "BudgetState":
        """Count failures and repetitions. `declined` means that a person refused a call of the same message."""
        first = next((part.text for part in event.result.content if isinstance(part, Text)), "")
        outcome = (call_signature(call) if call else "", first)
        return replace(
            self,
            failures_in_row=self._count_failures(event.status, declined=declined, outside=event.outside),
            same_call_in_row=self.same_call_in_row + 1 if outcome == self.last_outcome else 1,
            last_outcome=outcome,
        )

    def _count_failures(self, status: CallStatus, *, declined: bool, outside: bool) -> int:
        """Count failures in a row, and refusals by the policy or a hook.

        Skipped calls do not count, nor those that a person refused or whose file others changed meanwhile.
        """
        match status:
            case CallStatus.COMPLETED:
                return 0
            case CallStatus.FAILED if not outside:
                return self.failures_in_row + 1
            case CallStatus.REJECTED if not declined:
                return self.failures_in_row + 1
        return self.failures_in_row


def call_signature(call: ToolCall) -> str:
    """Return a key that is equal for equal calls: it ignores the order of arguments, and the to-do list among them."""
    arguments = {name: value for name, value in call.arguments.items() if name != PROGRESS}
    # For large arguments, JSON is eight times as fast as `repr`.
    return msgspec.json.encode((call.name, arguments, call.malformed), order="sorted").decode()
