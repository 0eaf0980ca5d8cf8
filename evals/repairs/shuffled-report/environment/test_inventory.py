import unittest

from inventory import order_number, report, to_order

ITEMS = [
    {"name": "rope", "count": 2, "tags": ["deck", "blue"]},
    {"name": "lamp", "count": 9, "tags": ["deck"]},
    {"name": "paint", "count": 1, "tags": ["blue", "paint"]},
]


class Inventory(unittest.TestCase):
    def test_report(self):
        self.assertEqual(report(ITEMS), ["blue: paint, rope", "deck: lamp, rope", "paint: paint"])

    def test_orders(self):
        self.assertEqual(to_order(ITEMS), ["rope", "paint"])

    def test_orders_of_a_part(self):
        self.assertEqual(to_order(ITEMS[:1]), ["rope"])

    def test_numbers(self):
        self.assertEqual(order_number(ITEMS[0]), order_number(dict(ITEMS[0])))


if __name__ == "__main__":
    unittest.main()
