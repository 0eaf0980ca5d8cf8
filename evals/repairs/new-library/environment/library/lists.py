"""Lists of books."""


def titles(shelf):
    """Return the titles of all books, in the order of their keys."""
    return [book["title"] for book in sorted(shelf.rows(), key=lambda book: book["key"])]


def page(shelf, first, size):
    """Return the keys of books from a key on, itself included if it is there."""
    return sorted(book["key"] for book in shelf.rows(since=first))[:size]


def lent_to(shelf, reader):
    """Return the keys of the books that a reader has."""
    return sorted(book["key"] for book in shelf.rows() if book["reader"] == reader)


def export(shelf):
    """Return all books as dictionaries that are the caller's own, key included, in the order of their keys."""
    return [dict(book) for book in sorted(shelf.rows(), key=lambda book: book["key"])]


def remove_unused(shelf):
    """Remove all books that were never lent; return how many."""
    count = 0
    for book in shelf.rows():
        if book["times"] == 0:
            shelf.drop(book["key"])
            count += 1
    return count
