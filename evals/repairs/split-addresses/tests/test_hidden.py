import sqlite3
import tempfile
import unittest
from pathlib import Path

from migrate import migrate

SCHEMA = Path(__file__).with_name("schema_1.sql").read_text()
PEOPLE = [
    (1, "Ada", "Quay 7, Kiel", None),
    (2, "Ben", "  Quay 7 ,Kiel ", 1),
    (4, "Cleo", "Hall B, Pier 3, Lübeck", 1),
    (5, "Dan", None, 2),
    (6, "Eve", "   ", None),
    (7, "Flo", "quay 7, Kiel", 4),
    (8, "O'Hara", "Dock '9', Kiel", 8),
    (9, "Gil", "", None),
]
FOUND = """SELECT people.id, name, street, town, boss FROM people LEFT JOIN addresses ON addresses.id = address_id ORDER BY people.id"""


class Migration(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = str(Path(self.temporary.name) / "some.db")
        self.database = sqlite3.connect(self.path)
        self.database.executescript(SCHEMA)
        self.database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [*PEOPLE, (20, "Gone", None, None)])
        self.database.executemany("INSERT INTO letters VALUES (?, ?, ?)", [(1, 1, "hello"), (2, 4, "hi"), (3, 1, "x")])
        self.database.execute("DELETE FROM people WHERE id = 20")
        self.database.commit()

    def tearDown(self):
        self.database.close()
        self.temporary.cleanup()

    def dump(self):
        version = self.database.execute("PRAGMA user_version").fetchone()
        return [version, *self.database.iterdump()]

    def test_addresses(self):
        migrate(self.path)
        quay, small = ("Quay 7", "Kiel"), ("quay 7", "Kiel")
        none = (None, None)
        wanted = [
            (1, "Ada", *quay, None), (2, "Ben", *quay, 1), (4, "Cleo", "Hall B, Pier 3", "Lübeck", 1),
            (5, "Dan", *none, 2), (6, "Eve", *none, None), (7, "Flo", *small, 4),
            (8, "O'Hara", "Dock '9'", "Kiel", 8), (9, "Gil", *none, None),
        ]
        self.assertEqual(self.database.execute(FOUND).fetchall(), wanted)
        self.assertEqual(self.database.execute("SELECT count(*) FROM addresses").fetchone(), (4,))
        self.assertEqual(self.database.execute("PRAGMA user_version").fetchone(), (2,))

    def test_what_stays(self):
        migrate(self.path)
        columns = [row[1] for row in self.database.execute("PRAGMA table_info(people)")]
        self.assertEqual(sorted(columns), ["address_id", "boss", "id", "name"])
        self.assertEqual(self.database.execute("SELECT * FROM letters").fetchall(), [(1, 1, "hello"), (2, 4, "hi"), (3, 1, "x")])
        self.assertIn("people_by_name", [row[1] for row in self.database.execute("PRAGMA index_list(people)")])
        self.assertEqual(self.database.execute("INSERT INTO people (name) VALUES ('New')").lastrowid, 21)
        tables = {row[2] for row in self.database.execute("PRAGMA foreign_key_list(letters)")}
        self.assertEqual(tables, {"people"})
        tables = {(row[2], row[3]) for row in self.database.execute("PRAGMA foreign_key_list(people)")}
        self.assertEqual(tables, {("people", "boss"), ("addresses", "address_id")})
        self.assertEqual(self.database.execute("PRAGMA foreign_key_check").fetchall(), [])
        self.database.commit()
        self.database.execute("PRAGMA foreign_keys = ON")
        with self.assertRaises(sqlite3.IntegrityError):
            self.database.execute("INSERT INTO people (name, address_id) VALUES ('Bad', 99)")
        for row in (("'a'", "NULL"), ("NULL", "'b'"), ("'Quay 7'", "'Kiel'")):
            with self.assertRaises(sqlite3.IntegrityError):
                self.database.execute(f"INSERT INTO addresses (street, town) VALUES ({row[0]}, {row[1]})")

    def test_twice_is_once(self):
        migrate(self.path)
        before = self.dump()
        migrate(self.path)
        self.assertEqual(self.dump(), before)

    def test_what_cannot_be_migrated(self):
        self.database.executemany(
            "INSERT INTO people VALUES (?, 'x', ?, NULL)", [(31, "no comma"), (32, ", Kiel"), (33, "Quay 7, "), (34, "a, b")]
        )
        self.database.commit()
        before = self.dump()
        with self.assertRaises(ValueError) as raised:
            migrate(self.path)
        for id in ("31", "32", "33"):
            self.assertIn(id, str(raised.exception))
        self.assertNotIn("34", str(raised.exception))
        self.assertEqual(self.dump(), before)

    def test_other_versions(self):
        for version in (0, 3):
            self.database.execute(f"PRAGMA user_version = {version}")
            self.database.commit()
            before = self.dump()
            with self.assertRaises(ValueError):
                migrate(self.path)
            self.assertEqual(self.dump(), before)

    def test_an_error_on_the_way(self):
        self.database.execute("CREATE TABLE addresses (anything)")
        self.database.commit()
        before = self.dump()
        with self.assertRaises(sqlite3.Error):
            migrate(self.path)
        self.assertEqual(self.dump(), before)

    def test_an_error_at_the_end(self):
        self.database.execute(
            "CREATE TRIGGER stop BEFORE UPDATE ON people WHEN new.id = 8 BEGIN SELECT raise(ABORT, 'stopped'); END"
        )
        self.database.commit()
        before = self.dump()
        with self.assertRaises(sqlite3.Error):
            migrate(self.path)
        self.assertEqual(self.dump(), before)


unittest.main()
