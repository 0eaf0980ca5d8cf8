import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crashes.judge import is_fork, logs_of
from tests.crashes.power import DESTROYS
from tests.crashes.references import find_lost, list_blobs, list_checkpoints, read_newest

from halocline.protocol import events as ev
from halocline.protocol.state.reducer import fold_events
from halocline.task.log import read_log

pytestmark = pytest.mark.slow
DESTROYED = {"r1": "README.md", "r2": "a.txt", "r3": "deep/b.txt"}
"""A file that each command deletes first."""


@pytest.fixture(scope="module", params=["plain", "git"])
def cuts(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The story's folder, with what a loss of power would have left at each moment."""
    folder = tmp_path_factory.mktemp("power")
    words = [sys.executable, "-m", "tests.crashes.power", str(folder), request.param]
    subprocess.run(words, check=True, timeout=240)
    return folder / "cut"


def list_left(cuts: Path, *, forks: bool = False) -> Iterator[tuple[Path, list[ev.DurableEvent]]]:
    """The home and the task's or its forks' events that are there after each cut but those before the first sync."""
    for cut in sorted(cuts.iterdir(), key=lambda path: int(path.name.partition("-")[0])):
        for log in cut.glob("tasks/*/events.jsonl"):
            if is_fork(log) == forks:
                yield cut, list(read_log(log))


def test_after_a_loss_of_power_every_log_loads_and_has_all_that_it_refers_to(cuts: Path):
    found, forks = list(list_left(cuts)), list(list_left(cuts, forks=True))
    assert forks
    assert len(found) >= 8
    assert max(len(list_blobs(events)) for _, events in found) >= 6
    assert max(len(list_checkpoints(events)) for _, events in found) >= 6
    for home, events in (*found, *forks):
        assert fold_events(events).seq == len(events)
        assert find_lost(home, events) == [], home.name


def test_what_a_turn_did_survives_a_loss_of_power_after_it(cuts: Path):
    (log,) = logs_of(cuts.parent)
    ends = [event.seq for event in read_log(log) if isinstance(event, ev.TurnEnded)]
    kept = {events[-1].seq for _, events in list_left(cuts)}
    assert set(ends) <= kept


def test_what_a_person_is_asked_survives_a_loss_of_power_while_they_think(cuts: Path):
    asked = 0
    for home, events in list_left(cuts):
        _, _, request = home.name.partition("-asked-")
        kinds = (ev.ApprovalRequested, ev.QuestionAsked)
        if request:
            asked += 1
            assert request in {event.request for event in events if isinstance(event, kinds)}
    assert asked >= 5


@pytest.mark.parametrize("call", sorted(DESTROYS))
def test_what_a_command_destroys_is_on_the_disk_before_it_runs(cuts: Path, call: str):
    ((cut, events),) = (left for left in list_left(cuts) if left[0].name.endswith(f"-running-{call}"))
    assert call in [event.call for event in events if isinstance(event, ev.ToolCallStarted)]
    assert read_newest(cut, events[0].task)[DESTROYED[call]] in (b"# A project\n", b"a1\n", b"a2\n", b"b2\n")
