import unittest

from trains import can_change, days_later, minutes

DAY = {"departs": "2024-05-01T08:00:00+02:00", "arrives": "2024-05-01T11:30:00+02:00"}
NEXT = {"departs": "2024-05-01T11:40:00+02:00", "arrives": "2024-05-01T12:00:00+02:00"}


class Trains(unittest.TestCase):
    def test_a_train_by_day(self):
        self.assertEqual((minutes(DAY), days_later(DAY)), (210, 0))
        self.assertTrue(can_change(DAY, NEXT))


if __name__ == "__main__":
    unittest.main()
