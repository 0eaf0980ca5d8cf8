"""The crash matrix: the story is killed at every write point and at random moments, and must come to its end.

A failure names its case; `CRASH_CASE='point 217 half 5' pytest tests/crashes` rides that one again.
"""

import os
import random
from pathlib import Path

import pytest
from tests.crashes.faults import Fault, FaultTime
from tests.crashes.trial import KILLED, Trial

from halocline.protocol.values import Value

RUNS, SAMPLE = 600, 25
REFUSALS, LONG_REFUSALS = 6, 120
EVENTS = 106
"""More than the story has."""
EXPLAINED = (
    "Cannot write the task's log",
    "Cannot open a task's log",
    "Cannot use",
    "The checkpoints cannot be used",
    "Nothing was restored: ",
)
MOST_KILLS = 4


class Case(Value, frozen=True):
    """Where the first process is killed (a share of its points, or of its time), and what luck the later ones have."""

    kind: str
    at: float
    moment: FaultTime
    seed: int

    def __str__(self) -> str:
        return f"{self.kind} {self.at:.4f} {self.moment} {self.seed}"


def cases(count: int) -> list[Case]:
    """Two of three at write points, evenly over all of them; the rest at random moments."""
    moments = tuple(FaultTime)
    made = []
    for number in range(count):
        luck = random.Random(number)
        kind = "time" if number % 3 == 2 else "point"
        at = luck.random() if kind == "time" else number / count
        made.append(Case(kind, at, luck.choice(moments), number))
    return made


def named(text: str) -> Case:
    kind, at, moment, seed = text.split()
    return Case(kind, float(at), FaultTime(moment), int(seed))


CHOSEN = [named(os.environ["CRASH_CASE"])] if os.environ.get("CRASH_CASE") else []


@pytest.fixture(scope="module")
def whole(stable, tmp_path_factory):
    """A ride that nobody disturbs: how many points it has, and how long it takes."""
    trial = Trial(stable, tmp_path_factory.mktemp("whole"))
    done = trial.ride()
    trial.finish()
    return done.points, done.seconds


def ride_and_be_killed(trial: Trial, case: Case, points: int, seconds: float) -> int:
    """Kill one process after the other by the case's luck, then let the story end. Gives how many were killed."""
    luck = random.Random(case.seed)
    kills, kind, at = 0, case.kind, case.at
    while kills < MOST_KILLS:
        if kind == "time":
            done = trial.ride(seconds=at * seconds)
        else:
            done = trial.ride(Fault(at=1 + int(at * points), moment=case.moment))
        if done.status != KILLED:
            break
        kills += 1
        if luck.random() < 0.5:
            break
        kind, at = luck.choice(["time", "point"]), luck.random() * 0.5
    trial.finish()
    return kills


@pytest.mark.parametrize("case", CHOSEN or cases(SAMPLE), ids=str)
def test_a_killed_task_loses_nothing_and_comes_to_its_end(stable, whole, tmp_path: Path, case):
    ride_and_be_killed(Trial(stable, tmp_path), case, *whole)


def refuse_by_luck(trial: Trial, seed: int, points: int) -> None:
    luck = random.Random(seed)
    point, error = 1 + luck.randrange(points), luck.choice(["ENOSPC", "EIO"])
    refuse_and_go_on(trial, Fault(point, error=error, lasting=luck.random() < 0.5))


def refuse_and_go_on(trial: Trial, fault: Fault) -> None:
    """From one point on, or only there, the disk takes nothing; then it does again."""
    done = trial.ride(fault)
    assert done.status == 0 or any(said in done.said for said in EXPLAINED), done.said
    assert ":  " not in done.said  # what could not be written has a name
    trial.finish()


@pytest.mark.parametrize("seed", range(REFUSALS))
def test_a_disk_that_takes_nothing_is_explained_and_loses_nothing(stable, whole, tmp_path: Path, seed):
    refuse_by_luck(Trial(stable, tmp_path), seed, whole[0])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(REFUSALS, LONG_REFUSALS))
def test_a_disk_that_takes_nothing_at_any_time_is_explained(stable, whole, tmp_path: Path, seed):
    refuse_by_luck(Trial(stable, tmp_path), seed, whole[0])


def refuse_event(trial: Trial, seq: int) -> None:
    """From the writing of an event on, the disk takes nothing."""
    refuse_and_go_on(trial, Fault(text=f'"seq":{seq},', error="EIO", lasting=True))


@pytest.mark.parametrize("seq", range(8, EVENTS, 24))
def test_an_event_that_cannot_be_written_lets_nothing_wait_for_ever(stable, tmp_path: Path, seq):
    refuse_event(Trial(stable, tmp_path), seq)


@pytest.mark.long
@pytest.mark.parametrize("seq", range(1, EVENTS))
def test_no_event_that_cannot_be_written_lets_anything_wait_for_ever(stable, tmp_path: Path, seq):
    refuse_event(Trial(stable, tmp_path), seq)


@pytest.mark.long
@pytest.mark.skipif(bool(CHOSEN), reason="one case was chosen")
@pytest.mark.parametrize("case", cases(RUNS), ids=str)
def test_a_task_that_is_killed_anywhere_loses_nothing_and_comes_to_its_end(stable, whole, tmp_path: Path, case):
    ride_and_be_killed(Trial(stable, tmp_path), case, *whole)
