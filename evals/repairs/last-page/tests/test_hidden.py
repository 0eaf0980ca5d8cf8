import unittest

from catalog.pages import count_pages, get_page
from catalog.report import describe

ITEMS = [f"p{number}" for number in range(1, 24)]


class Pages(unittest.TestCase):
    def test_the_last_page_has_the_rest(self):
        self.assertEqual(get_page(ITEMS, 3), ["p21", "p22", "p23"])
        self.assertEqual(describe(ITEMS, 3), "page 3 of 3: p21, p22, p23")

    def test_numbers_of_pages(self):
        for count, pages in ((0, 0), (1, 1), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3), (30, 3)):
            self.assertEqual(count_pages(["x"] * count, 10), pages, count)

    def test_every_item_is_on_one_page(self):
        for size in range(1, 26):
            shown = [item for page in range(1, count_pages(ITEMS, size) + 1) for item in get_page(ITEMS, page, size)]
            self.assertEqual(shown, ITEMS)

    def test_other_pages_are_empty(self):
        self.assertEqual([get_page(ITEMS, number) for number in (-1, 0, 4)], [[], [], []])
        self.assertEqual(get_page([], 1), [])


unittest.main()
