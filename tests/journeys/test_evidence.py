"""Evidence of whole tasks, with real edits and commands; the same after they are opened again."""

from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.reducer import fold_events
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO)
TEST = """import unittest
from calc import add
class T(unittest.TestCase):
    def test_add(self): assert add(1, 2) == 3
"""
CLAIM = Turn(text="All tests pass.")


def write(text: str) -> Turn:
    return Turn(calls=(Call("write_to_file", {"path": "calc.py", "content": text}),))


def run(command: str = "PYTHONDONTWRITEBYTECODE=1 python3 -m unittest -q") -> Turn:
    """Run the tests; without bytecode, which may be taken for that of another text of the same second and size."""
    return Turn(calls=(Call("execute_command", {"command": command}),))


async def test_a_claim_over_a_failing_test_is_marked_and_after_a_resume_one_over_a_passing_test_is_not(journey):
    journey.write("test_calc.py", TEST)
    first = (write("add = int.__sub__\n"), run(), CLAIM)
    await journey.run(*first, options=YOLO)
    found = find_evidence(journey.state.evidence)
    assert found.not_confirmed == ("`python3 -m unittest -q` ended with exit 1",)
    assert found.failed_tests == ("test_add",)
    await journey.run(*first, write("add = int.__add__\n"), run(), CLAIM, options=YOLO, resume=journey.task)
    found = find_evidence(journey.state.evidence)
    assert (found.not_confirmed, found.not_checked, found.commands[0].end) == ((), (), "exit 0")


async def test_an_edit_after_the_tests_is_marked_and_the_log_alone_says_the_same(journey):
    journey.write("test_calc.py", TEST)
    await journey.run(write("add = int.__add__\n"), run(), write("add = int.__sub__\n"), CLAIM, options=YOLO)
    found = find_evidence(journey.state.evidence)
    assert found.not_confirmed == ("no test ran after the last edit",)
    assert find_evidence(fold_events(journey.logged).evidence) == found
