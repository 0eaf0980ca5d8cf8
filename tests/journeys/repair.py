"""One whole journey that several tests take: look, see the tests fail, repair, see them pass, finish."""

from collections.abc import Mapping

from halocline.protocol.messages import Usage
from halocline.providers.scripted.model import Call, Turn

SHOP = "def total(prices):\n    return sum(prices[1:])\n"
REPAIRED = "def total(prices):\n    return sum(prices)\n"
PROJECT: Mapping[str, str] = {
    "shop.py": SHOP,
    "test_shop.py": """\
import unittest

from shop import total


class TotalTest(unittest.TestCase):
    def test_every_price_counts(self):
        self.assertEqual(total([1, 2, 3]), 6)
""",
}
PROMPT = "The test fails. Repair the cause."
RUN_TESTS = {"command": "set -o pipefail; python3 -B -m unittest -q 2>&1 | tail -n 1", "requires_approval": False}
EDIT = "------- SEARCH\n    return sum(prices[1:])\n=======\n    return sum(prices)\n+++++++ REPLACE"
TODOS = [{"text": "Repair the cause", "status": "completed"}]

TURNS = (
    Turn(
        thinking="I should see the code before I change it.",
        text="I read the code first.",
        calls=(Call("read_file", {"path": "shop.py"}, id="look"),),
        usage=Usage(input=900, output=40),
        cost=0.002,
        expect=PROMPT,
    ),
    Turn(
        text="Now the tests — *all* of them.",
        calls=(Call("execute_command", RUN_TESTS, id="before"),),
        usage=Usage(input=60, output=30, cache_read=900),
        cost=0.001,
        expect="return sum(prices[1:])",
    ),
    Turn(
        text="The first price is left out.",
        calls=(
            Call("replace_in_file", {"path": "shop.py", "diff": EDIT}, id="edit"),
            Call("execute_command", RUN_TESTS, id="after"),
        ),
        usage=Usage(input=70, output=90, cache_read=960),
        cost=0.002,
        expect=("FAILED (failures=1)", "exit code 1"),
    ),
    Turn(
        calls=(
            Call("update_todos", {"todos": TODOS}, id="todos"),
            Call("attempt_completion", {"result": "Every price counts now; the test passes."}, id="done"),
        ),
        usage=Usage(input=80, output=50, cache_read=1030),
        cost=0.001,
        expect=("OK", "exit code 0"),
    ),
)
