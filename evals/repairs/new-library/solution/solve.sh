#!/bin/bash
set -e
cat > library/loans.py <<'EOF'
"""Lending books. Rows of books: key, title, reader (None if it is there) and times, how often it was lent."""

from shelf import Missing


class LoanError(Exception):
    """A book cannot be lent or given back."""


class Loans:
    def __init__(self, shelf):
        self.shelf = shelf

    def add(self, key, title):
        """Add a book; one that is there already keeps its loans and only gets the title."""
        book = self._find(key) or {"key": key, "reader": None, "times": 0}
        with self.shelf.transaction():
            self.shelf.put(key, {**book, "title": title})

    def lend(self, key, reader):
        self.lend_all([key], reader)

    def lend_all(self, keys, reader):
        """Lend all of these or, if one cannot be lent, none. Raises LoanError."""
        with self.shelf.transaction():
            for key in keys:
                book = self._find(key)
                if book is None:
                    raise LoanError(f"no book {key}")
                if book["reader"] is not None:
                    raise LoanError(f"{book['title']} is lent to {book['reader']}")
                self.shelf.put(key, {**book, "reader": reader, "times": book["times"] + 1})

    def give_back(self, key):
        book = self._find(key)
        if book is None or book["reader"] is None:
            raise LoanError(f"{key} is not lent")
        with self.shelf.transaction():
            self.shelf.put(key, {**book, "reader": None})

    def remove(self, key):
        """Remove a book, if there is one. Raises LoanError for one that is lent."""
        book = self._find(key)
        if book is None:
            return
        if book["reader"] is not None:
            raise LoanError(f"{book['title']} is lent to {book['reader']}")
        with self.shelf.transaction():
            self.shelf.drop(key)

    def _find(self, key):
        try:
            return self.shelf.find(key)
        except Missing:
            return None
EOF
cat > library/lists.py <<'EOF'
"""Lists of books."""


def titles(shelf):
    """Return the titles of all books, in the order of their keys."""
    return [book["title"] for _, book in shelf.rows()]


def page(shelf, first, size):
    """Return the keys of books from a key on, itself included if it is there."""
    return [key for key, _ in shelf.rows() if key >= first][:size]


def lent_to(shelf, reader):
    """Return the keys of the books that a reader has."""
    return [key for key, book in shelf.rows() if book["reader"] == reader]


def export(shelf):
    """Return all books as dictionaries that are the caller's own, key included, in the order of their keys."""
    return [{**book, "key": key} for key, book in shelf.rows()]


def remove_unused(shelf):
    """Remove all books that were never lent; return how many."""
    unused = [key for key, book in shelf.rows() if book["times"] == 0]
    with shelf.transaction():
        for key in unused:
            shelf.drop(key)
    return len(unused)
EOF
sed -i 's/def _note(self, key)/def _note(self, kind, key)/' library/journal.py
