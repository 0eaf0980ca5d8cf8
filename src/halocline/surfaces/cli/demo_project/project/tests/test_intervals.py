import unittest

from intervals import free, merge


class MergeTest(unittest.TestCase):
    def test_overlapping_intervals_join(self):
        self.assertEqual(merge([(1, 3), (2, 4), (5, 8)]), [(1, 4), (5, 8)])

    def test_touching_intervals_join(self):
        self.assertEqual(merge([(1, 3), (3, 5)]), [(1, 5)])

    def test_an_interval_inside_another_disappears(self):
        self.assertEqual(merge([(1, 9), (2, 4)]), [(1, 9)])


class FreeTest(unittest.TestCase):
    def test_gaps_are_found_on_every_side(self):
        self.assertEqual(free([(2, 4), (6, 7)], (0, 10)), [(0, 2), (4, 6), (7, 10)])


if __name__ == "__main__":
    unittest.main()
