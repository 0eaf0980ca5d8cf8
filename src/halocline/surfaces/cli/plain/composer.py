"""The prompt editor: completion, pasting and mentions.

The event loop's own Ctrl-C handler is left alone: in the editor, Ctrl-C is a key.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import get_terminal_size

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completion
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.styles import Style

from halocline.client import BLIND, Client
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import Mode
from halocline.surfaces.terminal.composing import clipboard
from halocline.surfaces.terminal.composing.completion import Mentions, Source, build_completer, is_begun
from halocline.surfaces.terminal.composing.mention_preview import MentionedLine
from halocline.surfaces.terminal.composing.pasting import MOST_PICTURES, Chips, mentions_of
from halocline.surfaces.terminal.composing.prompt import Prompt, expand_quit_word
from halocline.surfaces.terminal.composing.prompt_history import open_history
from halocline.surfaces.terminal.composing.slash_menu import Menu

PLACEHOLDER = "What should I do? @ file, / command, ! shell, Shift+Tab mode, Ctrl-D quit"
SHORT_PLACEHOLDER = "What should I do? Ctrl-D: quit"
INDENT = 2
STYLE = Style.from_dict(
    {
        "completion-menu": "bg:default fg:default",
        "completion-menu.completion": "bg:default fg:default",
        "completion-menu.completion.current": "bg:default fg:ansicyan bold noreverse",
        "completion-menu.meta.completion": "bg:default fg:ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default fg:ansibrightblack",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:ansibrightblack",
    }
)


def sources_of(client: Client, task: str, words: Menu) -> list[Source]:
    """Completion sources of the composer."""
    return [words, Mentions(partial(client.mentionable, task))]


class Composer:
    """Asks for the prompts of one task. Pasted content and file lists are kept between prompts.

    It continues with the text and the pasted content of the composer `before` it, that of another task.
    """

    def __init__(self, client: Client, task: str, before: "Composer | None" = None) -> None:
        self.task = task
        self._client = client
        self._words = Menu(client, task)
        self._completer = build_completer(sources_of(client, task, self._words))
        self._chips: Chips = before._chips if before else Chips()
        self._kept: str = before._kept if before else ""

    async def ask(self, typed: str = "", hint: str = "", offered: str = "") -> Prompt | None:
        """Ask for the next prompt, starting with the text `typed` before; None when the person quits.

        The `hint` replaces the usual placeholder. Enter alone sends the prompt that is `offered`, if any.

        Enter sends, Alt+Enter or Ctrl+J starts a new line, Tab completes, Ctrl-V pastes an image, Shift+Tab changes the
        mode, Ctrl-D quits, Ctrl-C clears the text or quits when it is empty, Ctrl-Z suspends. If another client sends
        a prompt first, the text is kept for the next time.
        """
        self._kept += typed
        self._words.begin()
        chosen = Chosen(self._client.state(self.task).plan.mode)
        line = MentionedLine(partial(self._client.mentioned, self.task), lambda: get_app().invalidate())
        session = self._session(chosen, line, hint)
        try:
            text = ""
            while not text.strip():
                before, self._kept = self._kept, ""
                text = await session.prompt_async(
                    partial(_prompt_text, chosen, line), default=before, handle_sigint=False
                )
                text = text if text.strip() else offered
        except (EOFError, KeyboardInterrupt):
            return None
        except asyncio.CancelledError:
            self._kept = session.default_buffer.text
            raise
        finally:
            line.stop()
        return Prompt(expand_quit_word(text), chosen.mode, self._chips.parts(text))

    def take_sent_line(self, line: str) -> Prompt:
        """Return the prompt of a line that was sent before the editor started."""
        open_history(self._client.home.prompt_history, self._chips).store_string(line)
        return Prompt(expand_quit_word(line), self._client.state(self.task).plan.mode)

    def _session(self, chosen: "Chosen", line: MentionedLine, hint: str) -> PromptSession[str]:
        session: PromptSession[str] = PromptSession(
            history=open_history(self._client.home.prompt_history, self._chips),
            multiline=True,
            enable_suspend=True,
            key_bindings=self._keys(chosen, line),
            prompt_continuation="  ",
            placeholder=FormattedText([("ansibrightblack", hint or _choose_placeholder())]),
            erase_when_done=True,
            completer=self._completer,
            complete_while_typing=Condition(
                lambda: is_begun(_text_before_cursor()) or Menu.is_open(_text_before_cursor())
            ),
            style=STYLE,
        )
        session.default_buffer.on_text_changed += lambda buffer: line.typed(buffer.text)
        return session

    def _keys(self, chosen: "Chosen", line: MentionedLine) -> KeyBindings:
        keys = KeyBindings()
        _add_basic(keys, chosen)
        _add_completion(keys)
        workspace = Path(self._client.state(self.task).workspace)
        chips = self._chips

        @keys.add(Keys.BracketedPaste)
        def paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            typed = mentions_of(text, workspace) or chips.chip(text)
            event.current_buffer.insert_text(f"{typed} " if chips.before(typed) else typed)

        @keys.add("backspace", filter=Condition(lambda: bool(chips.before(_text_before_cursor()))))
        def drop(event: KeyPressEvent) -> None:
            event.current_buffer.delete_before_cursor(len(chips.before(_text_before_cursor())))

        @keys.add("c-v")
        async def picture(event: KeyPressEvent) -> None:
            line.say("Reading the clipboard …")
            try:
                chip = await self._pasted_picture(event.current_buffer.text)
            except HaloclineError as error:
                line.say(f"{error.text} {error.hint}".strip())
                return
            event.current_buffer.insert_text(f"{chip} ")
            line.say("" if await self._client.takes_images(self.task) else BLIND)

        return keys

    async def _pasted_picture(self, typed: str) -> str:
        """Return the chip of the clipboard's image. Raises HaloclineError."""
        if self._chips.pictures(typed) >= MOST_PICTURES:
            raise UsageError(f"A prompt takes at most {MOST_PICTURES} images.", "Send these first.")
        data = await clipboard.read_image()
        name = self._chips.next_picture()
        parts = await self._client.attach(self.task, name, data)
        return self._chips.picture(name, parts)


@dataclass(slots=True)
class Chosen:
    """The mode chosen while typing a prompt."""

    mode: Mode

    def switch(self) -> None:
        self.mode = Mode.ACT if self.mode is Mode.PLAN else Mode.PLAN


def _choose_placeholder() -> str:
    """Return the longest placeholder that fits on one line."""
    return PLACEHOLDER if get_terminal_size().columns > len(PLACEHOLDER) + len("plan ❯ ") else SHORT_PLACEHOLDER


def _prompt_text(chosen: Chosen, line: MentionedLine) -> FormattedText:
    """Build the prompt. Mentions use the empty line above it, so that nothing moves when they appear."""
    plan = [("ansiyellow", "plan ")] if chosen.mode is Mode.PLAN else []
    mentions = line.shown(get_app().output.get_size().columns - INDENT - 1)
    above = (
        [(style, text.replace("\n", "\n" + " " * INDENT)) for style, text in [("", " " * INDENT), *mentions]]
        if mentions
        else []
    )
    return FormattedText([*above, ("", "\n"), *plan, ("ansicyan bold", "❯ ")])


def _text_before_cursor() -> str:
    return get_app().current_buffer.document.text_before_cursor


def _add_basic(keys: KeyBindings, chosen: Chosen) -> None:
    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("s-tab")
    def switch(event: KeyPressEvent) -> None:
        chosen.switch()

    @keys.add("c-c")
    def clear(event: KeyPressEvent) -> None:
        if not event.current_buffer.text:
            event.app.exit(exception=KeyboardInterrupt)
        event.current_buffer.reset()


def _add_completion(keys: KeyBindings) -> None:
    """Tab takes the selected choice, or the first; Enter takes only a selected one; Escape closes the menu."""

    @keys.add("tab", filter=has_completions)
    def take(event: KeyPressEvent) -> None:
        state = event.current_buffer.complete_state
        if state and state.completions:
            _take_choice(event.current_buffer, state.current_completion or state.completions[0])

    @keys.add("enter", filter=Condition(lambda: _moved_to() is not None))
    def accept(event: KeyPressEvent) -> None:
        if choice := _moved_to():
            _take_choice(event.current_buffer, choice)
            if not choice.text.startswith("@") and not choice.text.endswith(" "):
                event.current_buffer.validate_and_handle()

    @keys.add("escape", filter=has_completions)
    def close(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()


def _take_choice(buffer: Buffer, choice: Completion) -> None:
    """Insert the choice, and complete what may follow it."""
    buffer.apply_completion(choice)
    if choice.text.endswith(" "):
        buffer.start_completion()


def _moved_to() -> Completion | None:
    state = get_app().current_buffer.complete_state
    return state.current_completion if state else None
