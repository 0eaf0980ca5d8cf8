import sqlite3
import unittest

from orders import find_many, rename, search

ROWS = [(1, "O'Brien", 300), (2, "Ada 50%", 100), (3, "Ada 500", 300), (4, "a_b\\c", 50), (5, "aXb", 70)]


class Orders(unittest.TestCase):
    def setUp(self):
        self.database = sqlite3.connect(":memory:")
        self.database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, cents INTEGER)")
        self.database.executemany("INSERT INTO orders VALUES (?, ?, ?)", ROWS)
        self.database.commit()

    def tearDown(self):
        self.database.close()

    def ids(self, *words, **named):
        return [row[0] for row in search(self.database, *words, **named)]

    def test_texts_are_plain(self):
        for text, wanted in (
            ("O'Brien", [1]), ("o'b", [1]), ("50%", [2]), ("a_b", [4]), ("\\", [4]), ("ADA", [2, 3]), ("", [1, 2, 3, 4, 5]),
            ("' OR '1'='1", []), ("x' UNION SELECT 1, 2, 3 --", []), ("%", [2]), ("_", [4]), ("\\%", []),
        ):
            self.assertEqual(self.ids(text), wanted, text)

    def test_orders(self):
        self.assertEqual(self.ids(sort="-cents"), [1, 3, 2, 5, 4])
        self.assertEqual(self.ids(sort="cents", limit=2), [4, 5])
        self.assertEqual(self.ids(sort="-id"), [5, 4, 3, 2, 1])
        self.assertEqual(self.ids(sort="customer"), [2, 3, 1, 5, 4])

    def test_other_orders_and_limits_are_refused(self):
        for sort in ("name", "", "-", "--id", "id; DROP TABLE orders", "id DESC", "(SELECT 1)", "rowid", "ID "):
            with self.assertRaises(ValueError, msg=sort):
                search(self.database, sort=sort)
        for limit in (0, -1, 101, "5", "1; --", None, 2.5):
            with self.assertRaises(ValueError, msg=limit):
                search(self.database, limit=limit)

    def test_many_ids(self):
        self.assertEqual(find_many(self.database, [3, 1]), [ROWS[0], ROWS[2]])
        self.assertEqual(find_many(self.database, []), [])
        self.assertEqual(find_many(self.database, range(5000)), ROWS)
        self.assertEqual(find_many(self.database, (id for id in (2, 2))), [ROWS[1]])
        for ids in (["7"], ["1) OR (1=1"], [1, None], [1.5]):
            with self.assertRaises(ValueError, msg=ids):
                find_many(self.database, ids)

    def test_renaming(self):
        self.assertEqual(rename(self.database, "O'Brien", "O'Neil', cents = '0"), 1)
        self.assertEqual(find_many(self.database, [1]), [(1, "O'Neil', cents = '0", 300)])
        self.assertEqual(rename(self.database, "x' OR '1'='1", "y"), 0)


unittest.main()
