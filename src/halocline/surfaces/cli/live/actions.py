"""The actions of the keys, named as in the table of keys."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from prompt_toolkit.document import Document

from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode
from halocline.surfaces.cli.live.composer import LiveComposer, ask_value, take_choice
from halocline.surfaces.cli.live.mode_cycle import find_next_step
from halocline.surfaces.cli.live.session import LiveSession
from halocline.surfaces.slash.context import IN_USE
from halocline.surfaces.slash.dispatch import find_own_command
from halocline.surfaces.terminal import application as terminal
from halocline.surfaces.terminal.application.application import LiveApplication
from halocline.surfaces.terminal.application.choice_list import FILTER_HINT, PAGE
from halocline.surfaces.terminal.asking.menu import Kind
from halocline.surfaces.terminal.asking.text_editor import edit_text
from halocline.surfaces.terminal.composing.prompt import Prompt, expand_quit_word

SIGN_INS = ("/login", "/logout")
PICKERS = (
    *("/model", "/effort", "/resume", "/mode", "/approvals", "/mcp", "/permissions"),
    *("/config", "/settings", "/agents", "/theme", *SIGN_INS),
)
"""Commands that open the list of their values; with Enter again, or without values, they only report."""
OPENED_AT_ONCE = ("/resume",)
"""Commands of which Enter picks the first value."""
VALUE_HINT = "Type a value, or choose one"
TWICE = 0.6
"""Seconds within which Escape counts as pressed twice."""
AFTER_STOP = 1.0
"""Seconds after a stop in which Escape, pressed again and again, is still about that."""
NO_PICTURES = "Not sent: an answer takes no pictures. Remove them, and send them after it."
"""Said when a line with pictures would answer a question."""


class LiveActions:
    """The action of each key. `answer` answers a slash command beside the turn; `expand` prints what was shortened."""

    def __init__(
        self,
        session: LiveSession,
        composer: LiveComposer,
        application: LiveApplication,
        answer: Callable[[str], Coroutine[None, None, None]],
        expand: Callable[[], None],
    ) -> None:
        self._session = session
        self._composer = composer
        self._application = application
        self._answer = answer
        self.expand = expand
        self._escaped_at = self._stopped_at = 0.0
        self._modes_off = set[ApprovalMode]()
        """Modes that were refused, which Shift-Tab leaves out from then on."""
        self._is_opening = False
        """True from the Enter that opens a list until the list is there: no other Enter counts meanwhile."""

    def send(self) -> None:
        """Enter: send, queue, or continue the line after a backslash.

        What the menu guesses is only inserted, so that the person sees it before it runs; of a command that only shows
        something, the beginning is enough.
        """
        session, composer = self._session, self._composer
        if composer.is_hidden:
            return composer.clear()
        if composer.before_cursor.endswith("\\"):
            composer.buffer.delete_before_cursor()
            return self.new_line()
        if composer.request:
            return composer.finish_request()
        if self._is_opening:
            return None
        state, names_command, typed = composer.buffer.complete_state, self._names_command(), composer.text
        is_meant = state is not None and state.current_completion is not None  # the person has moved to it
        is_incomplete = names_command and not (take_choice(composer.buffer) and is_meant)
        if composer.text.strip() in PICKERS and session.is_prompting and (is_incomplete or composer.text in PICKERS):
            return self._open_values(composer.text.strip())
        is_report = (is_meant or composer.text.startswith(typed)) and _is_report(composer.text.strip())
        if (is_incomplete and not is_report) or self._answers_card():
            return None
        return self._send_typed() if composer.text.strip() else self._send_what_waits()

    def _open_values(self, command: str) -> None:
        """Open the values of a command. What is typed before they are there stays, and is sent nowhere."""
        self._is_opening = True
        self._composer.finish_line()
        self._session.start(self._pick_value(command))

    async def _pick_value(self, command: str) -> None:
        """Let the person pick from the values of a command; without values, or with none picked, it reports."""
        composer, words = self._composer, command
        try:
            values = await composer.list_values(command)
            while values:
                hint = FILTER_HINT if words == command else VALUE_HINT
                request = ask_value(words, values, hint, opens=words in OPENED_AT_ONCE, signs_in=words in SIGN_INS)
                picked = await composer.read_line(request)
                if picked is None:
                    composer.put_back_due()
                    return
                if values.get(picked, "").startswith(IN_USE):
                    break  # nothing would change, so the command reports
                words = f"{words.rstrip()} {picked}"
                values = await composer.list_values(words) if picked.endswith(" ") else {}
        finally:
            self._is_opening = False
        due, composer.due = composer.due, []
        self._send_before_draft(words.strip())
        composer.due += due

    def _send_before_draft(self, text: str, *, opens: bool = False) -> None:
        """Send a text, also while another one is being typed. `opens`: a command may open its values."""
        composer = self._composer
        draft, composer.buffer.document = composer.buffer.document, Document(text)
        if opens and text.strip() in PICKERS and self._session.is_prompting:
            self._open_values(text.strip())
        else:
            self._send_typed()
        left = composer.text
        composer.buffer.document = Document("\n".join(filter(None, (left, draft.text)))) if left else draft

    def _send_typed(self) -> None:
        """Send the typed prompt, or let it wait in the task; while a turn runs, some commands are answered at once.

        What cannot be taken now waits above the composer, and so does what is sent behind it.
        """
        session, composer, text = self._session, self._composer, expand_quit_word(self._composer.text)
        row, is_prompting = find_own_command(text), session.is_prompting and not session.queue.begins_turn
        is_aside = text.lstrip().startswith(("!", "# ")) or bool(row and row.during)
        composer.is_hidden = text.lstrip().startswith("!") and terminal.foreground.may_ask_secret(text)
        if not is_prompting and row and row.name == "quit":
            session.quit()
        elif composer.due:
            composer.hold()
            asyncio.get_running_loop().call_soon(self.send_due)
        elif not is_prompting and is_aside and session.client and session.is_working:
            composer.take()
            session.start(self._answer(text))
        elif not is_prompting and (row or not session.is_working):
            composer.hold()
        elif prompt := composer.take():
            session.send_prompt(prompt)

    def send_due(self) -> None:
        """Send what Enter was pressed for before the conversation could take it, in order, as far as it can now."""
        composer = self._composer
        due, composer.due = composer.due, []
        while due and not composer.due and not composer.request and not self._is_opening:
            self._send_before_draft(due.pop(0), opens=True)
        composer.due += due

    def _send_what_waits(self) -> None:
        """Enter with nothing typed: send the first message that waits, or the prompt that is offered."""
        session = self._session
        if not session.queue.send_first() and session.is_prompting and session.offered and session.state:
            session.send_prompt(Prompt(session.offered, session.state.plan.mode))

    def _answers_card(self) -> bool:
        """Take the typed line as the answer to the card that waits. True if nothing else may be done with it.

        A line that does not count stays in the composer. Slash and shell commands are none. Enter alone only counts
        where the card takes it. Pasted texts are part of an answer, in full.
        """
        card, composer = self._session.card, self._composer
        text = composer.chips.whole(composer.text).strip()
        if card is None or composer.text.strip()[:1] in ("/", "!"):
            return False
        is_answer = card.kind is Kind.QUESTION
        if composer.holds_key():
            return True
        if is_answer and composer.chips.pictures(composer.text):
            refusal: str | None = NO_PICTURES
        else:
            refusal = card.take_line(text) if text else ""
        if refusal == "" and text:
            composer.finish_line(append_to_history=is_answer)
        self._session.notice = refusal or ""
        return refusal is not None

    def steer(self) -> None:
        """Send the typed prompt, or the first queued one, to the running turn. A command is run, and not sent to it."""
        if (card := self._session.card) and card.kind is Kind.OWN and self._answers_card():
            return
        text = self._composer.text.lstrip()
        is_own = text.startswith(("!", "# ")) or find_own_command(text) is not None
        if is_own or self._session.is_prompting or not self._session.has_turn:
            self.send()
        elif self._composer.holds_key():
            return
        elif prompt := self._composer.take():
            self._session.steer(prompt)
        else:
            self._session.queue.send_first()

    def new_line(self) -> None:
        self._composer.insert("\n")

    def interrupt(self) -> None:
        """Escape: close what is open, or stop the person's own command, or else the turn."""
        session, composer = self._session, self._composer
        before, self._escaped_at = self._escaped_at, 0.0  # one that closed or stopped something is not the first of two
        if composer.buffer.complete_state:
            composer.buffer.cancel_completion()
        elif session.shows_keys:
            session.shows_keys = False
        elif composer.request:
            composer.request.finish(None)
        elif session.stop_own_command():
            return
        elif session.card:
            session.card.stop()
        elif not session.is_prompting:
            if not session.is_stopping:  # again, it would leave the conversation
                self._stop_turn()
        elif time.monotonic() - before < TWICE:
            self._rewind()
        elif time.monotonic() - self._stopped_at > AFTER_STOP:
            self._escaped_at = time.monotonic()

    def cancel(self) -> None:
        """Ctrl-C: stop the person's own command, clear the text, stop what runs, or quit when pressed twice."""
        session, composer = self._session, self._composer
        if composer.request:
            composer.request.finish(None)
        elif session.stop_own_command():
            return
        elif session.is_prompting and composer.text:
            composer.clear()
        elif session.is_prompting or session.is_stopping:
            session.confirm_quit("Ctrl-C")
        else:
            self._stop_turn()

    def _stop_turn(self) -> None:
        self._stopped_at = time.monotonic()
        self._session.stop_turn()

    def quit(self) -> None:
        """Ctrl-D in an empty composer."""
        if self._composer.request:
            self._composer.request.finish(None)
        elif self._composer.text:
            self._composer.buffer.delete()
        elif self._session.is_prompting or self._session.is_elsewhere:
            self._session.quit()
        else:
            self._session.confirm_quit("Ctrl-D")

    @property
    def can_go_back(self) -> bool:
        """True if the board opened the task, and nothing is typed."""
        return self._session.go_back is not None and not self._composer.text and self._composer.request is None

    def go_to_board(self) -> None:
        self._session.quit()

    def cycle_modes(self) -> None:
        """Shift-Tab: the next mode, with what it allows: it may ask less."""
        if state := self._session.state:
            at_card = self._session.card is not None and not self._session.is_prompting
            step = find_next_step(state, at_card=at_card, off=self._modes_off)
            try:
                self._session.switch_modes(step.mode, step.approvals)
            except UsageError as error:
                self._modes_off.add(step.approvals)
                self._session.notice = error.text
                return
            waits = "; what waits is still yours to decide (/plan refuses it)" if at_card else ""
            self._session.notice = f"{step.name}: {step.meaning}{waits}"

    def recall(self) -> None:
        """Up: the completion above, the last queued prompt, or an earlier line or prompt."""
        buffer = self._composer.buffer
        if self._move_choice(-1):
            return
        if buffer.complete_state:
            buffer.complete_previous()
        elif (request := self._composer.request) and request.initial:
            buffer.cursor_up()  # an earlier line in its place would lose what is edited
        elif request or buffer.document.cursor_position_row or not self._take_last():
            buffer.auto_up()

    def _take_last(self) -> bool:
        """Take the newest line that waits back into the composer. False if there is none."""
        return self._composer.put_back_due(1) or self._session.queue.take_last()

    def advance(self) -> None:
        """Down: the completion below, or a later line or prompt."""
        buffer = self._composer.buffer
        if self._move_choice(1):
            return
        if buffer.complete_state:
            buffer.complete_next()
        else:
            buffer.auto_down()

    def page_up(self) -> None:
        self._move_choice(-PAGE)

    def page_down(self) -> None:
        self._move_choice(PAGE)

    def _move_choice(self, step: int) -> bool:
        """Move in the list to pick from. False if there is none."""
        choices = self._composer.request and self._composer.request.choices
        if choices:
            choices.move(step)
        return bool(choices)

    def background(self) -> None:
        if self._session.move_to_background:
            self._session.move_to_background()

    def edit(self) -> None:
        """Open what is typed in the editor, pasted texts in full."""
        if not (self._composer.request and self._composer.request.secret):
            self._session.start(self._edit())

    async def _edit(self) -> None:
        composer = self._composer
        before, request, typed = composer.chips.unfold(composer.text), composer.request, composer.text
        try:
            async with self._application.release_terminal():
                after = await edit_text(before, self._session.editor)
        except UsageError as error:
            self._session.notice = f"{error.text} {error.hint}"
            return
        if after != before:
            composer.take_edited(after, request, typed)

    def paste_image(self) -> None:
        self._session.start(self._composer.paste_image())

    def suspend(self) -> None:
        self._session.start(self._application.suspend())

    def run_command(self, command: str) -> None:
        """Run a slash command by a key. With text in the composer, only one that is answered beside it."""
        session, row = self._session, find_own_command(command)
        if not command or self._composer.request:
            return
        if not self._composer.text:
            self._composer.insert(command)
            self.send()
        elif row and row.during and not session.is_prompting:
            session.start(self._answer(command))
        else:
            session.notice = f"{command} needs an empty prompt."

    def show_keys(self) -> None:
        self._session.shows_keys = not self._session.shows_keys

    def _names_command(self) -> bool:
        """True while the name of a slash command is typed and the menu has completions."""
        text = self._composer.text
        state = self._composer.buffer.complete_state
        is_name = text.startswith("/") and " " not in text and "\n" not in text
        if state is None or not state.completions or not (is_name or state.current_completion):
            return False
        return all(choice.text.strip() != text for choice in state.completions) or bool(state.current_completion)

    def _rewind(self) -> None:
        """Escape twice with nothing typed."""
        if not self._composer.text:
            self._composer.insert("/rewind")
            self.send()


def _is_report(text: str) -> bool:
    """True for the name alone of a command that shows something: it needs no more, whatever may follow."""
    row = find_own_command(text)
    return row is not None and row.is_report and " " not in text
