"""Types at random below cards that appear at random: the real live mode on a pseudo-terminal, judged by a small model.

Three promises are judged: no decision without keys that the guide names (`why_blind`), no typed character that is
neither in the composer, a sent text, an answer nor such a key (`find_lost`), no printed row twice (`find_doubled`).
`virtual_time.begin` must have been called before this is loaded.
"""

import asyncio
import fcntl
import os
import random
import struct
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.journeys.conftest import NO_SERVERS, ScriptedAssembly
from tests.surfaces.cli.live.small_terminal import SmallTerminal
from tests.surfaces.cli.live.virtual_time import PATIENCE, VirtualClock, VirtualLoop

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.surfaces.cli.live.card import Card
from halocline.surfaces.cli.live.live_mode import LiveMode
from halocline.surfaces.cli.live.session import LiveSession
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.terminal.asking.menu import ESCAPE, Kind

ROWS, COLUMNS = 30, 90
SITTING = 250
"""Keys typed in one task."""
MOST_TRIES = 2000
"""Looks at a standing clock: most keys are taken at the first."""
LOST = 30.0
"""Real seconds after which a key is lost. It may wait for an editor, whose time is no virtual one."""
SLICE = 0.02
"""Seconds between two looks at what happened."""
SURE = 0.02
"""Seconds by which the model may be wrong about the time of a key."""
SILENCE, GLANCE, ALONE, JUST_NOW = 0.7, 0.15, 0.3, 1.0
"""As the guide has them (`decision_keys`)."""
WORDS = ("a", "y", "s", "n", "e", "d", "Y", "an", "as", "no", "yes", "any", "1", "2", "day", "stay", "always", "both")
FIRST_SIGN = 0x4E00
"""The first of the characters each of which is typed once."""
CODES = {"enter": "\r", "up": "\x1b[A", "down": "\x1b[B", "tab": "\t", "esc": "\x1b"}


class Key(NamedTuple):
    """A key, and what it found: the text of the composer with the key that the card holds, and the card's selection."""

    at: float
    name: str
    text: str
    in_line: bool
    is_chosen: bool
    selected: str


class Seen(NamedTuple):
    """A card that appeared. `by_person`: their own key opened it a moment ago."""

    at: float
    options: Mapping[str, str]
    kind: Kind
    by_person: bool


def why_blind(card: Seen, keys: Sequence[Key], answer: str, at: float) -> str:
    """Why the answer of a card is not what the person decided by these keys; empty if it is."""
    if keys and keys[-1].name == "esc":  # it waits for a key that it may be part of, and a card may appear meanwhile
        return "" if answer == ESCAPE else "Escape allowed something"
    if not keys or keys[-1].at < card.at:
        return "no key"
    last, start = keys[-1], max(card.at, keys[-2].at if keys[1:] else 0)
    gap, options = last.at - start + SURE, [*card.options]
    needed = SILENCE if card.kind is Kind.GRAVE else GLANCE if card.by_person or last.is_chosen else SILENCE
    if last.name == "enter" and (last.text == "" or (last.is_chosen and last.selected)):
        if answer != last.selected:
            return f"Enter chose what was not selected: {last.selected!r}"
        return "" if gap >= needed or _is_aimed(card, keys, needed) else "Enter came too early"
    if last.name == "enter":
        return _why_no_line(card, keys, answer)
    option = last.name.lower() if last.name.lower() in card.options else options[int(last.name) - 1]
    if answer != option or last.in_line:
        return f"the key is of {option!r}"
    if last.text.replace(last.name, "") and not last.is_chosen:
        return "it is text behind text"
    if at - last.at + SURE < ALONE:
        return "it was not alone"
    made_up = card.kind is not Kind.GRAVE and at - start + SURE >= needed + ALONE
    return "" if gap >= needed or made_up else "it came too early"


def _is_aimed(card: Seen, keys: Sequence[Key], needed: float) -> bool:
    """True if one of the arrows right before the last key came in silence."""
    for at in range(len(keys) - 2, -1, -1):
        if keys[at].name not in ("up", "down"):
            return False
        if keys[at].at - max(card.at, keys[at - 1].at if at else 0) + SURE >= needed:
            return True
    return False


def _why_no_line(card: Seen, keys: Sequence[Key], answer: str) -> str:
    """Why the line before Enter does not answer; it does if it was begun in silence, or is sent again."""
    last = keys[-1]
    word, options = last.text.strip().casefold(), [*card.options]
    numbered = options[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(options) else ""
    labelled = next((key for key, label in card.options.items() if label.casefold() == word), "")
    named = word if word in card.options else numbered or {"yes": "y", "no": "n"}.get(word, "") or labelled
    if answer != named and not (card.kind is Kind.QUESTION and answer == last.text.strip()):
        return f"the line {last.text!r} says something else"
    needed = SILENCE if card.kind is Kind.GRAVE or not card.by_person else 0.0
    first = next((at for at in range(len(keys) - 2, -1, -1) if keys[at].text == ""), None)
    if first is not None and keys[first].at >= card.at:
        before = max(card.at, keys[first - 1].at if first else 0)
        if keys[first].at - before + SURE >= needed:
            return ""
    is_again = any(key.name == "enter" and key.text == last.text for key in keys[:-1] if key.at >= card.at)
    return "" if is_again and last.at - keys[-2].at + SURE >= needed else "the line was begun before the card was seen"


class _WatchedSession(LiveSession):
    """Tells of each card."""

    _card: Card | None = None
    watch: Any = staticmethod(lambda card: None)

    @property
    def card(self) -> Card | None:  # type: ignore[override]
        return self._card

    @card.setter
    def card(self, card: Card | None) -> None:
        self._card = card
        if card:
            self.watch(card)


class Typist:
    """Types at random, and notes what comes of it. `problems` are broken promises."""

    def __init__(self, view: LiveMode, master: int, chance: random.Random, signs: Iterator[str]) -> None:
        self.problems: list[str] = []
        self.decisions = 0
        self.unseen: Counter[str] = Counter()
        """Characters that decided, or that a key took back."""
        self.typed: Counter[str] = Counter()
        self._view = view
        self._session = view._session
        self._composer = view._composer
        self._session.__class__ = _WatchedSession
        self._session.watch = self._note_card  # type: ignore[attr-defined]
        self._master = master
        self._chance = chance
        self._signs = signs
        self._keys: list[Key] = []
        self._decided_at = -JUST_NOW
        self.pressed = self._taken = 0
        view._app._app.key_processor.before_key_press += self._note_key  # type: ignore[union-attr]

    def _note_key(self, processor: object) -> None:
        """Note what a key finds when it arrives; one that the card held is in the composer again."""
        card, composer, name = self._session.card, self._composer, self._next
        self._taken += 1
        selected = [*card._options][card._keys.selected] if card and card._keys.selected >= 0 else ""
        is_chosen = bool(card and card._keys.is_chosen)
        now, in_line = time.monotonic(), composer.request is not None
        self._keys.append(Key(now, name, composer.text, in_line, is_chosen, selected))

    def _note_card(self, card: Card) -> None:
        now = time.monotonic()
        recent = now - self._decided_at < JUST_NOW and (not self._keys or self._keys[-1].at <= self._decided_at)
        seen = Seen(now, dict(card._options), card.kind, card.kind is Kind.OWN or recent)
        card.answer.add_done_callback(lambda answer: None if answer.cancelled() else self._judge(seen, answer.result()))

    def _judge(self, card: Seen, answer: str) -> None:
        """Judge a decision at the time at which it was made."""
        now, last = time.monotonic(), self._keys[-1] if self._keys else None
        self.decisions += 1
        self._before, self._decided_at = self._decided_at, now
        if why := why_blind(card, self._keys, answer, now):
            self.problems.append(f"{answer!r} was decided blind at {now:.2f}: {why}\n  {card}\n{self.tell()}")
        elif last and last.name not in ("esc", "enter"):
            is_repeated = not last.text.replace(last.name, "")
            self.unseen.update(last.name + (last.text if is_repeated else ""))
        elif last and last.name == "enter" and last.text and not (last.is_chosen and last.selected):
            self.unseen.update(last.text)

    def tell(self) -> str:
        return "\n".join(f"  {key}" for key in self._keys[-16:]) + f"\n  decided {self._before:.3f}"

    def tell_of(self, sign: str) -> str:
        """What was pressed before and after a character, each time; much more of a sign that is typed once."""
        further = 60 if sign >= chr(FIRST_SIGN) else 4
        pressed = (at for at, key in enumerate(self._keys) if key.name == sign)
        shown = sorted({near for at in pressed for near in range(max(0, at - 3), min(at + further, len(self._keys)))})
        return "\n".join(f"  {at} {self._keys[at]}" for at in shown)

    async def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(SLICE, left))

    async def press(self, name: str, data: str = "") -> None:
        """Press a key; `data` is pasted."""
        self._next = name
        self.pressed, taken = self.pressed + 1, self._taken
        os.write(self._master, (data or CODES.get(name, name)).encode())
        if name == "esc":
            await self.wait(0.15)
        tries, began = 0, time.perf_counter()
        while self._taken == taken and time.perf_counter() - began < LOST:  # the kernel passes it on in its own time
            tries += 1
            await asyncio.sleep(0 if tries < MOST_TRIES else SLICE)
            if tries > MOST_TRIES:
                _let_others_work()
        if self._taken == taken:
            self.problems.append(f"{name!r} was not taken\n{self.tell()}")
        await asyncio.sleep(0.001)

    async def type(self, text: str, pace: float) -> None:
        for character in text:
            self.typed[character] += 1
            await self.press(character)
            await self.wait(self._chance.uniform(0, 2 * pace))

    async def do_something(self) -> None:
        """One of the things that people do."""
        chance, card, text = self._chance, self._session.card, self._composer.text
        pause = chance.choice([0.0, 0.05, 0.2, 0.35, 0.6, 0.72, 0.9, 1.2, 2.0])
        await self.wait(chance.uniform(0.5, 1.5) * pause)
        if card and text and chance.random() < 0.3:
            await self.press("enter")  # it waits in the queue, and the card's keys count again
            return
        if card and not text and chance.random() < 0.8:
            await self._look_at(card)
            return
        match chance.randrange(12):
            case 0 | 1:
                await self.press("enter")
            case 2:
                await self.press("tab" if card else "enter")
            case 3 if chance.random() < 0.3:
                await self.press("esc")
            case 4:
                sign = next(self._signs)
                pasted = f"{sign} {chance.choice(WORDS)}"
                self.typed.update(pasted)
                await self.press("paste", f"\x1b[200~{pasted}\x1b[201~")
            case 5 if not text:
                for character in "/status":
                    await self.press(character)
                    await self.wait(0.05)
                await self.press("enter")
            case 6 if card and not text:
                await self.press(chance.choice(["up", "down"]))
            case _:
                await self._type_words()

    async def _look_at(self, card: Card) -> None:
        """Answer a card, more or less as one should."""
        chance = self._chance
        await self.wait(chance.choice([0.0, 0.1, 0.3, 0.69, 0.71, 1.0]))
        option = chance.choice([*card._options, "y", "n", "s", "1", "2"])
        for _ in range(chance.choice([0, 0, 0, 1, 3])):
            await self.press(chance.choice(["up", "down"]))
            await self.wait(chance.choice([0.0, 0.1, 0.8]))
        if option == ESCAPE or chance.random() < 0.3:
            await self.press("enter")
        else:
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                await self.type(option, chance.choice([0.02, 0.1, 0.3]))
            if chance.random() < 0.3:
                await self.press("enter")
        await self.wait(chance.choice([0.0, 0.2, 0.4, 1.1]))

    async def _type_words(self) -> None:
        chance = self._chance
        words = [chance.choice(WORDS) for _ in range(chance.randint(1, 5))]
        words.insert(chance.randrange(len(words) + 1), next(self._signs))
        await self.type(" ".join(words), chance.choice([0.0, 0.03, 0.1, 0.25]))
        if chance.random() < 0.6:
            await self.press("enter")


def _let_others_work() -> None:
    """Wait in real time: the kernel and other processes know no other."""
    time.sleep(PATIENCE)


def make_turns(chance: random.Random) -> list[Turn]:
    """Replies with a mark each, and calls that ask."""
    turns = []
    for number in range(400):
        mark = f"[reply-{number}]"
        calls = tuple(_make_call(chance, f"{number}-{at}") for at in range(chance.choice([0, 1, 1, 2, 3])))
        text = f"{mark} {' '.join(chance.choice(WORDS) for _ in range(chance.randint(1, 60)))}"
        turns.append(Turn(text=text, calls=calls, pace=chance.choice([0.0, 0.0, 0.05])))
    return turns


def _make_call(chance: random.Random, name: str) -> Call:
    content = "".join(f"line {number}\n" for number in range(chance.choice([1, 3, 60])))
    match chance.randrange(6):
        case 0:
            return Call("read_file", {"path": ".env"})
        case 1:
            return Call("ask_followup_question", {"question": f"Which, {name}?", "options": ["one", "both", "none"]})
        case 2:
            return Call("ask_followup_question", {"question": f"What is {name}?"})
        case _:
            return Call("write_to_file", {"path": f"{name}.txt", "content": content})


def find_lost(typist: Typist, log: Sequence[ev.DurableEvent], left: str) -> list[str]:
    """Return the characters that are nowhere, and are no keys that decided."""
    kept = Counter(left) + typist.unseen
    for event in log:
        match event:
            case ev.TurnStarted() | ev.SteeringReceived():
                kept.update("".join(part.text for part in event.content if isinstance(part, Text)))
            case ev.QuestionAnswered():
                kept.update(event.answer)
            case ev.ApprovalResolved():
                kept.update(event.note)
    missing = {character: count - kept[character] for character, count in typist.typed.items() if character.strip()}
    return [
        f"{character!r} × {count} was lost\n{typist.tell_of(character)}"
        for character, count in missing.items()
        if count > 0
    ]


def find_doubled(log: Sequence[ev.DurableEvent], text: str) -> list[str]:
    """Return the replies that stand there more often than they were made, and those that do not stand there."""
    replies = [event.message.text for event in log if isinstance(event, ev.AssistantMessageCompleted)]
    made = Counter(reply.partition(" ")[0] for reply in replies)
    return [f"{mark} stands there {text.count(mark)} times" for mark in made if text.count(mark) != made[mark]]


async def sit(chance: random.Random, signs: Iterator[str], master: int, folder: Path) -> tuple[Typist, list[str]]:
    """Type into one task."""
    workspace = folder / "project"
    workspace.mkdir()
    (workspace / ".env").write_text("API_KEY=abcdef1234567890\n")
    home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
    settings = Settings(sandbox="off", checkpoints=False, language_servers=NO_SERVERS)
    client = Client(Controller(ScriptedAssembly(home, settings, make_turns(chance), {})), "test")
    terminal, loop = SmallTerminal(COLUMNS, ROWS), asyncio.get_running_loop()
    loop.add_reader(master, lambda: terminal.feed(os.read(master, 1 << 16).decode("utf-8", "replace")))
    view = LiveMode()
    try:
        async with view:
            task = await client.start(workspace, TaskOptions(approval_mode=ApprovalMode.ASK, attended=True))
            running = asyncio.create_task(Conversation(client, task, view, stays=True).run("", 0))
            await asyncio.sleep(0.5)
            typist = Typist(view, master, chance, signs)
            while typist.pressed < SITTING and not running.done() and not typist.problems:
                await typist.do_something()
            if running.done():
                typist.problems.append(f"the conversation ended: {running}")
            for _ in range(2):  # what a card holds comes back
                await typist.wait(3)
                await typist.press("esc")
            state, composer = client.state(task), view._composer
            waiting = [part.text for one in state.queue.messages for part in one.content if isinstance(part, Text)]
            left = "".join([*waiting, *composer.due, composer.text, composer._set_aside.text])
            log, text = client.past(task), terminal.text
            running.cancel()
            await asyncio.wait([running])
        typist.problems += find_lost(typist, log, left) + find_doubled(log, text)
        return typist, [text]
    finally:
        loop.remove_reader(master)
        await client.close()


def main(seed: int, keys: int) -> int:
    """Type so many keys, and report to standard error. Returns 1 if a promise was broken."""
    clock = time.monotonic
    assert isinstance(clock, VirtualClock)
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    for number in (0, 1):
        os.dup2(slave, number)
    chance, signs = random.Random(seed), iter(map(chr, range(FIRST_SIGN, FIRST_SIGN + 20_000)))
    pressed = decisions = 0
    problems: list[str] = []
    while pressed < keys and not problems:
        with tempfile.TemporaryDirectory() as folder, asyncio.Runner(loop_factory=lambda: VirtualLoop(clock)) as runner:
            typist, texts = runner.run(sit(chance, signs, master, Path(folder)))
        pressed, decisions = pressed + typist.pressed, decisions + typist.decisions
        problems += typist.problems
        if problems:
            problems += texts
    sys.stderr.write(f"seed {seed}: {pressed} keys, {decisions} decisions\n" + "\n".join(problems))
    return int(bool(problems))
