"""Typing a line. The editor is imported when a line is wanted, and not before.

The event loop's own handler of Ctrl-C is left alone: while typing, Ctrl-C is a key.
"""

from halocline.protocol.events import Mode
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value


async def read_line(prompt: str, initial: str = "") -> str | None:
    """One line, to be edited from `initial` on. None when the person left it with Ctrl-C or Ctrl-D."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import FormattedText

    session: PromptSession[str] = PromptSession(erase_when_done=True)
    try:
        return await session.prompt_async(FormattedText([("ansicyan", prompt)]), default=initial, handle_sigint=False)
    except (EOFError, KeyboardInterrupt):
        return None


class Prompt(Value, frozen=True):
    """What a person typed, the mode in which it is meant, and what they pasted into it."""

    text: str
    mode: Mode
    parts: tuple[UserPart, ...] = ()
