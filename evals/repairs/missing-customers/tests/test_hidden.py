import sqlite3
import unittest
from pathlib import Path

from report import report


class Report(unittest.TestCase):
    def setUp(self):
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(Path("schema.sql").read_text())
        self.database.executemany(
            "INSERT INTO customers VALUES (?, ?, ?)",
            [(1, "Ada", "north"), (2, "Kim Lee", "south"), (3, "Ben", None), (4, "Kim Lee", None), (5, "Zoe", "east")],
        )
        self.database.executemany(
            "INSERT INTO orders VALUES (?, ?, ?)",
            [(1, 1, 500), (2, 2, 300), (3, 2, 50), (4, 4, 1000), (5, 3, 20)],
        )

    def tearDown(self):
        self.database.close()

    def test_all_outside_the_region_have_a_row(self):
        wanted = [("Ben", 1, 20), ("Kim Lee", 2, 350), ("Kim Lee", 1, 1000), ("Zoe", 0, 0)]
        self.assertEqual(report(self.database, "north"), wanted)

    def test_another_region(self):
        wanted = [("Ada", 1, 500), ("Ben", 1, 20), ("Kim Lee", 1, 1000), ("Zoe", 0, 0)]
        self.assertEqual(report(self.database, "south"), wanted)

    def test_nobody_there(self):
        self.database.executescript("DELETE FROM orders; DELETE FROM customers;")
        self.assertEqual(report(self.database, "north"), [])


unittest.main()
