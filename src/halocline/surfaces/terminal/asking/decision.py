"""A person's decision about an approval."""

from typing import NamedTuple

from halocline.protocol.commands import ResolveApproval
from halocline.protocol.kinds import Choice, Scope
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject


class Decision(NamedTuple):
    """`arguments` replaces the call's arguments; `stop` asks to end the turn as well.

    `note` and `content` (images, pasted text) are sent to the model with it. `scope` and `wider` are the extent of a
    permission, `refused` the files of an edit that stay as they are.
    """

    choice: Choice
    note: str = ""
    arguments: JsonObject | None = None
    stop: bool = False
    scope: Scope = Scope.TASK
    wider: bool = False
    content: tuple[UserPart, ...] = ()
    refused: tuple[str, ...] = ()

    def resolve(self, task: str, request: str) -> ResolveApproval:
        """The command that answers the request."""
        return ResolveApproval(
            task=task,
            request=request,
            decision=self.choice,
            note=self.note,
            arguments=self.arguments,
            scope=self.scope,
            wider=self.wider,
            content=self.content,
            refused=self.refused,
        )
