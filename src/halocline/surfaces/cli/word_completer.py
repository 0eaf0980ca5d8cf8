"""The menu in the composer, as prompt_toolkit wants it: sources of offers, each asked for the text before the cursor.

Sources are asked in a thread, so that none can hold up a key.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from halocline.surfaces.cli.word_menu import Offer

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.completion import Completer

Source = Callable[[str], Sequence[Offer]]


def completer(sources: Sequence[Source]) -> "Completer":
    """What the editor asks; it asks the sources in their order."""
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
    from prompt_toolkit.document import Document

    class Sources(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            before = document.text_before_cursor
            for source in sources:
                for offer in source(before):
                    yield Completion(offer.text, -offer.replaces, offer.shown, offer.meaning or None)

    return ThreadedCompleter(Sources())


def taken(buffer: "Buffer") -> bool:
    """Take the line that is chosen in the menu; true when more is to be typed behind it."""
    state = buffer.complete_state
    chosen = state.current_completion if state else None
    if chosen is None:
        return False
    buffer.complete_state = None
    if not chosen.text.endswith(" "):
        return False
    buffer.start_completion()
    return True
