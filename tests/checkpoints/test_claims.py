import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.samples import choose

from halocline.checkpoints.changes.claims import FOR_EVER, NAME, Claims, trim_file

ROOT = Path("/project")
NAMES = (["a.py"], ["b.py"], ["a.py", "b.py"], None)


def write_some(claims: Claims, chance: random.Random, now: float) -> None:
    """One thing that a task records; some claims are never ended, and clocks jump a little."""
    paths, at = chance.choice(NAMES), now + chance.choice((0, 0, 0, -3)) + chance.random() / 2
    match chance.choice(("begin", "wrote", "end", "looked", "told")):
        case "begin":
            claims.begin(paths, at)
        case "wrote":
            claims.wrote("a.py", f"{chance.random()}", f"{chance.random()}")
        case "end":
            claims.end(paths)
        case "looked":
            claims.looked(at)
        case "told":
            claims.note_known(f"{now}")


def seen_by(claims: Claims, moment: float) -> tuple[object, ...]:
    return (claims.since(moment), claims.looks_of_others(moment), claims.last_look())


@pytest.mark.parametrize("seed", range(choose(30, 8)))
def test_a_long_lived_reader_sees_what_a_new_one_sees(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    writers = [Claims(tmp_path, ROOT, task) for task in ("t1", "t2", "t3")]
    moment = 0.0
    for step in range(300):
        write_some(chance.choice(writers), chance, 1000.0 + step)
        if chance.random() < 0.2:
            moment = chance.choice((moment, moment, 990.0 + step, 900.0 + step / 2))
            assert seen_by(writers[0], moment) == seen_by(Claims(tmp_path, ROOT, "t1"), moment)


def test_a_reader_begins_again_when_the_file_was_trimmed(tmp_path: Path) -> None:
    ours = Claims(tmp_path, ROOT, "t1")
    for step in range(40):
        ours.begin(["a.py"], 1000.0 + step)
        ours.end(["a.py"])
        ours.looked(1000.0 + step)
        trim_file(tmp_path, 1000)
        assert seen_by(ours, 1000.0 + step) == seen_by(Claims(tmp_path, ROOT, "t1"), 1000.0 + step)


def test_a_line_that_is_being_written_is_read_once_it_is_whole(tmp_path: Path) -> None:
    ours, theirs = Claims(tmp_path, ROOT, "t1"), Claims(tmp_path, ROOT, "t2")
    theirs.looked(1001.0)
    file = tmp_path / "claims"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert ours.looks_of_others(0.0) == []
    with file.open("ab") as rest:
        rest.write(whole[len(whole) // 2 :])
    assert ours.looks_of_others(0.0) == [1001.0]


def test_what_the_disk_refuses_is_written_with_the_next_line(tmp_path: Path) -> None:
    claims = Claims(tmp_path, ROOT, "t1")
    claims.begin(["a.py"], 1000.0)
    (tmp_path / NAME).rename(tmp_path / "aside")
    (tmp_path / NAME).mkdir()
    claims.wrote("a.py", "old", "new")
    (tmp_path / NAME).rmdir()
    (tmp_path / "aside").rename(tmp_path / NAME)
    assert [claim.wrote for claim in claims.since(0.0)] == [()]
    claims.end(["a.py"])
    (claim,) = Claims(tmp_path, ROOT, "t2").since(0.0)
    assert claim.wrote == ((b"/project/a.py", "old", "new"),)


DIES = """
import os, sys
from pathlib import Path
from halocline.checkpoints.changes.claims import Claims
claims = Claims(Path(sys.argv[1]), Path("/project"), "t1")
claims.kept(b"a.py", None, 1000.0)
claims.begin(["a.py"], 1000.0)
"""


@pytest.fixture
def reused(tmp_path: Path) -> Path:
    """The folder of claims of a process that died, and whose number another one has got."""
    subprocess.run([sys.executable, "-c", DIES, str(tmp_path)], check=True)
    lines = (tmp_path / NAME).read_text()
    (tmp_path / NAME).write_text(re.sub(r'"pid":\d+', f'"pid":{os.getppid()}', lines))
    return tmp_path


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")
def test_what_a_dead_process_kept_is_found_though_another_one_has_its_number(reused: Path) -> None:
    assert Claims(reused, ROOT, "t1").read_unsaved() == {b"a.py": None}


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")
def test_a_claim_ends_with_its_process_though_another_one_has_its_number(reused: Path) -> None:
    (claim,) = Claims(reused, ROOT, "t2").since(0.0)
    assert claim.is_cut
    assert claim.until < FOR_EVER


@pytest.mark.parametrize(
    ("theirs", "path"),
    [("/", "project/a.py"), ("/project/inner", "a.py"), ('/project/q"\\\n', "a.py"), ("/other", "../project/a.py")],
)
def test_what_another_task_did_in_the_folder_is_seen_wherever_it_works(tmp_path: Path, theirs: str, path: str) -> None:
    ours = Claims(tmp_path, ROOT, "t1")
    Claims(tmp_path, Path(theirs), "t2").begin([os.path.normpath(os.path.join(theirs, path))], 1000.0)
    assert [claim.task for claim in ours.since(0.0) if claim.concerns(os.fsencode(ROOT))] == ["t2"]


@pytest.mark.parametrize("theirs", ["/project", "/project/inner", "/"])
def test_a_command_of_another_task_around_the_folder_is_seen(tmp_path: Path, theirs: str) -> None:
    ours = Claims(tmp_path, ROOT / "inner", "t1")
    Claims(tmp_path, Path(theirs), "t2").begin(None, 1000.0, ran=True)
    assert [claim.task for claim in ours.since(0.0) if claim.concerns(os.fsencode(ROOT / "inner"))] == ["t2"]


def test_what_tasks_do_in_other_folders_is_not_even_decoded(tmp_path: Path) -> None:
    ours = Claims(tmp_path, ROOT, "t1")
    for number in range(10):
        theirs = Claims(tmp_path, Path(f"/project{number}"), f"t1{number}")
        theirs.begin(["a.py"], 1000.0)
        theirs.looked(1000.0)
    assert ours.since(0.0) == []


def test_what_the_task_did_in_another_folder_is_seen(tmp_path: Path) -> None:
    Claims(tmp_path, Path("/other"), "t1").begin(["a.py"], 1000.0)
    assert [claim.root for claim in Claims(tmp_path, ROOT, "t1").since(0.0)] == [b"/other"]
