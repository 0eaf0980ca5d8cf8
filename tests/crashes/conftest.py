import pytest

pytest.register_assert_rewrite("tests.crashes.judge", "tests.crashes.trial")


@pytest.fixture(scope="module")
def stable():
    from tests.crashes.trial import Stable  # once its asserts are rewritten

    stable = Stable()
    yield stable
    stable.close()
