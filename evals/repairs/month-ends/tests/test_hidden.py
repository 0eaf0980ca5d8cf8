import copy
import unittest
from datetime import date, datetime

from repeat import dates


def read(text):
    return [date.fromisoformat(word) for word in text.split()]


class Repeating(unittest.TestCase):
    def check(self, start, wanted, count=None, **rule):
        wanted = read(wanted)
        before = copy.deepcopy(rule)
        found = dates(rule, date.fromisoformat(start), len(wanted) if count is None else count)
        self.assertEqual(found, wanted, rule)
        self.assertEqual(rule, before)

    def test_days_and_weeks(self):
        self.check("2024-02-28", "2024-02-28 2024-02-29 2024-03-01", unit="day")
        self.check("2024-02-28", "2024-02-28 2024-03-09 2024-03-19", unit="day", every=10)
        self.check("2024-12-25", "2024-12-25 2025-01-08 2025-01-22", unit="week", every=2)
        self.check("2024-05-01", "", unit="day")

    def test_weekdays(self):
        self.check("2024-05-01", "2024-05-03 2024-05-13 2024-05-17 2024-05-27", unit="week", every=2, weekdays=[4, 0, 4])
        self.check("2024-05-01", "2024-05-01 2024-05-05 2024-05-08", unit="week", weekdays=[6, 2])
        self.check("2024-05-05", "2024-05-20 2024-06-10", unit="week", every=3, weekdays=[0])

    def test_ends_of_months(self):
        self.check("2024-01-31", "2024-01-31 2024-02-29 2024-03-31 2024-04-30 2024-05-31", unit="month")
        self.check("2023-11-30", "2023-11-30 2024-02-29 2024-05-30", unit="month", every=3)
        self.check("2023-02-10", "2023-02-28 2023-03-31 2023-04-30", unit="month", day="last")
        self.check("2023-01-31", "2023-02-15 2023-03-15", unit="month", day=15)
        self.check("2023-01-31", "2023-03-15 2023-05-15", unit="month", day=15, every=2)
        self.check("2023-01-15", "2023-01-31 2023-02-28 2023-03-31", unit="month", day=31)
        self.check("2023-12-05", "2023-12-05 2024-12-05", unit="month", every=12)

    def test_nth(self):
        self.check("2024-05-01", "2024-05-13 2024-06-10 2024-07-08", unit="month", nth=[2, 0])
        self.check("2024-05-14", "2024-06-10 2024-07-08", unit="month", nth=(2, 0))
        self.check("2024-05-31", "2024-05-31 2024-06-28 2024-07-26", unit="month", nth=[-1, 4])
        self.check("2024-01-01", "2024-01-31 2024-05-29 2024-07-31 2024-10-30", unit="month", nth=[5, 2])
        self.check("2024-05-14", "2024-07-08 2024-09-09", unit="month", nth=[2, 0], every=2)

    def test_years(self):
        self.check("2023-02-28", "2023-02-28 2024-02-28", unit="year")
        self.check("2024-02-29", "2024-02-29 2025-02-28 2026-02-28 2027-02-28 2028-02-29", unit="year")
        self.check("2024-02-29", "2024-02-29 2027-02-28 2030-02-28", unit="year", every=3)

    def test_until_and_skip(self):
        self.check("2024-01-31", "2024-01-31 2024-02-29", 9, unit="month", until=date(2024, 3, 30))
        self.check("2024-01-31", "2024-01-31 2024-02-29", 9, unit="month", until=date(2024, 2, 29))
        self.check("2024-05-01", "2024-05-01 2024-05-03 2024-05-05", unit="day", skip=[date(2024, 5, 4), date(2024, 5, 2)])
        self.check("2024-05-01", "", 3, unit="day", until=date(2024, 4, 30))

    def test_the_end_of_the_calendar(self):
        self.check("9999-12-30", "9999-12-30 9999-12-31", 9, unit="day")
        self.check("9999-11-30", "9999-11-30 9999-12-30", 9, unit="month")
        self.check("9998-01-01", "9998-01-01 9999-01-01", 9, unit="year")
        self.check("9999-12-31", "9999-12-31", 9, unit="week")
        self.check("9999-10-01", "9999-10-29 9999-11-26 9999-12-31", 9, unit="month", nth=[-1, 4])
        self.check("9999-12-30", "9999-12-30 9999-12-31", 9, unit="week", weekdays=[3, 4, 5, 6])

    def test_what_is_no_rule(self):
        for rule in (
            {}, {"unit": "hour"}, {"unit": "day", "evry": 2}, {"unit": "day", "every": 0}, {"unit": "day", "every": -1},
            {"unit": "day", "every": 1.5}, {"unit": "day", "every": "2"}, {"unit": "day", "every": True},
            {"unit": "day", "weekdays": [1]}, {"unit": "week", "weekdays": []}, {"unit": "week", "weekdays": [7]},
            {"unit": "week", "weekdays": 1}, {"unit": "week", "weekdays": ["1"]}, {"unit": "week", "day": 1},
            {"unit": "month", "day": 0}, {"unit": "month", "day": 32}, {"unit": "month", "day": "first"},
            {"unit": "month", "day": True}, {"unit": "month", "nth": [0, 1]}, {"unit": "month", "nth": [6, 1]},
            {"unit": "month", "nth": [-2, 1]}, {"unit": "month", "nth": [1, 7]}, {"unit": "month", "nth": [1]},
            {"unit": "month", "nth": [1, 1], "day": 3}, {"unit": "year", "day": 3}, {"unit": "year", "nth": [1, 1]},
            {"unit": "day", "until": "2024-05-01"}, {"unit": "day", "skip": ["2024-05-01"]},
        ):
            with self.assertRaises(ValueError, msg=rule):
                dates(rule, date(2024, 5, 1), 3)
        with self.assertRaises(ValueError):
            dates({"unit": "day"}, date(2024, 5, 1), -1)


unittest.main()
