import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crashes.judge import logs_of

from halocline.protocol import events as ev
from halocline.protocol.state.reducer import fold_events
from halocline.store.blobs import DiskBlobs
from halocline.task.log import read_log

pytestmark = pytest.mark.slow
PUT = re.compile(r"sha256:[0-9a-f]{64}")


@pytest.fixture(scope="module")
def cuts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story's folder, with what a loss of power would have left at each moment."""
    folder = tmp_path_factory.mktemp("power")
    subprocess.run([sys.executable, "-m", "tests.crashes.power", str(folder)], check=True, timeout=120)
    return folder / "cut"


def left(cuts: Path) -> Iterator[tuple[DiskBlobs, list[ev.DurableEvent]]]:
    """The blobs and the events that are there after each cut but those before the task's first sync."""
    for cut in sorted(cuts.iterdir(), key=lambda path: (len(path.name), path.name)):
        for log in cut.glob("tasks/*/events.jsonl"):
            yield DiskBlobs(cut / "blobs"), list(read_log(log))


def named(events: list[ev.DurableEvent]) -> set[str]:
    changed = [event for event in events if isinstance(event, ev.FileChanged)]
    return {ref for event in changed for ref in (event.before, event.after) if ref}


def test_after_a_loss_of_power_every_log_loads_and_has_what_it_refers_to(cuts: Path):
    found = list(left(cuts))
    assert len(found) >= 8
    assert max(len(named(events)) for _, events in found) >= 6
    for blobs, events in found:
        assert fold_events(events).seq == len(events)
        for ref in named(events):
            blobs.get(ref)


def test_what_a_turn_did_survives_a_loss_of_power_after_it(cuts: Path):
    (log,) = logs_of(cuts.parent)
    ends = [event.seq for event in read_log(log) if isinstance(event, ev.TurnEnded)]
    kept = {events[-1].seq for _, events in left(cuts)}
    assert set(ends) <= kept
