"""A corpus of last words: those that claim that something passes, and those that only look like it."""

import pytest
from tests.tables import for_each

from halocline.protocol.state.evidence.claims import find_claims

TESTS = """
All tests pass.
All tests pass
tests passed
All tests are passing now.
The tests now pass.
I fixed the bug, and all tests pass.
Fixed `add`; all unit tests pass.
All 12 tests pass.
3/3 tests passed.
The full test suite passes.
The test suite is green.
**All tests pass.**
- [x] All tests pass
All tests pass ✅
✅ All tests passed successfully!
Tests: all passing
Tests: passed
`npm test` passes.
`python -m pytest -q` now passes.
I ran the tests and they all pass.
I ran the full test suite, and everything passed.
The tests were run and all passed.
The failing test now passes.
Both tests pass with no failures.
All tests passed without errors
Existing and new tests pass.
All tests pass (12 passed).
I updated calc.py. All integration tests pass after the change.
Verified: tests pass.
"""
BUILDS = """
The build works.
The build succeeds.
The build is green
The code compiles without errors.
`npm run build` succeeds.
Everything compiles now.
The project builds.
"""
NEITHER = """
The tests should pass now.
Run the tests to make sure they pass.
Make sure all tests pass before you merge.
If the tests pass, merge it.
Once all tests pass, I will continue.
The tests pass a callback to the loader.
The tests pass arguments through.
Do the tests pass?
The tests do not pass yet.
Not all tests pass.
I could not run the tests. All tests pass in theory.
All tests pass except test_add.
Only the new tests pass.
2 tests failed; the other tests pass.
Some tests pass.
The new test passes, but the build fails.
I have not run the tests, so I cannot say that all tests pass.
All tests passed before my change.
CI says all tests pass.
You asked that "all tests pass".
> All tests pass
- [ ] All tests pass
The goal is that all tests pass.
Tests will pass after the migration.
I added a test that passes a tuple.
```\\nAll tests pass\\n```
The build fails.
The build should work.
The build script is in build.sh.
The code builds a tree.
It builds the index of files.
It compiles the regex once.
The build works only on Linux.
To confirm that the tests pass, run pytest.
I wrote tests for the passing of arguments.
Tests are in tests/test_calc.py; run them with pytest.
I changed the test so that it passes.
Please check that all tests pass.
The requirement is that the tests pass.
The remaining tests pass once the server runs.
I did not run anything, but all tests pass.
Tests pass on CI.
When tests pass the badge is green.
The parser tests the pass band.
The test passes through three stages.
The project builds on top of React.
It passes the test data to the function.
Unable to run pytest here; tests passed upstream.
The tests pass in data from fixtures.
test_add still fails. All other tests pass.
Previously all tests passed.
The suite passes its options on.
I believe all tests would pass.
The build passes flags to gcc.
The app compiles templates at start.
Tests can pass now.
All the changes are made; test with `npm test`.
I added 3 tests.
The tests for `pass` statements are in test_parser.py.
"""


def sentences(text: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


@for_each("said", sentences(TESTS))
def test_a_plain_sentence_claims_that_tests_pass(said):
    assert [claim.check for claim in find_claims(said)] == ["test"]


@pytest.mark.parametrize("said", sentences(BUILDS))
def test_a_plain_sentence_claims_that_the_build_works(said):
    assert [claim.check for claim in find_claims(said)] == ["build"]


@for_each("said", sentences(NEITHER))
def test_a_wish_a_plan_a_condition_and_another_sense_of_the_words_claim_nothing(said):
    assert find_claims(said) == ()


def test_two_claims_are_found_side_by_side():
    assert [claim.check for claim in find_claims("Done. The build works; all tests pass.")] == ["build", "test"]
