"""Keeps in mind which books were changed, for the backup."""


class Journal:
    def __init__(self, shelf):
        self.changed = []
        shelf.on_change(self._note)

    def _note(self, key):
        if key not in self.changed:
            self.changed.append(key)
