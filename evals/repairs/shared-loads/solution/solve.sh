#!/bin/bash
set -e
python3 - <<'END'
text = open("cache.py").read()
head, _, _ = text.partition("    def __init__")
open("cache.py", "w").write(head.replace("import time\n", "import asyncio\nimport time\n") + '''    def __init__(self, load, lifetime, now=time.monotonic):
        self._load = load
        self._lifetime = lifetime
        self._now = now
        self._kept = {}
        self._loads = {}

    async def get(self, key):
        kept = self._kept.get(key)
        if kept and self._now() - kept[1] < self._lifetime:
            return kept[0]
        load = self._loads.get(key)
        if load is None:
            load = self._loads[key] = _Load()
            load.task = asyncio.ensure_future(self._run(key, load))
        load.waiting += 1
        try:
            return await asyncio.shield(load.task)
        finally:
            load.waiting -= 1
            if load.waiting == 0 and not load.task.done():
                load.task.cancel()
                self._end(key, load)

    async def _run(self, key, load):
        try:
            value = await self._load(key)
            if self._loads.get(key) is load:
                self._kept[key] = (value, self._now())
            return value
        finally:
            self._end(key, load)

    def _end(self, key, load):
        if self._loads.get(key) is load:
            del self._loads[key]

    def forget(self, key):
        self._kept.pop(key, None)
        self._loads.pop(key, None)


class _Load:
    """A load that runs, and how many wait for it."""

    def __init__(self):
        self.task = None
        self.waiting = 0
''')
END
