"""Pages of a list, counted from 1."""


def count_pages(items, size):
    """Return how many pages the items fill."""
    return len(items) // size


def get_page(items, number, size=10):
    """Return the items of a page; an empty list for a page that does not exist."""
    if number < 1 or number > count_pages(items, size):
        return []
    start = (number - 1) * size
    return items[start : start + size]
