"""The menu while a slash command is typed: the commands, then the values that may follow one.

Nothing is looked up before a word starts with a slash. Descriptions from files are made safe to show.
"""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError as Gone, TimeoutError as TooLate
from pathlib import Path
from shutil import get_terminal_size

from halocline.client import (
    MCP_PREFIX,
    SLASH_COMMANDS,
    Client,
    SlashArgument,
    SlashEntry,
    SlashPlace,
    list_newest_first,
    list_prompts,
)
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Mode
from halocline.surfaces.cli.input.completion import Choice
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.output.table import format_time

MOST = 60
LONGEST_ABOUT = 200
LONGEST_REST = 36
WIDE, NARROW = 110, 60
"""Terminal width from which the menu shows arguments, and below which it hides kinds."""
KIND = 9
"""Columns for a command's kind, before its description."""
PATIENCE = 10.0


class Menu:
    """The completions for one task. Created in the event loop of its client, called from other threads."""

    def __init__(self, client: Client, task: str) -> None:
        self._client = client
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._words: Sequence[SlashEntry] | None = None
        self._models: list[Choice] | None = None

    @staticmethod
    def is_open(text: str) -> bool:
        """True if the text typed so far opens the menu."""
        return "\n" not in text and (text.startswith("/") or text.rpartition(" ")[2].startswith("/"))

    def begin(self) -> None:
        """Reload the commands for a new prompt, as their files may have changed."""
        self._words = None

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
        return await self._following(row.follows, before.split()[1:], last) if row else []

    async def _all(self) -> Sequence[SlashEntry]:
        if self._words is None:
            words = self._client.words(Path(self._client.state(self._task).workspace))
            prompts = list_prompts(self._client.mcp_prompts(self._task))
            self._words = [*await asyncio.to_thread(words.listed, SlashPlace.TERMINAL), *prompts]
        return self._words

    def _match_names(self, typed: str, words: Iterable[SlashEntry], *, in_text: bool) -> list[Choice]:
        """Matching commands. Within a text, only those for the model and only by prefix, as it may become a path."""
        found = [word for word in words if not in_text or _is_for_the_model(word)]
        names = rank_names(typed, [word.name for word in found])
        if in_text:
            names = [name for name in names if typed and name.startswith(typed)]
        by_name = {word.name: word for word in found}
        return [_offer_word(by_name[name], len(typed) + 1) for name in names[:MOST]]

    async def _following(self, what: SlashArgument, given: Sequence[str], typed: str) -> list[Choice]:
        try:
            known = await self._values(what, given)
        except HaloclineError:
            return []
        by_text = {offer.text: offer for offer in known}
        return [
            Choice(offer.text, len(typed), clean(offer.text.strip()), offer.meaning)
            for offer in (by_text[name] for name in rank_names(typed, list(by_text))[:MOST])
        ]

    async def _values(self, what: SlashArgument, given: Sequence[str]) -> list[Choice]:
        """All values possible here, whatever is typed of them."""
        match what, given:
            case SlashArgument.MODES, []:
                return [_offer_value(mode) for mode in Mode]
            case SlashArgument.APPROVALS, []:
                return [_offer_value(mode) for mode in ApprovalMode]
            case SlashArgument.SWITCHES, []:
                from halocline.client import SWITCH_MEANINGS  # it imports the gate

                return [_offer_value(f"{switch} ", SWITCH_MEANINGS[switch][0]) for switch in ApprovalSwitch]
            case SlashArgument.SWITCHES, [_]:
                return [_offer_value(word) for word in ("on", "ask", "mode")]
            case SlashArgument.MODELS, []:
                return await self._known_models()
            case SlashArgument.EFFORTS, []:
                state = self._client.state(self._task)
                return [
                    _offer_value(level)
                    for level in (*self._client.efforts(state.model.name, state.plan.mode).levels, "default")
                ]
            case SlashArgument.COMPACTIONS, []:
                return [_offer_value("undo", "restore the conversation as it was before the last compaction")]
            case SlashArgument.CHECKPOINTS | SlashArgument.JOBS, []:
                verbs = ("list", "diff ", "restore ") if what is SlashArgument.CHECKPOINTS else ("show ", "stop ")
                return [_offer_value(verb) for verb in verbs]
            case SlashArgument.CHECKPOINTS, ["diff" | "restore"]:
                store = self._client.checkpoints(Path(self._client.state(self._task).workspace))
                return [
                    _offer_value(str(info.n), f"{format_time(info.at)}  {info.label}")
                    for info in await list_newest_first(store, self._task)
                ]
            case SlashArgument.JOBS, ["show" | "stop"]:
                return [_offer_value(job.name, job.command) for job in self._client.jobs(self._task)]
            case SlashArgument.TASKS, []:
                here = self._client.state(self._task).workspace
                tasks = [info for info in self._client.history() if info.workspace == here and info.task != self._task]
                return [_offer_value(info.task, info.title) for info in tasks]
        return []

    async def _known_models(self) -> list[Choice]:
        if self._models is None:
            models = [model for model in await self._client.models() if model.usable and not model.leaving]
            self._models = [_offer_value(model.name, model.title) for model in models]
        return self._models


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
    kind = f"{word.kind:<{KIND}}" if columns >= NARROW else ""
    about = _first_line(word.about) + (f"  ({_first_line(word.source)})" if word.source else "")
    return Choice(f"/{word.name}{takes}", typed, clean(f"/{word.name}") + rest, kind + about)


def _offer_value(text: str, about: str = "") -> Choice:
    return Choice(text, 0, "", _first_line(about))


def _first_line(text: str) -> str:
    return clean(" ".join(text.split()))[:LONGEST_ABOUT]
