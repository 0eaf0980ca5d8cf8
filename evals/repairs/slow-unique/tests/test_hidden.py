import unittest

from words import common, count, remove_first, unique


class Word(str):
    """A word that counts how often words are compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Word.compared += 1
        return str.__eq__(self, other)


def make(number, start=0):
    return [Word(f"w{index}") for index in range(start, start + number)]


class Words(unittest.TestCase):
    def test_results(self):
        words = ["b", "a", "b", "c", "a", "b"]
        self.assertEqual(unique(iter(words)), ["b", "a", "c"])
        self.assertEqual(count(iter(words)), [("b", 3), ("a", 2), ("c", 1)])
        self.assertEqual(common(iter(words), iter(["c", "b", "x", "b"])), ["b", "c"])
        self.assertEqual(remove_first(iter(words), iter(["b", "x", "b", "a"])), ["c", "a", "b"])
        self.assertEqual((unique([]), count([]), common([], []), remove_first([], ["a"])), ([], [], [], []))

    def check(self, function, *lists):
        Word.compared = 0
        function(*lists)
        self.assertLess(Word.compared, 20 * sum(map(len, lists)), function.__name__)

    def test_time_grows_as_the_number_of_words(self):
        self.check(unique, make(2000))
        self.check(count, make(2000))
        self.check(common, make(2000), make(2000, 1000))
        self.check(remove_first, make(2000), list(reversed(make(2000))))
        self.check(count, make(1000) + make(1000))


unittest.main()
