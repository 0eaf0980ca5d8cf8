"""A view of a conversation: a screen on a terminal, plain text elsewhere, JSON for programs."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import Diff
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.surfaces import slash

if TYPE_CHECKING:
    from halocline.client.tasks import Client
    from halocline.client.themes import Theme
    from halocline.surfaces.slash.context import SlashAnswer
    from halocline.surfaces.terminal.asking.decision import Decision
    from halocline.surfaces.terminal.composing.prompt import Prompt
    from halocline.surfaces.terminal.drawing.screen import Screen

UNANSWERED = "Some actions needed approval and were not done, because no one could give it."
APPROVE = "Run halo on a terminal to be asked, or choose a mode that asks less with --approval-mode."


class View(Protocol):
    """A view of a conversation. `asks`: it can ask a person; `draws`: it shows unfinished work.

    `shows_beside`: it shows what happens while a question waits, too, and not only afterwards.
    `on_signal` gets the signals that no conversation handles, if the terminal must be restored before they end it.
    A view that has nothing to do for a call inherits that from here.
    """

    asks: bool
    draws: bool
    shows_beside: bool = False
    on_signal: Callable[[int], None] | None

    @property
    def is_prompting(self) -> bool:
        """False if the prompt that it was asked for is typed."""
        return True

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def follow_task(self, client: "Client", task: str) -> None:
        """Show this task from now on."""
        return

    def recall(self, past: Sequence[ev.DurableEvent]) -> None:
        """Take in the events before this run."""
        return

    def begin_anew(self) -> None:
        """Prepare for events of another task."""
        return

    def show_foreign(self, *, markdown: bool, collapse: bool) -> None:
        """Show results of MCP servers as Markdown or plain text, in full or only their beginning."""
        return

    def show(self, event: ev.Event) -> None: ...

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None:
        """Show a message of Halocline itself."""

    def choose_theme(self, theme: "Theme") -> None:
        """Draw with a theme from now on."""
        return

    def put_prompt(self, text: str) -> None:
        """Put a prompt into the composer, to be changed and sent."""
        return

    def offer_prompt(self, text: str) -> None:
        """Offer a prompt that Enter alone sends, until a turn starts; none if empty."""
        return

    def expect_form(self, schema: JsonObject | None) -> None:
        """Send prompts with the JSON Schema that their answers must match."""
        return

    def show_reply(self, text: str) -> None:
        """Show a reply of a model in Markdown that is not in the conversation."""

    def copy_text(self, text: str) -> str:
        """Copy a text to the terminal's clipboard. Returns what it was copied with; empty if there is none."""

    def result(self, state: State, seconds: float) -> None:
        """Report the end of the conversation."""

    def fail(self, error: HaloclineError) -> None:
        """Report that the run broke; the message for a person is printed elsewhere."""
        return

    async def ask_approval(self, event: ev.ApprovalRequested, client: "Client", task: str) -> "Decision": ...

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        """Ask; None to stop the turn."""

    async def ask_line(self, label: str, *, secret: bool = False) -> str | None:
        """Ask for a line, typed unseen and kept nowhere if it is `secret`; None when the person went back."""
        return None

    async def pick_value(self, label: str, values: Mapping[str, str], *, signs_in: bool = False) -> str | None:
        """Ask for one of these values, each with its meaning; None when the person went back."""
        return None

    async def compose(self, client: "Client", task: str) -> "Prompt | None":
        """Ask for the next prompt and its mode; None when the person quits."""

    async def run_program(self, command: str, client: "Client", task: str, is_stopped: Callable[[], bool]) -> bool:
        """Run a command of the person that wants the terminal, and give it that. False if it wants none.

        `is_stopped`: Ctrl-C came before the program had it.
        """
        return False

    def offer_board(self, go_back: Callable[[], object] | None) -> None:
        """Let the person leave this task to the board, where it continues; None disables the keys."""
        return

    def offer_background(self, leave: Callable[[], object] | None) -> None:
        """Set the action of Ctrl-B, such as moving a command to the background; None disables the key."""
        return


class ScreenView(View):
    """A view that prints rows on its `_screen`."""

    _screen: "Screen"

    def follow_task(self, client: "Client", task: str) -> None:
        self._screen.activity.is_own = partial(is_own, client, task)
        self._screen.activity.recall_own(client.state(task).user_commands.running)

    def recall(self, past: Sequence[ev.DurableEvent]) -> None:
        self._screen.recall(past, fold_events(past))

    def begin_anew(self) -> None:
        self._screen.begin_anew()

    def show_foreign(self, *, markdown: bool, collapse: bool) -> None:
        self._screen.show_foreign(markdown=markdown, collapse=collapse)

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None:
        self._screen.say(text, diffs)

    def show_reply(self, text: str) -> None:
        self._screen.show_reply(text)


def is_own(client: "Client", task: str, name: str) -> bool:
    """True if a task's log names this client so: with its process, where another one runs the task."""
    return name == (f"{client.name} {os.getpid()}" if client.is_attached(task) else client.name)


def show_answer(answer: "SlashAnswer", view: View) -> None:
    """Show the answer to a slash command. An empty one is a change, which its event shows."""
    match answer:
        case slash.context.SlashDiff():
            view.say(answer.text, answer.diffs)
        case slash.context.SlashMarkdown():
            view.show_reply(answer.text)
        case slash.context.SlashPrompt():
            view.say(answer.text)
            view.put_prompt(answer.prompt)
        case slash.context.SlashTheme():
            view.choose_theme(answer.theme)
            view.say(answer.text)
        case str() if answer:
            view.say(answer)
