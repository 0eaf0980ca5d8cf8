import shutil

import pytest
from tests.policy.shell.promise import count_effects
from tests.samples import choose

COMMANDS = choose(1_000, 60)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap to run commands in")
def test_no_generated_command_has_an_effect_outside_the_promise_of_its_mode(tmp_path):
    (tmp_path / "free").mkdir()
    count = count_effects(tmp_path.resolve(), COMMANDS, "halocline")
    assert count.faults == []
    assert count.allowed["auto with a full sandbox"] > COMMANDS // 4
    assert count.allowed["ask"] > COMMANDS // 100
