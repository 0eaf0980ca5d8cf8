"""A line that is asked for in the composer, such as the reason of a rejection."""

import asyncio


class LineRequest:
    """The label above the line, a hint in it while it is empty, and the text it starts with."""

    def __init__(self, label: str, hint: str = "", initial: str = "") -> None:
        self.label = label.strip(" ›")
        self.hint = hint
        self.initial = initial
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def finish(self, text: str | None) -> None:
        """End the request with a text, or with None to go back."""
        if not self.answer.done():
            self.answer.set_result(text)
