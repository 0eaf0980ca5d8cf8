"""Lending books. Rows of books: key, title, reader (None if it is there) and times, how often it was lent."""


class LoanError(Exception):
    """A book cannot be lent or given back."""


class Loans:
    def __init__(self, shelf):
        self.shelf = shelf

    def add(self, key, title):
        """Add a book; one that is there already keeps its loans and only gets the title."""
        book = self.shelf.find(key)
        if book is None:
            self.shelf.put({"key": key, "title": title, "reader": None, "times": 0})
        else:
            book["title"] = title

    def lend(self, key, reader):
        book = self.shelf.find(key)
        if book is None:
            raise LoanError(f"no book {key}")
        if book["reader"] is not None:
            raise LoanError(f"{book['title']} is lent to {book['reader']}")
        book["reader"] = reader
        book["times"] += 1

    def lend_all(self, keys, reader):
        """Lend all of these or, if one cannot be lent, none. Raises LoanError."""
        done = []
        try:
            for key in keys:
                self.lend(key, reader)
                done.append(key)
        except LoanError:
            for key in done:
                book = self.shelf.find(key)
                book["reader"] = None
                book["times"] -= 1
            raise

    def give_back(self, key):
        book = self.shelf.find(key)
        if book is None or book["reader"] is None:
            raise LoanError(f"{key} is not lent")
        book["reader"] = None

    def remove(self, key):
        """Remove a book, if there is one. Raises LoanError for one that is lent."""
        book = self.shelf.find(key)
        if book is not None and book["reader"] is not None:
            raise LoanError(f"{book['title']} is lent to {book['reader']}")
        self.shelf.drop(key)
