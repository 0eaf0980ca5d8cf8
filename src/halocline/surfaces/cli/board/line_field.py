"""A line that is typed below the list: a filter, a reason or an answer."""

import asyncio
from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.layout import ConditionalContainer, Window
from prompt_toolkit.layout.controls import BufferControl

from halocline.surfaces.sanitize import reveal


class LineField:
    """One line with its prompt. `focus` is called with the window to type into, or None when the line is done."""

    def __init__(self) -> None:
        self._buffer = Buffer(multiline=False, on_text_changed=lambda _: self._on_change(self._buffer.text))
        self._window = Window(
            BufferControl(self._buffer),
            height=1,
            dont_extend_height=True,
            get_line_prefix=lambda line, wraps: [("class:accent", self._prompt)],
        )
        self._prompt = ""
        self._answer: asyncio.Future[str | None] | None = None
        self._on_change: Callable[[str], None] = lambda text: None
        self.focus: Callable[[Window | None], None] = lambda window: None
        self.is_open = Condition(lambda: self._answer is not None)
        self.container = ConditionalContainer(self._window, self.is_open)

    async def read(
        self, prompt: str, initial: str = "", on_change: Callable[[str], None] = lambda text: None
    ) -> str | None:
        """Return what is typed, at Enter; None if the person goes back. `on_change` gets each text on the way."""
        self._prompt, self._on_change = reveal(prompt), lambda text: None
        self._buffer.set_document(Document(initial), bypass_readonly=True)
        self._on_change = on_change
        self._answer = asyncio.get_running_loop().create_future()
        self.focus(self._window)
        try:
            return await self._answer
        finally:
            self._answer = None
            self.focus(None)

    def end(self, *, takes: bool) -> None:
        """Take what was typed, or go back."""
        if self._answer and not self._answer.done():
            self._answer.set_result(self._buffer.text if takes else None)
