"""Where numbers are kept: a stand-in for a slow database. Each call may be made from any thread."""

import threading


class Store:
    def __init__(self, numbers=None):
        self._numbers = dict(numbers or {})
        self._guard = threading.Lock()

    def get(self, name):
        with self._guard:
            return self._numbers.get(name, 0)

    def set(self, name, number):
        with self._guard:
            self._numbers[name] = number
