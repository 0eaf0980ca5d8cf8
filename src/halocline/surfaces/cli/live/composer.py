"""The composer of the live screen: what is typed, its history, completion, pasted content and mentions.

It lives from the first prompt to the exit. While a line is asked for, such as a reason, the text typed before is set
aside and comes back afterwards.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import DynamicCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition

from halocline.client.models import BLIND
from halocline.client.start import Home, home_folder
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events.mentions import Mentioned
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import IN_USE
from halocline.surfaces.terminal.application.choice_list import ChoiceList, PickerEntry
from halocline.surfaces.terminal.composing import clipboard
from halocline.surfaces.terminal.composing.completion import Mentions, build_completer, is_begun
from halocline.surfaces.terminal.composing.mention_preview import MentionedLine
from halocline.surfaces.terminal.composing.pasting import MOST_PICTURES, Chips, mentions_of
from halocline.surfaces.terminal.composing.prompt import (
    KEY_NOT_SENT,
    NO_KEY_HERE,
    KeyGuard,
    Prompt,
    expand_quit_word,
    is_key,
    may_be_key,
    signs_in,
)
from halocline.surfaces.terminal.composing.prompt_history import PromptHistory, fill_history, is_provider
from halocline.surfaces.terminal.composing.slash_menu import Menu

PICK_FIRST = "No provider has this name. Pick one; its key is asked for next."


class LineRequest:
    """A line asked for in the composer: the label above it, a hint while it is empty, and the text it starts with.

    With `needs_text`, Enter in an empty line does nothing. With `choices`, what is typed filters a list to pick from.
    What is typed for a `secret` is not shown, and leaves no trace. Other text that is not sent becomes a draft. Where a
    person `signs_in`, what may be a key is none: neither what names no choice, nor what was typed before.
    """

    def __init__(
        self,
        label: str,
        hint: str = "",
        initial: str = "",
        *,
        needs_text: bool = False,
        choices: ChoiceList | None = None,
        secret: bool = False,
        signs_in: bool = False,
    ) -> None:
        self.secret = secret
        self.signs_in = signs_in or secret
        self.needs_text = needs_text
        self.choices = choices
        self.label = label.strip(" ›")
        self.hint = hint
        self.initial = initial
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    @property
    def hides(self) -> bool:
        """True while what is typed is not shown."""
        return self.secret or (self.signs_in and self.choices is not None and self.choices.picked is None)

    def finish(self, text: str | None) -> None:
        """End the request with a text, or with None to go back."""
        is_missing = self.needs_text and text is not None and not text.strip()
        if not self.answer.done() and not is_missing:
            self.answer.set_result(text)


def ask_value(
    label: str, values: Mapping[str, str], hint: str, *, opens: bool = False, signs_in: bool = False
) -> LineRequest:
    """Ask for one of these values, each with its meaning, or for what is typed.

    The one in use is selected at first. Without one, Enter picks none, unless the list `opens` its first.
    """
    entries = [
        PickerEntry(value, clean(value.strip()), clean(" ".join(text.split()))) for value, text in values.items()
    ]
    used = next((at for at, text in enumerate(values.values()) if text.startswith(IN_USE)), None)
    choices = ChoiceList(entries, 0 if used is None and opens else used)
    return LineRequest(label, hint, choices=choices, signs_in=signs_in)


class LiveComposer:
    """The text being typed. `redraw` is called when a line above it changes, or what is asked for."""

    def __init__(self, redraw: Callable[[], None]) -> None:
        self._client: Client | None = None
        self._task = ""
        self.chips = Chips()
        self._guard = KeyGuard()
        self._menu: Menu | None = None
        self._completer = build_completer(())
        self._set_aside = Document()
        self.due: list[str] = []
        """Lines for which Enter was pressed before the conversation could take them: no other one comes before them."""
        self.request: LineRequest | None = None
        self.tell: Callable[[str], None] = lambda text: None
        """Shows a notice until the next key."""
        self.is_hidden = False
        """True once a program waits that may ask for a password: what is typed may be one, and shows nowhere."""
        self._redraw = redraw
        self.mentions = MentionedLine(self._look_up, redraw)
        self._history = PromptHistory(
            Home(home_folder(os.environ)).prompt_history,
            self.chips,
            lambda word: self._client is not None and is_provider(self._client, word),
        )
        self.buffer = Buffer(
            multiline=True,
            history=self._history,
            completer=DynamicCompleter(lambda: None if self.request else self._completer),
            complete_while_typing=Condition(self._may_complete),
            on_text_changed=lambda buffer: self._note_text(buffer.text),
        )

    def _note_text(self, text: str) -> None:
        self._guard.forget()
        if self.request and self.request.choices:
            self.request.choices.apply_filter(text)
        self.mentions.typed("" if self.request and self.request.secret else text)

    def follow_task(self, client: Client, task: str) -> None:
        """Serve the prompts of this task from now on; typed text stays."""
        if task == self._task:
            return
        self._client, self._task = client, task
        self._menu = Menu(client, task)
        self._completer = build_completer((self._menu, Mentions(partial(client.mentionable, task))))

    @property
    def text(self) -> str:
        return self.buffer.text

    @property
    def before_cursor(self) -> str:
        return self.buffer.document.text_before_cursor

    def fill_history(self) -> None:
        """Have earlier prompts at hand for the key that comes."""
        fill_history(self.buffer, self._history)

    def put_below(self, text: str) -> bool:
        """Put a text below the earlier prompt that stands here, as if typed before it. False if none stands here."""
        lines = self.buffer._working_lines
        is_recalled = self.buffer.working_index < len(lines) - 1
        if is_recalled:
            lines[-1] = text
        return is_recalled

    def insert(self, text: str) -> None:
        self.buffer.insert_text(text)

    def clear(self) -> None:
        self.buffer.reset()
        self.mentions.typed("")

    def finish_line(self, *, append_to_history: bool = False) -> None:
        """Remove a line that was sent. What was typed before an earlier one was recalled in its place comes back."""
        draft = self._return_from(1)
        self.buffer.reset(Document(draft), append_to_history=append_to_history)
        self.mentions.typed(draft)  # a reset reports no change of the text

    def _return_from(self, end: int) -> str:
        """Leave a line that was recalled for the one so far from the end; return that, or nothing if none was."""
        at, lines = self.buffer.working_index, self.buffer._working_lines
        self.buffer.working_index = max(at, len(lines) - end)
        return lines[-end] if at < len(lines) - end else ""

    def repeats(self, key: str) -> str:
        """The text if it is nothing but this key, pressed again and again, as nervous people do; else empty.

        Digits repeated are a number.
        """
        return self.text if len(key) == 1 and not key.isdecimal() and self.text == key * len(self.text) else ""

    def take(self) -> Prompt | None:
        """Take the typed prompt; None when there is none."""
        text = expand_quit_word(self.text)
        if not text.strip() or self._client is None or self.holds_key():
            return None
        self.finish_line(append_to_history=True)
        get_app().vi_state.reset()  # the next prompt begins with typing
        if self._menu:
            self._menu.begin()
        mode = self._client.state(self._task).plan.mode
        return Prompt(text, mode, self.chips.parts(text))

    def hold(self) -> None:
        """Let what is typed wait until the conversation can take it."""
        if not self.holds_key():
            self.due.append(self.text)
            self.finish_line()

    def holds_key(self, *, is_prompt: bool = True) -> bool:
        """True if what is typed is not sent: a key, or what may be one while a `/login` waits, is forgotten.

        A prompt that may be one stays until Enter is pressed again.
        """
        text, waits = self.chips.whole(self.text), any(map(signs_in, self.due))
        is_lost = is_key(text) or (waits and any(map(may_be_key, text.split("\n"))))
        why = KEY_NOT_SENT if is_lost else self._guard.refuse(text) if is_prompt else ""
        if is_lost:
            self.finish_line()
        if why:
            self.tell(why)
        return bool(why)

    def put_back_due(self, most: int | None = None) -> bool:
        """Put the lines that wait above what is typed, or so many of the newest. False if there are none."""
        first = max(0, len(self.due) - most) if most else 0
        waiting, self.due = self.due[first:], self.due[:first]
        self.put_above("\n".join(waiting))
        return bool(waiting)

    def keep_draft(self) -> bool:
        """Keep what was typed and not sent in the history, where the next start finds it. False if nothing is kept."""
        self.put_back_due()
        is_kept = bool(self.text.strip()) and not (self.is_hidden or any(map(may_be_key, self.text.split("\n"))))
        if is_kept:
            self.buffer.append_to_history()
        return is_kept

    def edit(self, prompt: Prompt) -> None:
        """Put a prompt back, above what was typed since, with what was attached to it."""
        self.put_above(self.restore(prompt))

    def restore(self, prompt: Prompt) -> str:
        """The text of a prompt as it was typed, with a chip for each thing that was attached."""
        return self.chips.restore(prompt.text, prompt.parts)

    def put_above(self, text: str) -> None:
        """Insert a text above what is typed; while a line is asked for, above what was typed before."""
        draft = self._set_aside if self.request else self.buffer.document
        if text:
            self._put_draft(Document("\n".join(filter(None, [text, draft.text])), len(text)))

    def _put_draft(self, draft: Document) -> None:
        if self.request:
            self._set_aside = draft
        else:
            self.buffer.document = draft

    def take_edited(self, text: str, request: LineRequest | None, before: str) -> None:
        """Take what the editor made of the text `before`: in its place or, if that is gone, above what is typed now."""
        if request and self.request is request:
            self.buffer.document = Document(text)
        elif not request and before == (self._set_aside if self.request else self.buffer.document).text:
            self._put_draft(Document(text))
        else:
            self.put_above(text)

    def finish_request(self) -> None:
        """End the request for a line with what is picked, or what is typed."""
        if (request := self.request) and request.choices and request.hides and self.text:
            self._put_draft_last(self._left_of(request))
            self.clear()
            self._note_text("")
            request.hint = PICK_FIRST
        elif request and (request.secret or not self.holds_key(is_prompt=False)):
            picked = request.choices and request.choices.picked
            request.finish(picked.key if picked else self.text)

    async def read_line(self, request: LineRequest) -> str | None:
        """Ask for a line; the text typed before comes back afterwards. None when the person went back.

        What waited behind the command that asks comes back, too: it may be meant for this line, and is sent nowhere.
        Behind a list to pick from, it waits on.
        """
        if request.signs_in or not request.choices:
            self.put_back_due()
        if request.signs_in and self._drop_keys():
            request.hint = NO_KEY_HERE
        self._set_aside, self.request = self.buffer.document, request
        end = len(self.buffer._working_lines) - self.buffer.working_index
        self.buffer.document = Document(request.initial)
        self._redraw()
        text = None
        try:
            text = await request.answer
            return text
        finally:
            left = self._left_of(request) if text is None else ""
            below = self._return_from(end)
            if request.secret or request.choices or below == request.initial:
                below = ""
            self.request = None
            if request.secret:
                self.buffer.reset()  # also what could be undone
            self.buffer.document, self._set_aside = self._set_aside, Document()
            self.put_above("\n".join(filter(None, [left, below])))
            self._redraw()

    def _left_of(self, request: LineRequest) -> str:
        """Return the text that becomes a draft when a request does not take it: of a list, only a sentence."""
        if request.choices:
            is_draft = request.hides and " " in self.text.strip() and not may_be_key(self.text)
        else:
            is_draft = not request.secret and self.text != request.initial
        return self.text if is_draft else ""

    def _put_draft_last(self, text: str) -> None:
        """Put a text below what was typed before the line that is asked for."""
        if text:
            self._set_aside = Document("\n".join(filter(None, [self._set_aside.text, text])))

    def _drop_keys(self) -> bool:
        """Forget the lines that may be keys, typed before the line that asks for one. False if there are none."""
        lines = self.text.split("\n")
        kept = [line for line in lines if not may_be_key(self.chips.whole(line))]
        if kept != lines:
            self.buffer.reset(Document("\n".join(kept)))  # also what could be undone
        return kept != lines

    async def list_values(self, words: str) -> dict[str, str]:
        """List the values that may follow a slash command and its first words, each with its meaning."""
        return await self._menu.list_values(words) if self._menu else {}

    def paste(self, text: str) -> None:
        """Insert pasted text: a chip for long text, which the same text pasted again unfolds; mentions for files."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self.request and self.request.secret:
            self.insert(text)
            return
        folder = Path(self._client.state(self._task).workspace) if self._client else Path()
        typed = mentions_of(text, folder) or self.chips.chip(text)
        if typed != text and self.chip_before_cursor().rstrip() == typed:
            self.buffer.delete_before_cursor(len(self.chip_before_cursor()))
            typed = text
        self.insert(f"{typed} " if self.chips.before(typed) else typed)

    def chip_before_cursor(self) -> str:
        """The chip that Backspace removes as a whole; empty when there is none."""
        return self.chips.before(self.before_cursor)

    async def paste_image(self) -> None:
        """Insert the clipboard's image as a chip; a message tells why not."""
        self.mentions.say("Reading the clipboard …")
        try:
            chip, sees = await self._read_image()
        except HaloclineError as error:
            self.mentions.say(f"{error.text} {error.hint}".strip())
            return
        self.insert(f"{chip} ")
        self.mentions.say("" if sees else BLIND)

    async def _read_image(self) -> tuple[str, bool]:
        """Return the chip of the clipboard's image, and True if the model sees images. Raises HaloclineError."""
        if self._client is None:
            raise UsageError("The task is not open yet.", "Try again in a moment.")
        if self.chips.pictures(self.text) >= MOST_PICTURES:
            raise UsageError(f"A prompt takes at most {MOST_PICTURES} images.", "Send these first.")
        data = await clipboard.read_image()
        name = self.chips.next_picture()
        parts = await self._client.attach(self._task, name, data)
        return self.chips.picture(name, parts), await self._client.takes_images(self._task)

    async def _look_up(self, text: str) -> Sequence[Mentioned]:
        return await self._client.mentioned(self._task, text) if self._client else ()

    def _may_complete(self) -> bool:
        before = self.before_cursor
        return is_begun(before) or Menu.is_open(before)


def take_choice(buffer: Buffer) -> bool:
    """Insert the selected completion, or the first. True if the command it names is complete."""
    state = buffer.complete_state
    if state is None or not state.completions:
        return False
    choice = state.current_completion or state.completions[0]
    buffer.apply_completion(choice)
    if choice.text.endswith(" "):
        buffer.start_completion()
    return not choice.text.startswith("@") and not choice.text.endswith(" ")
