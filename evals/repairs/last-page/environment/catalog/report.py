from catalog.pages import count_pages, get_page


def describe(items, number, size=10):
    shown = get_page(items, number, size)
    return f"page {number} of {count_pages(items, size)}: {', '.join(shown)}"
