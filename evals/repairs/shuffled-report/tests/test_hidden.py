import json
import os
import subprocess
import sys
import unittest

from inventory import order_number, report, to_order

NAMES = ["oar", "Anchor", "rope", "lamp", "paint", "änchor", "bell", "oar"]
ITEMS = [
    {"name": name, "count": count % 5, "tags": [f"t{number}" for number in range(12, 0, -3) if count % 2 or number > 4]}
    for count, name in enumerate(NAMES)
]
SHOW = """
import json, sys, inventory
items = json.load(sys.stdin)
print(json.dumps([inventory.report(items), [inventory.order_number(item) for item in items], inventory.to_order(items)]))
"""


def run(seed, words=("-c", SHOW)):
    return subprocess.run(
        [sys.executable, *words], input=json.dumps(ITEMS), capture_output=True, text=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )


class Inventory(unittest.TestCase):
    def test_every_run_says_the_same(self):
        outputs = {run(seed).stdout for seed in range(1, 7)}
        self.assertEqual(len(outputs), 1)
        self.assertTrue(outputs.pop())

    def test_reports_are_sorted(self):
        lines = report(ITEMS)
        self.assertEqual([line.split(":")[0] for line in lines], ["t12", "t3", "t6", "t9"])
        self.assertEqual(lines[1], "t3: Anchor, lamp, oar, änchor")
        self.assertEqual(lines[0], "t12: Anchor, bell, lamp, oar, paint, rope, änchor")
        self.assertEqual(report([]), [])

    def test_numbers(self):
        numbers = {order_number({"name": f"item {index}"}) for index in range(200)}
        self.assertTrue(all(len(number) == 6 and number.isdigit() for number in numbers))
        self.assertGreater(len(numbers), 100)

    def test_orders_do_not_depend_on_earlier_ones(self):
        for _ in range(2):
            self.assertEqual(to_order(ITEMS), ["oar", "Anchor", "rope", "änchor", "bell"])
        self.assertEqual(to_order([]), [])

    def test_its_own_tests_pass_in_every_run(self):
        for seed in (1, 2, 3):
            found = run(seed, ("-m", "unittest", "-q", "test_inventory"))
            self.assertEqual(found.returncode, 0, found.stderr)


unittest.main()
