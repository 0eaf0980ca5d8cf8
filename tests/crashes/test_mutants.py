import pytest
from tests.crashes.mutants import MUTANTS, ROOT, is_seen


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_without_one_sync_or_order_a_test_fails(name: str):
    assert is_seen(MUTANTS[name])


@pytest.mark.parametrize("name", MUTANTS)
def test_what_is_taken_out_stands_in_the_sources_once(name: str):
    mutant = MUTANTS[name]
    assert (ROOT / "src" / "halocline" / mutant.file).read_text().count(mutant.old) == 1
