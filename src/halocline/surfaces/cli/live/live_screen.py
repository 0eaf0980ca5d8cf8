"""The rows of the live screen: as in line mode, and code line by line while it is written."""

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.surfaces.rows.fold import fold_event
from halocline.surfaces.terminal.drawing import cards
from halocline.surfaces.terminal.drawing.screen import Screen


class LiveScreen(Screen):
    """Prints rows above the live screen."""

    def show_question(self, event: ev.QuestionAsked, *, again: bool = False) -> None:
        """Print the question; its options are listed where they can be chosen."""
        super().show_question(replace(event, options=()), again=again)

    def unfinished(self, most: int) -> str:
        """The last lines of the block that is being written."""
        return self._stream.unfinished(most)

    def print_code(self) -> None:
        """Print the lines of code that are complete, before their block is."""
        if taken := self._stream.take_code():
            self._print_looks()
            self._replies.print_code(taken[0], is_first=taken[1])

    def absorb(self, event: ev.Event) -> None:
        """Take in an event without printing its row, if no other row waits."""
        is_settled = self._printed == len(self._transcript.rows)
        self._transcript = fold_event(self._transcript, event)
        self._printed = len(self._transcript.rows) if is_settled else self._printed

    def echo(self, text: str) -> None:
        """Print a slash command as it was typed."""
        self._print(cards.command_card(text))

    def expand(self) -> bool:
        """Print in full the rows that were shortened since the latest prompt. False if there are none."""
        rows, details = self._shortened.take(), self._details
        self._details = True
        for row in rows:
            self._print_row(row)
        self._details = details
        self._shortened.clear()
        return bool(rows)
