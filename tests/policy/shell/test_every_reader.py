import os

import pytest
from tests.policy.shell.every_reader import make_scratch, run_lines, sample_lines
from tests.samples import choose

PARTS = 4
"""Parts of the lines, so that several workers share them."""
LINES = int(os.environ.get("READER_LINES", choose(300, 40)))
"""How many lines with a path are judged, beside all that read whole folders."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("hides", [False, True], ids=["without-ignore-file", "with-ignore-file"])
def test_no_way_of_reading_shows_a_secret_or_a_hidden_file_unasked_in_any_mode(tmp_path, hides, part):
    scratch = make_scratch(tmp_path / "s", hides=hides)
    lines = sample_lines(scratch, LINES, os.environ.get("READER_SEED", "halocline"))
    count, leaks = run_lines(lines[part::PARTS], scratch)
    assert leaks == []
    assert count > LINES // (20 * PARTS)
