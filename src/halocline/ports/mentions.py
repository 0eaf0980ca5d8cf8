"""Port for `@` mentions in a person's text."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.messages import Message, UserPart
from halocline.protocol.state.state import State


class Mentions(Protocol):
    """Resolves mentions; a failure becomes a note that says why, never an exception."""

    async def resolve(
        self, words: Sequence[str], state: State, visible: Sequence[Message] = (), files: Sequence[str] = ()
    ) -> tuple[UserPart, ...]:
        """Return the content of the mentions, in order; the first line of each note says what it is. May be empty.

        `words` are a person's, `files` the texts of commands: these bring only files, and only where reading them
        needs no approval. `visible` is what the model still reads: a file whose text is in it is not repeated.
        """

    async def sizes(self, words: Sequence[str], state: State) -> tuple[Mentioned, ...]:
        """Preview the mentions without their content; nothing is stored and no server is asked."""
