import pytest

pytest.register_assert_rewrite("tests.crashes.judge", "tests.crashes.trial", "tests.journeys.soundness")
