"""Names of files that the model may not even see, kept out of what it is told before any call."""

from collections.abc import Callable
from pathlib import Path

from halocline.protocol.permission_rules import RuleBook, Verdict
from halocline.protocol.state.state import State
from halocline.task import calls


def make_name_hider(state: State, home: Path, book: RuleBook) -> Callable[[str], bool]:
    """Return the test of an absolute path. Where no rule hides any, the judge is not loaded for it."""
    if book.hides or any(rule.paths and rule.decision is not Verdict.ALLOW for rule in book.rules):
        return calls.policy_input.scope_of_reading(state, home, book).hides
    return _hide_nothing


def _hide_nothing(path: str) -> bool:
    return False
