"""Resolve the `@` mentions of a prompt, each through the gate, and within one budget.

A mention permits reading the thing once: where the gate would ask, the mention is the approval. It does not override
ignore files, denying rules or a *never*, and does not permit reading files that may hold secrets.

The text of a command or skill is a file's, not the person's: what it mentions is read only where that needs no
approval, and nothing but files of this machine.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path

from msgspec.structs import replace

from halocline.context.budget import MENTIONED, bound_text
from halocline.context.token_estimate import message_tokens
from halocline.context.user_files.mentions import Kind, Mention, find_mentions
from halocline.policy.gate import PolicyContext
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.events import DurableEvent
from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.messages import Image, Message, Note, UserMessage, UserPart
from halocline.protocol.state.state import State
from halocline.runtime.mentions import files as files, other as things
from halocline.runtime.mentions.access import NOT_GIVEN, Ground
from halocline.task.calls.policy_input import make_policy_context
from halocline.task.host import TaskHost

MOST_IMAGES = 20
TOO_MANY = f"not included: more than {MOST_IMAGES} images at once"
FULL = "left out: earlier mentions use up the space for mentions; read it with a tool"
LEAST = 2_000
"""Characters of a mention worth including when the space is nearly used up."""

Parts = tuple[UserPart, ...]


class Resolver:
    """Implements `ports.mentions.Mentions`. `home` is Halocline's own folder, `past` returns another task's log."""

    def __init__(self, host: TaskHost, home: Path, past: Callable[[str], tuple[str, Sequence[DurableEvent]]]) -> None:
        self._host = host
        self._home = home
        self._past = past

    async def resolve(
        self, words: Sequence[str], state: State, visible: Sequence[Message] = (), texts: Sequence[str] = ()
    ) -> Parts:
        ground, shown = self._ground(state, visible), _pictures_sent(state)
        given: list[UserPart] = []
        said = mentions_in(words)
        for mention in said:
            given += self._fit_parts(await self._resolve_one(mention, ground), mention, given, shown)
        known = {one.target for one in said}
        strict = replace(ground, by_person=False)
        for mention in mentions_in(texts):
            if mention.kind in (Kind.PATH, Kind.COMMIT) and mention.target not in known:
                given += self._fit_parts(await self._resolve_one(mention, strict), mention, given, shown)
        return tuple(given)

    async def sizes(self, words: Sequence[str], state: State) -> tuple[Mentioned, ...]:
        mentions = mentions_in(words)
        return await asyncio.to_thread(asyncio.run, self._sizes(mentions, state)) if mentions else ()

    async def _sizes(self, mentions: Sequence[Mention], state: State) -> tuple[Mentioned, ...]:
        ground = replace(self._ground(state), blobs=files.Unkept())
        sized = [await self._measure_one(mention, ground) for mention in mentions]
        return tuple(one for one in sized if one)

    async def _measure_one(self, mention: Mention, ground: Ground) -> Mentioned | None:
        if description := things.LATER.get(mention.kind):
            return Mentioned(mention.text, description)
        if mention.kind in (Kind.PATH, Kind.COMMIT) and (guess := await files.guess_size(mention, ground)):
            return guess
        if mention.kind is Kind.COMMIT:
            return Mentioned(mention.text, "a commit, if one of this name exists")
        parts = await self._resolve_one(mention, ground)
        return _measure_mention(mention, parts) if parts else None

    async def _resolve_one(self, mention: Mention, ground: Ground) -> Parts:
        """Return the parts for a mention; empty if it is just prose."""
        try:
            return await self._readers[mention.kind](mention, ground)
        except HaloclineError as failure:
            return (Note(f"{mention.text}: {failure.text}", NOT_GIVEN),)
        except OSError as error:
            return (Note(f"{mention.text}: not included: {error.strerror}", NOT_GIVEN),)

    @property
    def _readers(self) -> dict[Kind, Callable[[Mention, Ground], Awaitable[Parts]]]:
        return {
            Kind.PATH: files.read_path,
            Kind.COMMIT: self._path_or_commit,
            Kind.URL: things.read_page,
            Kind.TASK: partial(things.read_task, past=self._past),
            Kind.SYMBOL: things.read_symbol,
            Kind.PROBLEMS: things.read_problems,
            Kind.TERMINAL: things.read_terminal,
            Kind.CHANGES: things.read_changes,
        }

    async def _path_or_commit(self, mention: Mention, ground: Ground) -> Parts:
        """Resolve hexadecimal digits to a file, else to a commit, else to nothing."""
        if (parts := await files.read_path(mention, ground)) or not ground.by_person:
            return parts
        try:
            return await things.read_commit(mention, ground)
        except ToolFailure:
            return ()

    def _fit_parts(self, parts: Parts, mention: Mention, before: Sequence[UserPart], shown: int) -> Parts:
        """Cut the parts to the space that earlier mentions leave; `shown` images were sent before."""
        if any(isinstance(part, Image) for part in parts) and shown + _count_images(before) >= MOST_IMAGES:
            return (Note(f"{mention.text}: {TOO_MANY}", NOT_GIVEN),)
        left = MENTIONED - sum(len(part.text) for part in before if isinstance(part, Note))
        if left < LEAST and sum(len(part.text) for part in parts if isinstance(part, Note)) > LEAST:
            return (Note(f"{mention.text}: {FULL}", NOT_GIVEN),)
        put = self._host.tools.blobs.put
        return tuple(
            replace(part, text=bound_text(part.text, max(left, LEAST), put)) if isinstance(part, Note) else part
            for part in parts
        )

    def _ground(self, state: State, visible: Sequence[Message] = ()) -> Ground:
        return Ground(self._host, state, partial(self._policy_context, state), self._host.tools.blobs, tuple(visible))

    def _policy_context(self, state: State) -> PolicyContext:
        """Return the policy with the current rules; the log records changed ones only when a call is judged."""
        known = replace(state, permissions=replace(state.permissions, rules=self._host.permissions.book()))
        return make_policy_context(known, self._home, self._host.shell_facts)


def _count_images(parts: Sequence[UserPart]) -> int:
    return sum(isinstance(part, Image) for part in parts)


def _pictures_sent(state: State) -> int:
    """Count the images in messages that no model has answered yet."""
    messages = takewhile(lambda message: isinstance(message, UserMessage), reversed(state.messages))
    return sum(_count_images(message.content) for message in messages if isinstance(message, UserMessage))


def mentions_in(words: Sequence[str]) -> tuple[Mention, ...]:
    """Return the mentions in the texts, each thing once."""
    every = [mention for text in words for mention in find_mentions(text)]
    return tuple({replace(mention, text="", meant=False): mention for mention in reversed(every)}.values())[::-1]


def _measure_mention(mention: Mention, parts: Parts) -> Mentioned:
    first = parts[0]
    label = first.text.split("\n", 1)[0] if isinstance(first, Note) else ""
    problem = isinstance(first, Note) and first.source == NOT_GIVEN
    what = label.removeprefix(f"{mention.text}: ") if problem else label
    return Mentioned(mention.text, what, None if problem else message_tokens(UserMessage(parts)), problem)
