import subprocess
import time
from pathlib import Path

import pytest
from benchmarks.goals import GOALS
from benchmarks.parsing import FAMILIES, races, read_by_floor
from benchmarks.stamps import Stamps


def test_every_stream_is_read_to_its_end_by_floor_and_by_ours() -> None:
    for race in races():
        assert read_by_floor(race.data) > 2500
        assert race.read(race.data) > 2500


def test_there_is_a_race_and_a_goal_for_every_family_and_for_the_text_protocol() -> None:
    names = {f"parse_{name}" for name in (*FAMILIES, "text")}
    assert {f"parse_{race.name}" for race in races()} == names == {goal.figure for goal in GOALS} & names


def test_a_stream_that_is_cut_is_an_error_and_not_a_fast_reading() -> None:
    race = races()[0]
    with pytest.raises(Exception, match="ended the stream"):
        race.read(race.data[: len(race.data) // 2])


def test_two_writes_at_once_are_two_stamps(tmp_path: Path) -> None:
    with Stamps(tmp_path / "pipe") as stamps, open(tmp_path / "pipe", "wb", buffering=0) as pipe:
        pipe.write(b".\n.\n")
    assert len(stamps.times) == 2


@pytest.mark.process
def test_a_command_tells_when_it_began(tmp_path: Path) -> None:
    began = time.monotonic()
    with Stamps(tmp_path / "pipe") as stamps:
        for _ in range(3):
            subprocess.run(["bash", "-c", "echo . > pipe; sleep 0.01"], cwd=tmp_path, check=True)
    assert began < stamps.times[0] < stamps.times[1] < stamps.times[2] < time.monotonic()
    assert not (tmp_path / "pipe").exists()
