import unittest

import shelf  # the one beside this file: that of the project is to stay as it is
from library.journal import Journal
from library.lists import export, lent_to, page, remove_unused, titles
from library.loans import LoanError, Loans


class Library(unittest.TestCase):
    def setUp(self):
        self.assertIn("test", shelf.__file__.rpartition("/")[0])
        self.shelf = shelf.Shelf()
        self.journal = Journal(self.shelf)
        self.loans = Loans(self.shelf)
        for key, title in (("c", "Cliffs"), ("a", "Ashore"), ("b", "Boats")):
            self.loans.add(key, title)

    def refuse(self, message, call, *words):
        before = export(self.shelf)
        with self.assertRaises(LoanError) as raised:
            call(*words)
        self.assertEqual(str(raised.exception), message)
        self.assertEqual(export(self.shelf), before)

    def row(self, key):
        return next(row for row in export(self.shelf) if row["key"] == key)

    def test_lists(self):
        self.assertEqual(titles(self.shelf), ["Ashore", "Boats", "Cliffs"])
        self.assertEqual(page(self.shelf, "b", 5), ["b", "c"])
        self.assertEqual(page(self.shelf, "aa", 1), ["b"])
        self.assertEqual(page(self.shelf, "", 2), ["a", "b"])
        rows = export(self.shelf)
        self.assertEqual(rows[0], {"key": "a", "title": "Ashore", "reader": None, "times": 0})
        rows[0]["title"] = "mine"
        self.assertEqual(titles(self.shelf)[0], "Ashore")

    def test_lending(self):
        self.loans.lend("a", "Ada")
        self.assertEqual(self.row("a"), {"key": "a", "title": "Ashore", "reader": "Ada", "times": 1})
        self.assertEqual(lent_to(self.shelf, "Ada"), ["a"])
        self.refuse("Ashore is lent to Ada", self.loans.lend, "a", "Ben")
        self.refuse("no book x", self.loans.lend, "x", "Ben")
        self.loans.give_back("a")
        self.loans.lend("a", "Ben")
        self.assertEqual((self.row("a")["reader"], self.row("a")["times"]), ("Ben", 2))
        self.refuse("b is not lent", self.loans.give_back, "b")
        self.refuse("x is not lent", self.loans.give_back, "x")

    def test_a_new_title_keeps_the_loan(self):
        self.loans.lend("a", "Ada")
        self.loans.add("a", "Ashore again")
        self.assertEqual(self.row("a"), {"key": "a", "title": "Ashore again", "reader": "Ada", "times": 1})

    def test_all_or_none(self):
        self.loans.lend("c", "Ada")
        self.journal.changed.clear()
        self.refuse("Cliffs is lent to Ada", self.loans.lend_all, ["a", "b", "c"], "Ben")
        self.refuse("no book x", self.loans.lend_all, ["a", "x"], "Ben")
        self.refuse("Ashore is lent to Ben", self.loans.lend_all, ["a", "a"], "Ben")
        self.assertEqual(self.journal.changed, [])
        self.loans.lend_all(iter(["b", "a"]), "Ben")
        self.assertEqual(lent_to(self.shelf, "Ben"), ["a", "b"])
        self.assertEqual(self.journal.changed, ["b", "a"])
        self.loans.lend_all([], "Ben")

    def test_removing(self):
        self.loans.lend("a", "Ada")
        self.refuse("Ashore is lent to Ada", self.loans.remove, "a")
        self.loans.remove("x")
        self.loans.remove("b")
        self.assertEqual(titles(self.shelf), ["Ashore", "Cliffs"])
        self.assertEqual(remove_unused(self.shelf), 1)
        self.assertEqual(titles(self.shelf), ["Ashore"])
        self.assertEqual(remove_unused(self.shelf), 0)

    def test_the_journal(self):
        self.assertEqual(self.journal.changed, ["c", "a", "b"])
        self.journal.changed.clear()
        self.loans.lend("b", "Ada")
        self.loans.give_back("b")
        self.loans.add("a", "Another")
        self.loans.remove("c")
        self.loans.remove("x")
        self.assertEqual(self.journal.changed, ["b", "a", "c"])


unittest.main()
