"""Questions of the live screen: the card that waits, and lines typed in the composer."""

import time
from collections.abc import Callable, Container, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from halocline.surfaces.cli.live.card import Card
from halocline.surfaces.cli.live.composer import LineRequest, LiveComposer
from halocline.surfaces.cli.live.decision_keys import Opener
from halocline.surfaces.cli.live.outside import OutsideSigns
from halocline.surfaces.cli.live.session import LiveSession
from halocline.surfaces.terminal.asking.menu import ESCAPE, Kind, Options
from halocline.surfaces.terminal.asking.text_editor import run_editor
from halocline.surfaces.terminal.composing.prompt import Prompt

MESSAGE_LABEL = "Your message to the model"
JUST_NOW = 1.0
"""Seconds after a chosen option in which a line belongs to it."""
_ANSWER_OR_STOP = {"t": "type your answer", ESCAPE: "stop"}


class LiveMenu:
    """The card of the live screen, as a menu for questions."""

    def __init__(
        self,
        session: LiveSession,
        composer: LiveComposer,
        outside: OutsideSigns,
        release_terminal: Callable[[], AbstractAsyncContextManager[None]],
        print_rows: Callable[[], None],
    ) -> None:
        self._session = session
        self._composer = composer
        self._outside = outside
        self._release_terminal = release_terminal
        self._print_rows = print_rows
        self._chosen_at = 0.0

    def call_person(self, text: str) -> None:
        self._outside.person.call(text)

    async def choose(
        self,
        title: str,
        options: Options,
        on_card: Container[str] = (),
        selected: str | None = "",
        kind: Kind = Kind.ORDINARY,
    ) -> str:
        """Show the options until one is chosen. The screen is drawn again by itself after the program was suspended."""
        opener = Opener.PERSON if kind is Kind.OWN or self._was_just_chosen() else Opener.PROGRAM
        card = self._session.card = Card(title, options, self._session.redraw, selected, kind, opener)
        self._outside.change_state("waiting")
        self._print_rows()
        try:
            chosen = await card.answer
            self._chosen_at = time.monotonic()
            return chosen
        finally:
            self._session.card = None
            self._outside.change_state("working" if self._session.has_turn else "idle")
            self._session.redraw()

    def put_back(self, message: Prompt) -> None:
        self._session.put_back(message)

    async def edit_files(self, paths: Sequence[Path]) -> None:
        async with self._release_terminal():
            await run_editor(paths, self._session.editor)

    async def ask_line(self, prompt: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> str | None:
        """Read a line. Unless a key just asked for it, it waits for silence, and for a person who is typing."""
        if not self._was_just_chosen():
            await self._session.wait_for_silence()
            if self._composer.text and await self.choose("", _ANSWER_OR_STOP) == ESCAPE:
                return None
        text = await self._composer.read_line(LineRequest(prompt, hint, initial, needs_text=needs_text))
        return text and self._composer.chips.whole(text)

    def _was_just_chosen(self) -> bool:
        """True if the person's latest key chose an option a moment ago, to which what is asked now belongs."""
        return time.monotonic() - self._chosen_at < JUST_NOW and self._session.typed_at <= self._chosen_at

    async def ask_message(self, before: Prompt | None) -> Prompt | None:
        """Read a message to the model, with pasted texts and images; None when the person went back."""
        initial = self._composer.restore(before) if before else ""
        text = await self._composer.read_line(LineRequest(MESSAGE_LABEL, initial=initial))
        state = self._session.state
        if not text or not text.strip() or state is None:
            return None
        return Prompt(text, state.plan.mode, self._composer.chips.parts(text))
