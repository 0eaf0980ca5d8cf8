from tests.architecture.test_names import ROOT
from tests.conftest import FULL, SAMPLES


def test_every_path_of_the_full_tier_is_there():
    assert [prefix for prefix in FULL + SAMPLES if not list(ROOT.glob(f"{prefix.rstrip('/')}*"))] == []


def test_a_sample_is_part_of_what_it_stands_for():
    assert [sample for sample in SAMPLES if not sample.startswith(FULL)] == []
