"""The door to what a person's words mention by `@`."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.messages import Message, UserPart
from halocline.protocol.queries.mentions import Mentioned
from halocline.protocol.state.state import State


class Mentions(Protocol):
    """Looks up what is mentioned; a failure is a note that says why, never an exception."""

    async def resolve(
        self, words: Sequence[str], state: State, visible: Sequence[Message] = ()
    ) -> tuple[UserPart, ...]:
        """What the words mention, in order; the first line of each note says what it is. Empty for plain prose.

        `visible` is what the model still reads: a file whose text is in it is not repeated.
        """

    async def sizes(self, words: Sequence[str], state: State) -> tuple[Mentioned, ...]:
        """The same without the content, and without anything kept or asked of a server."""
