import os
import shutil

import pytest
from tests.policy.shell.differential import Scratch, find_faults

PROGRAMS = int(os.environ.get("DIFFERENTIAL_PROGRAMS", "200"))
"""How many random programs are judged and run; `make differential` runs many more."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="what is run is held by bubblewrap")
def test_bash_touches_nothing_that_was_not_judged(tmp_path, monkeypatch):
    scratch = Scratch(tmp_path)
    monkeypatch.setenv("HOME", scratch.environment["HOME"])
    outcome = find_faults(scratch, PROGRAMS, os.environ.get("DIFFERENTIAL_SEED", "halocline"))
    assert outcome.faults == []
    assert all(outcome.run[mode] > PROGRAMS / 20 for mode in outcome.run)
    assert len(outcome.run) == 3
