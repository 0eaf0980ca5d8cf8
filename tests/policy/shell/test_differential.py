import os
import shutil

import pytest
from tests.policy.shell.differential import MODES, fault_of_reading, find_faults
from tests.policy.shell.scratch_world import Scratch

from halocline.hosts.shell.environment import clean_environment

PROGRAMS = int(os.environ.get("DIFFERENTIAL_PROGRAMS", "500"))
"""How many random programs are judged and run; `make differential` runs many more."""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="what is run is held by bubblewrap"),
]


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    world = Scratch(tmp_path.resolve())
    monkeypatch.setenv("HOME", world.environment["HOME"])
    yield world
    world.close()


def test_bash_touches_nothing_that_was_not_judged(scratch):
    outcome = find_faults(scratch, PROGRAMS, os.environ.get("DIFFERENTIAL_SEED", "halocline"))
    assert outcome.faults == []
    assert all(outcome.run[mode] > PROGRAMS / 20 for mode in MODES)


@pytest.mark.parametrize("traced", [False, True] if shutil.which("strace") else [False])
def test_each_way_to_touch_what_was_not_judged_is_seen(scratch, traced):
    texts = (
        *("cat .env >/dev/null", "wc -l < ../out/o.txt", "ls ..", "ls link/ ../out", "test -d . && read x < link"),
        *("touch new && /bin/rm new", "echo x > a.txt", "chmod 600 a.txt", "mv a.txt b.txt", "canary >/dev/null"),
        *("(sleep 0.2; /bin/rm a.txt) & true", "nohup setsid /bin/rm sub/c.txt & true", "kill -9 -1"),
    )
    environment = clean_environment(scratch.environment, str(scratch.workspace))
    runs = {text: scratch.run(text, environment, trace=traced) for text in texts}
    assert [text for text, run in runs.items() if not fault_of_reading(text, run, scratch)] == []
    fine = scratch.run("cat a.txt; ls; git status; find . -name x | wc -l", environment, trace=traced)
    assert "KEY b" in fine.said
    assert fault_of_reading("cat ls git find wc", fine, scratch) == ""


def test_no_program_breaks_the_box(scratch):
    deep = "for i in $(seq 300); do mkdir -m 700 dddddddddddddddddddd; cd dddddddddddddddddddd; done"
    texts = (
        deep,
        f"{deep}; cd; chmod -R 000 ~/../w",
        "chmod 000 ~ . .git",
        "printf 'x' > $'\\xff'; ln -s . loop",
    )
    for text in texts:
        run = scratch.run(text, scratch.environment)
        assert not run.broke
        assert run.changes
    assert scratch.run("ls", scratch.environment).said.split() == ["a.txt", "b.txt", "id.pem", "link", "src", "sub"]


def test_a_folder_that_is_opened_but_not_listed_is_no_fault(scratch):
    packed = scratch.run('gzip "$PWD"', scratch.environment)
    assert packed.opened == ()
    assert scratch.run("ls ..", scratch.environment).opened == (".",)


def test_a_trace_shows_what_no_watch_does(scratch):
    environment = clean_environment(scratch.environment, str(scratch.workspace))
    for text in ("cat /etc/hostname > /dev/null; env x=1 true", "/usr/bin/touch /dev/shm/x", "/bin/rm -f nothing"):
        run = scratch.run(text, environment, trace=True)
        assert (fault_of_reading(text, run, scratch) == "") is ("hostname" in text)
