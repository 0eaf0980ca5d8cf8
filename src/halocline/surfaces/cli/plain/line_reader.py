"""Reads lines on a terminal: prompts, answers and decisions, each ended by Enter.

What must stay true: what was typed before a question was shown decides nothing. It is the draft of the next prompt.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from halocline.client.themes import TERMINAL
from halocline.surfaces.cli.plain.questions import knows_codes
from halocline.surfaces.terminal import application
from halocline.surfaces.terminal.application.person_call import PersonCall
from halocline.surfaces.terminal.application.terminal_state import TerminalState
from halocline.surfaces.terminal.composing.prompt import BREAK, join_drafts, split_first, type_keys

if TYPE_CHECKING:
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

BEAT = 0.1
"""Seconds between checks for keys. Silence is counted in checks without keys, so a busy program is not silence."""
SILENCE = 0.7
"""Seconds of silence after a question before its answer can be typed."""


class LineReader:
    """Standard input of a person. Between lines the terminal is as the shell left it."""

    def __init__(self) -> None:
        self.draft = ""
        """Text that was typed ahead, for the next prompt."""
        self.theme = TERMINAL
        self.editor = ""
        """The setting."""
        self.person = PersonCall(_write_code)

    @property
    def is_gone(self) -> bool:
        """True once the terminal was closed."""
        return not os.isatty(sys.stdin.fileno())

    async def wait_for_silence(self) -> None:
        """Take what was typed until now into the draft, and wait until nothing more comes."""
        terminal, quiet = TerminalState(), 0.0
        terminal.quieten()
        try:
            while quiet < SILENCE and not self.is_gone:
                if typed := terminal.read_typed():
                    self.draft, quiet = type_keys(self.draft, typed), 0.0
                await asyncio.sleep(BEAT)
                quiet += BEAT
        finally:
            terminal.restore()

    forgot_key = False
    """True if a line that may be a key was left out of the draft."""

    def take_draft(self, *, is_message: bool = False) -> str:
        """Take the draft's first prompt, to start a line with; commands and what is behind them wait. None is sent."""
        terminal = TerminalState()
        terminal.quieten()
        typed = type_keys(self.draft, terminal.read_typed()).strip("\n")
        draft, self.draft = split_first(typed, is_message=is_message)
        self.forgot_key = typed.replace(BREAK, "\n").split() != f"{draft}\n{self.draft}".replace(BREAK, "\n").split()
        terminal.restore()
        return draft

    async def read_line(
        self,
        prompt: str,
        initial: str = "",
        hint: str = "",
        history: "FileHistory | None" = None,
        *,
        is_secret: bool = False,
        keeps: bool = False,
    ) -> str | None:
        """Read a line that starts as `initial`. None on Ctrl-C, Ctrl-D or Esc.

        With a `history`, it is a prompt, which may have several lines (Alt+Enter or Ctrl+J). Ctrl-C clears it first; if
        it `keeps` what is typed, that is the draft then.
        """
        with _codeless_output():
            return await self._read_line(prompt, initial, hint, history, is_secret=is_secret, keeps=keeps)

    async def _read_line(
        self, prompt: str, initial: str, hint: str, history: "FileHistory | None", *, is_secret: bool, keeps: bool
    ) -> str | None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.application import get_app_session
        from prompt_toolkit.formatted_text import FormattedText
        from prompt_toolkit.input.typeahead import get_typeahead
        from prompt_toolkit.lexers import SimpleLexer

        session: PromptSession[str] = PromptSession(
            enable_suspend=True,
            is_password=is_secret,
            history=history,
            multiline=history is not None,
            key_bindings=_bind_keys(is_prompt=history is not None, keeps=keeps),
            prompt_continuation="  ",
            placeholder=FormattedText([("class:quiet", hint)]),
            lexer=SimpleLexer("class:prompt"),
            style=application.layout.build_style(self.theme),
            erase_when_done=history is not None,
        )
        session.app.key_processor.before_key_press += lambda processor: self.person.note_key()
        try:
            return await session.prompt_async(
                FormattedText([("class:mark", prompt)]), default=initial, handle_sigint=False
            )
        except (EOFError, KeyboardInterrupt):
            self.draft = join_drafts(session.default_buffer.text if keeps else "", self.draft)
            return None
        except asyncio.CancelledError:
            self.draft = join_drafts(session.default_buffer.text if history is not None else "", self.draft)
            raise
        finally:
            self.person.note_key()
            behind = get_typeahead(get_app_session().input)  # what came with the Enter must not end the next line
            self.draft = type_keys(self.draft, "".join(press.data for press in behind))


@contextmanager
def _codeless_output() -> Iterator[None]:
    """On a terminal that knows no escape codes, write none."""
    if knows_codes():
        yield
        return
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.output.plain_text import PlainTextOutput

    with create_app_session(output=PlainTextOutput(sys.stdout)):
        yield


def _write_code(code: str) -> None:
    sys.stdout.write(code)
    sys.stdout.flush()


def _bind_keys(*, is_prompt: bool, keeps: bool) -> "KeyBindings":
    """Bind the keys of a prompt, or the one that goes back from a line."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()
    if not is_prompt:
        keys.add("escape")(lambda event: event.app.exit(exception=KeyboardInterrupt))
        return keys

    @keys.add("enter")
    def send(event: "KeyPressEvent") -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def break_line(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def clear(event: "KeyPressEvent") -> None:
        if keeps or not event.current_buffer.text:
            event.app.exit(exception=KeyboardInterrupt)
        else:
            event.current_buffer.reset()

    return keys
