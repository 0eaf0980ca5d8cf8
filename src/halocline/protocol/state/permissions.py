"""The permissions of a task: what a person allowed or refused in it, and the rules from files."""

from msgspec.structs import replace

from halocline.protocol.events.approvals import ApprovalJudged, ApprovalResolved
from halocline.protocol.events.subagents import Subtask
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Choice, Grant, Scope
from halocline.protocol.permission_rules import RuleBook
from halocline.protocol.values import Value


class PermissionsState(Value, frozen=True):
    """Approval mode, decisions and rules. `kept_grants` reach beyond the task. `switches` were set in the task.

    `judged` counts the approvals that the judge looked at, `judge_allowed` those of them that it gave.
    """

    approval_mode: ApprovalMode = ApprovalMode.ASK
    grants: frozenset[Grant] = frozenset()
    kept_grants: frozenset[tuple[Grant, Scope]] = frozenset()
    refusals: frozenset[Grant] = frozenset()
    switches: dict[ApprovalSwitch, bool | None] = {}
    rules: RuleBook = RuleBook()
    judge_is_off: bool = False
    judged: int = 0
    judge_allowed: int = 0

    def given_by(self, subtask: Subtask | None) -> "PermissionsState":
        """Return the state with the decisions that a sub-agent gets from its parent."""
        return replace(
            self,
            grants=frozenset(subtask.grants) if subtask else frozenset(),
            refusals=frozenset(subtask.refusals) if subtask else frozenset(),
            switches=subtask.switches if subtask else {},
        )

    def after_approval(self, event: ApprovalResolved) -> "PermissionsState":
        if event.grant is None:
            return self
        match event.decision:
            case Choice.ALLOW_ALWAYS:
                kept = frozenset({(event.grant, event.scope)} if event.scope is not Scope.TASK else ())
                return replace(self, grants=self.grants | {event.grant}, kept_grants=self.kept_grants | kept)
            case Choice.REJECT_ALWAYS:
                return replace(self, refusals=self.refusals | {event.grant})
        return self

    def after_verdict(self, event: ApprovalJudged) -> "PermissionsState":
        return replace(self, judged=self.judged + 1, judge_allowed=self.judge_allowed + event.allows)

    def without_grant(self, grant: Grant) -> "PermissionsState":
        kept = frozenset(one for one in self.kept_grants if one[0] != grant)
        return replace(self, grants=self.grants - {grant}, kept_grants=kept)

    def with_switch(self, switch: ApprovalSwitch, on: bool | None) -> "PermissionsState":
        return replace(self, switches={**self.switches, switch: on})
