"""What a context is made of, and why a cache missed: answers to queries. Sizes are tokens, prices US dollars."""

from halocline.protocol.values import Value


class Rates(Value, frozen=True):
    """Dollars per million tokens that are read: new ones, and those that the provider has in its cache."""

    input: float
    cached: float


class ContextPart(Value, frozen=True, omit_defaults=False):
    """One part. `kind` groups it with others, `times` counts its pieces; of `tokens`, so many are `stale`.

    Stale is what a later read or edit of the same file has overtaken.
    """

    kind: str
    name: str
    tokens: int
    times: int = 1
    stale: int = 0


class Shortened(Value, frozen=True, omit_defaults=False):
    """What was done to a conversation before the model reads it. Sizes are tokens, estimated.

    `outdated` copies of files are left out, of `outdated_tokens`; `answered_for` calls without a result have a made-up
    one; `cut` messages were longer than `longest`, and lost `cut_tokens`; so many pictures are `unseen` as the model
    sees none. The compaction in force, if any: its `cause`, how much was there `before` and `after`, and how many
    messages it stands for (`replaced`).
    """

    outdated: int = 0
    outdated_tokens: int = 0
    answered_for: int = 0
    cut: int = 0
    cut_tokens: int = 0
    longest: int = 0
    unseen: int = 0
    cause: str = ""
    before: int = 0
    after: int = 0
    replaced: int = 0


class ContextReport(Value, frozen=True, omit_defaults=False):
    """What the next request of a task would hold.

    The parts are estimates; `used` is their sum. Of it the provider counted `counted`, to which the parts were scaled
    by `scale`; without a count from it (0) nothing was. `reserve` is kept free of the window: for the reply, and for
    making the conversation shorter. A window that is not known is a guess. `rates` that are not known are None.
    """

    task: str
    title: str
    model: str
    parts: tuple[ContextPart, ...]
    used: int
    counted: int = 0
    scale: float = 1.0
    window: int = 0
    window_known: bool = False
    reserve: int = 0
    rates: Rates | None = None
    shortened: Shortened = Shortened()

    @property
    def free(self) -> int:
        """Tokens until the conversation is shortened."""
        return max(0, self.window - self.reserve - self.used)

    def kinds(self) -> dict[str, tuple[ContextPart, ...]]:
        """The parts by kind, in their order."""
        names = dict.fromkeys(part.kind for part in self.parts)
        return {name: tuple(part for part in self.parts if part.kind == name) for name in names}


class CacheMiss(Value, frozen=True, omit_defaults=False):
    """A request of which far less was in the cache than the one before it could have left there.

    `step` counts the requests of the task from 1. `extra` are the dollars that it cost more; None is unknown.
    """

    step: int
    at: float
    model: str
    expected: int
    cached: int
    why: str
    extra: float | None = None


class CacheReport(Value, frozen=True, omit_defaults=False):
    """How a task's requests used the provider's cache. `read` are all tokens that went in, `cached` those from it."""

    requests: int
    read: int
    cached: int
    misses: tuple[CacheMiss, ...] = ()
