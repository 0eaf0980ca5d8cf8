import unittest

from bill import add_tip, split, total


class Bill(unittest.TestCase):
    def test_a_round_bill(self):
        self.assertEqual(split("30.00", 3), ["10.00", "10.00", "10.00"])
        self.assertEqual(add_tip("10.00", 10), "11.00")
        self.assertEqual(total(["1.50", "2.50"]), "4.00")


if __name__ == "__main__":
    unittest.main()
