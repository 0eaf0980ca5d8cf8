import unittest

from bill import add_tip, split, total


class Bill(unittest.TestCase):
    def test_shares_add_up(self):
        self.assertEqual(split("100.00", 3), ["33.34", "33.33", "33.33"])
        self.assertEqual(split("20.00", 3), ["6.67", "6.67", "6.66"])
        self.assertEqual(split("0.02", 4), ["0.01", "0.01", "0.00", "0.00"])
        self.assertEqual(split("1.00", 1), ["1.00"])
        for cents in range(0, 400, 7):
            for people in range(1, 9):
                amount = f"{cents // 100}.{cents % 100:02}"
                self.assertEqual(total(split(amount, people)), amount)

    def test_half_a_cent_is_rounded_up(self):
        for amount, percent, wanted in (
            ("1.25", 10, "1.38"), ("1.15", 10, "1.27"), ("2.05", 10, "2.26"), ("8.45", 10, "9.30"),
            ("10.00", "12.5", "11.25"), ("0.04", "12.5", "0.05"), ("0.03", "12.5", "0.03"), ("5.00", 0, "5.00"),
        ):
            self.assertEqual(add_tip(amount, percent), wanted, (amount, percent))

    def test_large_sums_are_exact(self):
        self.assertEqual(total(["90000000000000000.01", "0.02"]), "90000000000000000.03")
        self.assertEqual(split("90000000000000000.01", 2), ["45000000000000000.01", "45000000000000000.00"])

    def test_sums(self):
        self.assertEqual(total([]), "0.00")
        self.assertEqual(total(["0.10"] * 3), "0.30")

    def test_someone_must_pay(self):
        for people in (0, -1):
            with self.assertRaises(ValueError):
                split("1.00", people)


unittest.main()
