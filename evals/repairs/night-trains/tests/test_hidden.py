import unittest

from trains import can_change, days_later, minutes, sort_by_departure


def train(departs, arrives="2024-05-09T00:00:00Z"):
    return {"departs": departs, "arrives": arrives}


LISBON = train("2024-05-01T22:00:00+00:00", "2024-05-02T07:00:00+01:00")
LONG = train("2024-05-01T20:00:00+02:00", "2024-05-03T09:15:00+02:00")
BACK = train("2024-05-02T00:10:00+03:00", "2024-05-01T23:40:00+02:00")


class Trains(unittest.TestCase):
    def test_minutes(self):
        self.assertEqual([minutes(one) for one in (LISBON, LONG, BACK)], [480, 37 * 60 + 15, 30])
        self.assertEqual(minutes(train("2024-05-01T20:00:00Z", "2024-05-01T23:00:00+02:00")), 60)

    def test_days(self):
        self.assertEqual([days_later(one) for one in (LISBON, LONG, BACK)], [1, 2, -1])
        self.assertEqual(days_later(train("2024-05-01T08:00:00Z", "2024-05-01T23:00:00+02:00")), 0)

    def test_order(self):
        first, second = train("2024-05-01T23:30:00+02:00"), train("2024-05-01T22:00:00+00:00")
        third, same = train("2024-05-02T00:10:00+02:00"), train("2024-05-01T22:10:00Z", "2024-05-10T00:00:00Z")
        self.assertEqual(sort_by_departure([third, second, same, first]), [first, second, third, same])
        self.assertEqual(sort_by_departure([same, third]), [same, third])

    def test_changes(self):
        late = train("2024-05-01T20:00:00+02:00", "2024-05-01T23:58:00+02:00")
        for departs, wanted in (
            ("2024-05-02T00:03:00+02:00", True), ("2024-05-02T00:02:59+02:00", False),
            ("2024-05-01T22:03:00+00:00", True), ("2024-05-01T23:10:00+03:00", False),
            ("2024-04-29T23:59:00+02:00", False), ("2024-05-01T22:03:00Z", True),
        ):
            self.assertEqual(can_change(late, train(departs)), wanted, departs)
        self.assertFalse(can_change(late, train("2024-05-02T00:10:00+02:00"), 15))


unittest.main()
