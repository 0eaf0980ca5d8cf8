"""shelf 2.0: a small store of rows by key, in memory. See CHANGES.md beside this file."""

from contextlib import contextmanager
from types import MappingProxyType


class Missing(LookupError):
    """There is no row with this key."""


class Closed(RuntimeError):
    """Something was written outside a transaction."""


class Shelf:
    def __init__(self):
        self._rows = {}
        self._open = False
        self._listeners = []
        self._changes = []

    @contextmanager
    def transaction(self):
        if self._open:
            raise Closed("transactions cannot be nested")
        before = dict(self._rows)
        self._open, self._changes = True, []
        try:
            yield self
        except BaseException:
            self._rows = before
            raise
        else:
            for change in self._changes:
                for listener in self._listeners:
                    listener(*change)
        finally:
            self._open = False

    def put(self, key, row):
        self._write("put", key)
        self._rows[key] = MappingProxyType(dict(row))

    def drop(self, key):
        if key not in self._rows:
            raise Missing(key)
        self._write("drop", key)
        del self._rows[key]

    def find(self, key):
        try:
            return self._rows[key]
        except KeyError:
            raise Missing(key) from None

    def rows(self, since=None):
        for key in sorted(self._rows):
            if since is None or key > since:
                yield key, self._rows[key]

    def on_change(self, listener):
        self._listeners.append(listener)

    def _write(self, kind, key):
        if not self._open:
            raise Closed("writing needs a transaction")
        self._changes.append((kind, key))
