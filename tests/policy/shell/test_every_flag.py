import os

import pytest
from tests.policy.shell.canaries import Scratch
from tests.policy.shell.every_flag import SECRETS, SPECS, place, run_forms, sample_forms
from tests.samples import choose

from halocline.policy.shell.programs.specs import TYPES, read_letters, read_long_flags

FORMS = int(os.environ.get("FLAG_FORMS", choose(900, 300)))
"""How many forms are judged; those that are allowed are run."""


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path / "s", SECRETS)


@pytest.mark.slow
def test_no_allowed_flag_prints_a_canary_opens_one_outside_or_changes_a_file(scratch):
    count, leaks = run_forms(sample_forms(FORMS, os.environ.get("FLAG_SEED", "halocline")), scratch)
    assert leaks == []
    assert count > FORMS // 5


@pytest.mark.process
@pytest.mark.parametrize(
    "form", ["cat OUTSIDE", "wc -c OUTSIDE", "cat .env", "rev .env", "git show HEAD:.env", "touch z"]
)
def test_the_scratch_notices_a_form_that_leaks(scratch, form):
    text = place(form, scratch)
    assert {leak.form for leak in scratch.leaks(["ls", text, "cat a.txt"])} == {text}


@pytest.mark.process
@pytest.mark.parametrize(
    "form",
    [
        "git diff -U OUTSIDE a.txt",
        "git diff -U STATE/credentials a.txt",
        "column -t -n -s OUTSIDE",
        "od -An -c -w OUTSIDE",
        "git diff ../smb:share/doc a.txt",
        "git diff ~/Mail/cur/1:2,S a.txt",
    ],
)
def test_a_value_that_a_tool_takes_for_a_file_asks(scratch, form):
    assert scratch.judge(place(form, scratch)).verdict != "allow"


def test_every_value_in_the_tables_has_a_type():
    values = [
        value
        for spec in SPECS.values()
        for value in (*read_letters(spec.valued).values(), *read_long_flags(spec.words).values())
    ]
    kinds = {value.kind for value in values if value}
    assert {kind for kind in kinds if "|" not in kind} <= set(TYPES)


def test_every_short_flag_stands_in_one_list_only():
    twice = {name: set(spec.flags) & set(read_letters(spec.valued)) for name, spec in SPECS.items()}
    assert {name: letters for name, letters in twice.items() if letters} == {}
