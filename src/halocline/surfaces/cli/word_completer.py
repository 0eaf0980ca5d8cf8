"""The menu of words in the composer, as prompt_toolkit wants it."""

from collections.abc import AsyncGenerator, Iterable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText

from halocline.surfaces.cli.word_menu import Menu, Offer


class WordCompleter(Completer):
    """Offers what the menu has for the text before the cursor."""

    def __init__(self, menu: Menu) -> None:
        self._menu = menu

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Nothing at once; see below."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for offer in await self._menu.offers(document.text_before_cursor):
            yield Completion(offer.text, start_position=-offer.typed, display=offer.shown, display_meta=_beside(offer))


def taken(buffer: Buffer) -> bool:
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


def _beside(offer: Offer) -> FormattedText:
    return FormattedText([("italic", f"{offer.kind:<9}" if offer.kind else ""), ("", offer.about)])
