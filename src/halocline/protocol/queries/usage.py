"""Reports on context and cache use. Sizes are tokens, prices US dollars."""

from halocline.protocol.values import Value


class Rates(Value, frozen=True):
    """Dollars per million input tokens, uncached and cached."""

    input: float
    cached: float


class ContextPart(Value, frozen=True, omit_defaults=False):
    """One part of the context. `kind` groups parts, `times` counts its pieces; `stale` of its `tokens` are outdated.

    Stale means that a later read or edit of the same file replaces it.
    """

    kind: str
    name: str
    tokens: int
    times: int = 1
    stale: int = 0


class Shortened(Value, frozen=True, omit_defaults=False):
    """Reductions of the conversation before the model reads it. Sizes are estimated tokens.

    `outdated` copies of files are left out, `outdated_tokens` in total; `answered_for` calls without a result got a
    placeholder; `cut` messages were longer than `longest` and lost `cut_tokens`; `unseen` images are left out because
    the model accepts none, `old_images` because there are many newer ones. For the compaction in force, if any: its
    `cause`, the size `before` and `after`, and the number of messages that it `replaced`.
    """

    outdated: int = 0
    outdated_tokens: int = 0
    answered_for: int = 0
    cut: int = 0
    cut_tokens: int = 0
    longest: int = 0
    unseen: int = 0
    old_images: int = 0
    cause: str = ""
    before: int = 0
    after: int = 0
    replaced: int = 0


class ContextReport(Value, frozen=True, omit_defaults=False):
    """Contents of a task's next request.

    The parts are estimates; `used` is their sum. `counted` is the provider's own count, and the parts were multiplied
    by `scale` to match it; 0 means no count and no scaling. `reserve` is the part of the window kept free for the
    reply and for compaction. If the window is not known, `window` is a guess. Unknown `rates` are None.
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
        """Tokens left before the conversation is compacted."""
        return max(0, self.window - self.reserve - self.used)

    def kinds(self) -> dict[str, tuple[ContextPart, ...]]:
        """Group the parts by kind, in order."""
        names = dict.fromkeys(part.kind for part in self.parts)
        return {name: tuple(part for part in self.parts if part.kind == name) for name in names}


class CacheMiss(Value, frozen=True, omit_defaults=False):
    """A request with far fewer cached tokens than the previous request could have left in the cache.

    `step` counts the task's requests from 1. `extra` is the additional cost in dollars; None if unknown.
    """

    step: int
    at: float
    model: str
    expected: int
    cached: int
    why: str
    extra: float | None = None


class CacheReport(Value, frozen=True, omit_defaults=False):
    """Cache use of a task's requests. `read` counts all input tokens, `cached` those from the cache."""

    requests: int
    read: int
    cached: int
    misses: tuple[CacheMiss, ...] = ()
