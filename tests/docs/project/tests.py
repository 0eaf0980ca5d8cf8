import unittest

from stats import mean


class MeanTest(unittest.TestCase):
    def test_mean(self) -> None:
        assert mean([1, 2, 3]) == 2, f"the mean of 1, 2 and 3 is {mean([1, 2, 3])}"
