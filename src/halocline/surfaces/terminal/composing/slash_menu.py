"""The menu while a slash command is typed: the commands, then the values that may follow one.

Nothing is looked up before a word starts with a slash. Descriptions from files are made safe to show.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError as Gone, TimeoutError as TooLate
from pathlib import Path
from shutil import get_terminal_size

from halocline.client.mcp import list_prompts
from halocline.client.prompts import MCP_PREFIX, SLASH_COMMANDS, SlashCommand, SlashEntry, SlashPlace
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError
from halocline.protocol.state.state import State
from halocline.surfaces.lazy_functions import SLASH_ANSWERS, load_function
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.composing.completion import Choice

MOST = 60
LONGEST_ABOUT = 200
LONGEST_REST = 36
WIDE = 110
"""Terminal width from which the menu shows arguments."""
PATIENCE = 10.0


class Menu:
    """The completions for one task. Created in the event loop of its client, called from other threads.

    `find_state` returns the state of a task that may be closed; such a task has no values of commands.
    """

    def __init__(
        self,
        client: Client,
        task: str,
        find_state: Callable[[], State] | None = None,
        is_offered: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self._client = client
        self._task = task
        self._find_state = find_state or (lambda: client.state(task))
        self._is_offered = is_offered
        self._loop = asyncio.get_running_loop()
        self._words: Sequence[SlashEntry] | None = None
        self._known: dict[tuple[str, ...], dict[str, str]] = {}

    @staticmethod
    def is_open(text: str) -> bool:
        """True if the text typed so far opens the menu."""
        return "\n" not in text and (text.startswith("/") or text.rpartition(" ")[2].startswith("/"))

    def begin(self) -> None:
        """Look everything up again for a new prompt: files may have changed, and what is in use."""
        self._words = None
        self._known.clear()

    def __call__(self, before: str) -> Sequence[Choice]:
        """Completions for the end of this text; none when looking them up takes too long."""
        if not self.is_open(before):
            return ()
        asked = asyncio.run_coroutine_threadsafe(self.offers(before), self._loop)
        try:
            return asked.result(PATIENCE)
        except (TooLate, Gone):
            asked.cancel()
            return ()

    async def offers(self, text: str) -> list[Choice]:
        """Completions for the end of this text."""
        if not self.is_open(text):
            return []
        before, _, last = text.rpartition(" ")
        if last.startswith("/"):
            return self._match_names(last[1:], await self._all(), in_text=bool(before.strip()))
        row = SLASH_COMMANDS.get(text.partition(" ")[0][1:])
        return await self._complete(row, before.split()[1:], last) if row else []

    async def list_values(self, words: str) -> dict[str, str]:
        """All values that may follow a command and its first words. Those that end in a blank take more."""
        name, *given = words[1:].split()
        try:
            return await self._next_words(SLASH_COMMANDS[name], given)
        except HaloclineError:
            return {}

    async def _all(self) -> Sequence[SlashEntry]:
        if self._words is None:
            state = self._find_state()
            words = self._client.words(Path(state.workspace), state.roots, state.prompt.plugins)
            prompts = list_prompts(self._client.mcp_prompts(self._task)) if self._client.is_open(self._task) else []
            listed = await asyncio.to_thread(words.listed, SlashPlace.TERMINAL)
            self._words = [*(word for word in listed if self._is_offered(word.name)), *prompts]
        return self._words

    def _match_names(self, typed: str, words: Iterable[SlashEntry], *, in_text: bool) -> list[Choice]:
        """Matching commands. Within a text, only those for the model and only by prefix, as it may become a path."""
        found = [word for word in words if not in_text or _is_for_the_model(word)]
        names = rank_names(typed, [word.name for word in found])
        if in_text:
            names = [name for name in names if typed and name.startswith(typed)]
        by_name = {word.name: word for word in found}
        return [_offer_word(by_name[name], len(typed) + 1) for name in names[:MOST]]

    async def _complete(self, row: SlashCommand, given: Sequence[str], typed: str) -> list[Choice]:
        """Matching words that may follow a command and the words already given."""
        try:
            known = await self._next_words(row, given)
        except HaloclineError:
            return []
        found = rank_names(typed, list(known))[:MOST]
        return [Choice(text, len(typed), clean(text.strip()), _first_line(known[text])) for text in found]

    async def _next_words(self, row: SlashCommand, given: Sequence[str]) -> dict[str, str]:
        """All words possible here, whatever is typed of them."""
        if not row.completions or not self._client.is_open(self._task):
            return {}
        if (row.name, *given) in self._known:
            return self._known[row.name, *given]
        found: dict[str, str] = await load_function(row.completions, SLASH_ANSWERS)(self._client, self._task, given)
        if row.once:
            self._known[row.name, *given] = found
        return found


def _is_for_the_model(word: SlashEntry) -> bool:
    """True if the command works anywhere in a text. Prompts of MCP servers work only at the start."""
    return (
        SLASH_COMMANDS[word.name].is_for_the_model
        if word.name in SLASH_COMMANDS
        else not word.name.startswith(MCP_PREFIX)
    )


def rank_names(typed: str, names: Sequence[str]) -> list[str]:
    """Matching names: first by prefix, then by substring, then by letters in order."""
    low = typed.lower()
    begin = [name for name in names if name.lower().startswith(low)]
    hold = [name for name in names if low in name.lower()]
    fit = [name for name in names if _has_letters(low, name.lower())]
    return list(dict.fromkeys([*begin, *hold, *fit]))


def _has_letters(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


def _offer_word(word: SlashEntry, typed: int) -> Choice:
    takes, columns = " " if word.rest or word.kind == "skill" else "", get_terminal_size().columns
    rest = f" {_first_line(word.rest)[:LONGEST_REST]}" if word.rest and columns >= WIDE else ""
    about = _first_line(word.about) + (f"  ({_first_line(word.source)})" if word.source else "")
    return Choice(f"/{word.name}{takes}", typed, clean(f"/{word.name}") + rest, about)


def _first_line(text: str) -> str:
    return clean(" ".join(text.split()))[:LONGEST_ABOUT]
