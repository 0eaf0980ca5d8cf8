import shutil

import pytest
from tests.policy.shell.scratch_world import Scratch
from tests.policy.shell.small_languages import LANGUAGES, find_faults
from tests.samples import choose

PROGRAMS = choose(1_000, 100)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap to run programs in")
def test_no_program_of_a_small_language_does_more_than_it_was_let_run_for(tmp_path):
    scratch = Scratch(tmp_path.resolve())
    ran, faults = find_faults(scratch, PROGRAMS, "halocline")
    scratch.close()
    assert faults == []
    assert set(ran) >= {*LANGUAGES, "sed -i"}
