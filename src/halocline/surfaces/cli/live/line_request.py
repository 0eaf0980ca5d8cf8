"""A line that is asked for in the composer, such as the reason of a rejection."""

import asyncio


class LineRequest:
    """The label above the line, a hint in it while it is empty, and the text it starts with.

    With `needs_text`, Enter in an empty line does nothing.
    """

    def __init__(self, label: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> None:
        self.needs_text = needs_text
        self.label = label.strip(" ›")
        self.hint = hint
        self.initial = initial
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def finish(self, text: str | None) -> None:
        """End the request with a text, or with None to go back."""
        is_missing = self.needs_text and text is not None and not text.strip()
        if not self.answer.done() and not is_missing:
            self.answer.set_result(text)
