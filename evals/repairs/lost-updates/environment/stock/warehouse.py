"""A warehouse: things come, are sold and are moved. Used by many threads at once."""


class SoldOut(Exception):
    """There is not enough of a thing."""


class Warehouse:
    def __init__(self, store):
        self._store = store

    def count(self, name):
        return self._store.get(name)

    def receive(self, name, number):
        self._store.set(name, self._store.get(name) + number)

    def sell(self, name, number):
        """Take things out. Raises SoldOut, and takes none, if there are not enough."""
        there = self._store.get(name)
        if there < number:
            raise SoldOut(name)
        self._store.set(name, there - number)

    def repack(self, old, new, number):
        """Make things into others. Raises SoldOut, and changes nothing, if there are not enough."""
        self.sell(old, number)
        self.receive(new, number)
