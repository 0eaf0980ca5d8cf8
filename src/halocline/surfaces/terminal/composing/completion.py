"""Completion in the composer: a list of sources, each called with the text before the cursor.

A source returns choices, best first, or nothing when the text is not for it. Sources run in a thread, so that none can
delay a key press.
"""

import asyncio
import heapq
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, TimeoutError as TooLate
from typing import TYPE_CHECKING

from halocline.client.mentions import WORD_MEANINGS, Mentionable, format_mention, list_paths_beside
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer

MOST = 30
FRESH = 5.0
"""Seconds after which the list of files is reloaded in the background."""
PATIENCE = 20.0
"""Timeout for the first list, in seconds."""
NEVER = float("-inf")
_TYPED = re.compile(
    r"(?:^|[^A-Za-z0-9_@./\\`-])@(?:\"(?P<quoted>[^\"\n]{0,300})|(?P<plain>(?:\\.|[^\s\"'`<>|\\]){0,300}))$"
)
_ESCAPED = re.compile(r"\\(.)")


class Choice(Value, frozen=True):
    """`text` replaces the last `replaces` characters; `meaning` is shown beside it in the menu."""

    text: str
    replaces: int
    shown: str
    meaning: str = ""


Source = Callable[[str], Sequence[Choice]]


def is_begun(before: str) -> bool:
    """True if a source may complete the text. Cheap, as it runs on every key."""
    return _TYPED.search(before) is not None or (before.startswith("/") and " " not in before)


def build_completer(sources: Sequence[Source]) -> "Completer":
    """Build the editor's completer, which calls the sources in order."""
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
    from prompt_toolkit.document import Document

    class Sources(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            before = document.text_before_cursor
            for source in sources:
                for choice in source(before):
                    yield Completion(
                        choice.text, -choice.replaces, display=choice.shown, display_meta=choice.meaning or None
                    )

    return ThreadedCompleter(Sources())


class Mentions:
    """The source for `@`: fixed words, files and folders, commits, other tasks.

    Created in the event loop that `load` runs in; called from threads.
    """

    def __init__(self, load: Callable[[], Awaitable[Mentionable]]) -> None:
        self._load = load
        self._loop = asyncio.get_running_loop()
        self._known = Known(Mentionable())
        self._loaded = NEVER

    def __call__(self, before: str) -> Sequence[Choice]:
        typed = _TYPED.search(before)
        if typed is None:
            return ()
        quoted = typed["quoted"]
        query = quoted if quoted is not None else _ESCAPED.sub(r"\1", typed["plain"])
        replaces = len(before) - before.rindex("@", 0, typed.end() - len(quoted or typed["plain"] or ""))
        self._refresh()
        return [
            Choice(text + ("" if text.endswith(("/", '/"', ":")) else " "), replaces, shown, meaning)
            for text, shown, meaning in self._known.fitting(query)
        ]

    def _refresh(self) -> None:
        """Reload the list if it is old, and wait only for the first time."""
        if time.monotonic() - self._loaded < FRESH:
            return
        first, self._loaded = self._loaded == NEVER, time.monotonic()
        loading = asyncio.run_coroutine_threadsafe(self._reload(), self._loop)
        if first:
            try:
                loading.result(PATIENCE)
            except (TooLate, CancelledError, HaloclineError):
                loading.cancel()

    async def _reload(self) -> None:
        found = await self._load()
        self._known = await asyncio.to_thread(Known, found)


class Known:
    """The things that can be mentioned, indexed for fast lookup."""

    def __init__(self, found: Mentionable) -> None:
        self._found = found
        self._paths = (*found.files, *_list_folders(found.files))
        self._lower = [path.lower() for path in self._paths]
        self._files = frozenset(self._lower[: len(found.files)])
        self._recent = found.recent

    def fitting(self, query: str) -> Iterator[tuple[str, str, str]]:
        """Return each match's mention, label and meaning, best first."""
        for word, meaning in WORD_MEANINGS.items():
            if word.startswith(query):
                yield f"@{word}", f"@{word}", meaning
        for path in dict.fromkeys([*self.paths(query), *list_paths_beside(query, self._found, MOST)]):
            yield format_mention(path), path, ""
        yield from self._others(query)

    def paths(self, query: str) -> list[str]:
        """Paths with the query's letters in order; first those whose last part contains the query.

        None when the query is already a full path, so that a similar one is not taken by mistake.
        """
        wanted = query.lower().lstrip("/").removeprefix("./")
        if not wanted:
            return list(self._paths[:MOST])
        if wanted in self._files:
            return []
        fits = re.compile("".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in wanted), re.DOTALL).match
        known = enumerate(self._lower)
        found = (
            (_rank_path(path, wanted, known_well=at < self._recent), at)
            for at, path in known
            if path != wanted and fits(path)
        )
        return [self._paths[at] for _, at in heapq.nsmallest(MOST, found)]

    def _others(self, query: str) -> Iterator[tuple[str, str, str]]:
        if query and "symbol:".startswith(query):
            yield "@symbol:", "@symbol:", "a class or function by name"
        for name, subject in self._found.commits:
            if len(query) > 1 and (name.startswith(query) or (len(query) > 2 and query.lower() in subject.lower())):
                yield f"@{name}", name, subject
        name = query.removeprefix("task:") if query.startswith("task:") else query
        for task, title in self._found.tasks:
            if query and ("task:".startswith(query) or (len(query) > 2 and name.lower() in f"{task} {title}".lower())):
                yield f"@task:{task}", f"task:{task}", title


def _list_folders(files: Iterable[str]) -> list[str]:
    folders: dict[str, None] = {}
    for file in files:
        at = file.rfind("/")
        while at > 0 and file[: at + 1] not in folders:
            folders[file[: at + 1]] = None
            at = file.rfind("/", 0, at)
    return sorted(folders, key=lambda folder: (folder.count("/"), folder))


def _rank_path(path: str, wanted: str, *, known_well: bool) -> tuple[int, bool, int]:
    """Sort key, lower is better: position of the match, then files the task used, then path length."""
    last = path.rfind("/", 0, len(path) - 1) + 1
    if path.startswith(wanted, last):
        return 0, not known_well, len(path)
    at = path.find(wanted)
    if at >= last:
        return 1, not known_well, len(path)
    return (2 if at >= 0 else 3), not known_well, len(path)
