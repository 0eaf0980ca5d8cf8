"""Approvals: the request for one, its decision, and the rules that made it necessary."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.kinds import Choice, Diff, Grant, Scope, ToolKind
from halocline.protocol.messages import UserPart
from halocline.protocol.permission_rules import CommandPart, Grade, RuleBook
from halocline.protocol.values import JsonObject


class ApprovalRequested(Durable, frozen=True):
    """A tool call needs approval. `rule` and `reason` say why; `grant` is what *always allow* would permit.

    `wider` is a more general grant on offer. `place` is where a command would run, if not in the workspace; `parts`
    are the commands found in it, and `sandbox` describes its sandbox. `grade` is how grave it is to allow it; `reason`
    begins with the gravest reason. `lost` are files that it may lose and no checkpoint holds; "." if there are none.
    `agent` is the name of the sub-agent that asks through this task, which is not the one that made the call.
    """

    request: str
    call: str
    name: str
    title: str
    kind: ToolKind
    reason: str
    options: tuple[Choice, ...]
    detail: str = ""
    diffs: tuple[Diff, ...] = ()
    grant: Grant | None = None
    place: str = ""
    rule: str = ""
    wider: Grant | None = None
    parts: tuple[CommandPart, ...] = ()
    sandbox: str = ""
    grade: Grade = Grade.ORDINARY
    lost: tuple[str, ...] = ()
    agent: str = ""


class ApprovalResolved(Durable, frozen=True):
    """An approval was decided. `arguments` replace those of the call; `scope` is how far `grant` reaches.

    `refused` are files of an edit that stay as they are; the rest of it is allowed.

    The model reads `note` and `content` (images, and notes about them) with the result of the call.

    `by` is user, `judge` (a second model, by the person's written rule), `nobody` (no one could answer), interrupt, or
    message: you sent a message (the `SteeringReceived` before it) instead of deciding, so no pending call runs. `agent`
    is as in the request. After a refusal that `goes_on`, the later calls of the reply are not skipped.
    """

    request: str
    call: str
    decision: Choice
    by: str
    note: str = ""
    client: str = ""
    grant: Grant | None = None
    arguments: JsonObject | None = None
    scope: Scope = Scope.TASK
    content: tuple[UserPart, ...] = ()
    refused: tuple[str, ...] = ()
    agent: str = ""
    goes_on: bool = False


class ApprovalJudged(Durable, frozen=True):
    """A second model judged an approval by the person's written rule (the setting `judge`).

    If it `allows`, it answers the approval; otherwise the person is asked. `reason` is the model's, or why there is no
    verdict.
    """

    request: str
    call: str
    model: str
    allows: bool
    reason: str


class JudgeSwitched(Durable, frozen=True):
    """The judge of approvals was turned off for this task, or on again."""

    on: bool
    client: str = ""


class RulesChanged(Durable, frozen=True):
    """The permission rules changed; these, from files, replace the old ones."""

    book: RuleBook
