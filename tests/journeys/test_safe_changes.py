import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from halocline.checkpoints.repository.access import place_store
from halocline.checkpoints.shadow_git import WAITS
from halocline.checkpoints.store.lock import hold_lock
from halocline.protocol import codec
from halocline.protocol.events import Noticed, ToolCallEnded, ToolCallStarted
from halocline.providers.scripted.model import Call, Turn

DONE = Turn(text="done")
DIFF = "------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE"
EDIT = Call("replace_in_file", {"path": "a.txt", "diff": DIFF}, id="edit")
WRITE = Call("execute_command", {"command": "echo three > a.txt"}, id="write")
DELETE = Call("execute_command", {"command": "rm a.txt"}, id="delete")
LOOK = Call("execute_command", {"command": "grep one a.txt"}, id="look")


@pytest.fixture
def syncs(journey, monkeypatch):
    """What each sync of the log found: the calls that had started and ended, and the file."""
    found: list[tuple[list[str], list[str], str]] = []
    sync = os.fdatasync

    def sync_slowly(file: int) -> None:
        log = Path(os.readlink(f"/proc/self/fd/{file}")).read_bytes()
        time.sleep(0.1)  # whatever does not wait for it goes on
        events = [codec.decode(line) for line in log.splitlines()]
        started = [event.call for event in events if isinstance(event, ToolCallStarted)]
        ended = [event.call for event in events if isinstance(event, ToolCallEnded)]
        found.append((started, ended, (journey.workspace / "a.txt").read_text()))
        sync(file)

    monkeypatch.setattr(os, "fdatasync", sync_slowly)
    journey.write("a.txt", "one\n")
    return found


@pytest.mark.parametrize("call", [EDIT, WRITE])
async def test_nothing_changes_before_its_call_is_on_the_disk(journey, syncs, call):
    await journey.run(Turn(calls=(call,)), DONE)
    first = next(seen for started, ended, seen in syncs if started == [call.id] and not ended)
    assert first == "one\n"
    assert (journey.workspace / "a.txt").read_text() != "one\n"


async def test_a_command_that_only_looks_does_not_wait_for_the_disk(journey, syncs):
    await journey.run(Turn(calls=(LOOK,)), DONE)
    assert journey.ends == [("look", "completed")]
    assert [started for started, ended, _ in syncs if started != ended] == []


async def test_a_command_that_deletes_runs_once_the_folder_s_first_checkpoint_is_saved(journey):
    journey.write("a.txt", "one\n")
    store = place_store(journey.home.checkpoints, journey.workspace)
    store.parent.mkdir(parents=True)
    with ExitStack() as held:
        # As another process does that saves all the time.
        held.enter_context(hold_lock(store.with_suffix(".lock"), time.monotonic() + 5, lambda: None))

        def answer(event):
            if isinstance(event, Noticed) and event.text == WAITS:
                assert (journey.workspace / "a.txt").exists()
                held.close()

        client = journey.client((Turn(calls=(DELETE,)), DONE), checkpoints_patience=0.2)
        await journey.open(client)
        await journey.prompt(client, answer=answer, after=0)
    assert not (journey.workspace / "a.txt").exists()
    await client.time.restore(journey.workspace, f"{journey.task}/1")
    assert (journey.workspace / "a.txt").read_text() == "one\n"
    await client.close()
