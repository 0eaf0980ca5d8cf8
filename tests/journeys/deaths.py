"""A death without a process: the log of a task as it would be, had its process died right after an event."""

import shutil
from pathlib import Path

from tests.journeys.conftest import Journey

from halocline.protocol import codec, events as ev
from halocline.runtime.attach.owner_socket import SOCKET
from halocline.store.paths import Home


def dead_after(journey: Journey, kind: type[ev.DurableEvent], place: Path, after: int = 0) -> None:
    """The journey goes on with a copy of its home in which the log ends with the first such event after a number."""
    shutil.copytree(journey.home.root, place, symlinks=True, ignore=shutil.ignore_patterns(SOCKET))
    log = place / "tasks" / journey.task / codec.LOG_NAME
    kept: list[bytes] = []
    for line in log.read_bytes().splitlines(keepends=True):
        kept.append(line)
        event = codec.decode(line)
        if isinstance(event, kind) and event.seq > after:
            break
    log.write_bytes(b"".join(kept))
    journey.home = Home.of({"HALOCLINE_HOME": str(place)})
