"""What a tool wrote to a file that no checkpoint holds can be taken back, too: the log refers to what was there."""

import pytest

from halocline.protocol import commands as cmd
from halocline.protocol.events import CheckpointRestored, TurnStarted
from halocline.providers.scripted.script import Call, Turn
from halocline.runtime.history import unsaved_edits


def write(path: str, content: str) -> Turn:
    return Turn(calls=(Call("write_to_file", {"path": path, "content": content}),))


def read(path: str) -> Turn:
    return Turn(calls=(Call("read_file", {"path": path}),))


@pytest.fixture
async def edited(journey):
    """A task that edited an ignored file twice, a secret and a saved file once, and made an ignored file."""
    journey.write(".gitignore", "*.local\n")
    for name in ("conf.local", ".env", "a.txt"):
        journey.write(name, "old\n")
    reads = [read(name) for name in ("conf.local", ".env", "a.txt")]
    edits = [write(name, "new\n") for name in ("conf.local", ".env", "a.txt", "made.local")]
    client = journey.client([*reads, *edits, write("conf.local", "newer\n"), Turn(text="done")])
    await journey.open(client)
    await journey.prompt(client, after=0)
    yield journey, client
    await client.close()


def held(journey) -> dict[str, str]:
    return {path.name: path.read_text() for path in journey.workspace.iterdir() if path.name != ".gitignore"}


OLD = {"conf.local": "old\n", ".env": "old\n", "a.txt": "old\n"}
NEW = {"conf.local": "newer\n", ".env": "new\n", "a.txt": "new\n", "made.local": "new\n"}


@pytest.mark.process
async def test_a_restore_takes_them_back_and_can_be_undone(edited) -> None:
    journey, client = edited
    first = f"{journey.task}/1"
    assert held(journey) == NEW
    plan = await client.time.plan(journey.workspace, first)
    assert ({*plan.overwrites}, plan.deletes) == ({*OLD}, ("made.local",))
    restored = await client.time.restore(journey.workspace, first)
    assert held(journey) == OLD
    assert {*restored.changed} == {*NEW}
    again = await client.time.restore(journey.workspace, restored.undo)
    assert held(journey) == NEW
    await client.time.restore(journey.workspace, again.undo)
    assert held(journey) == OLD
    assert not (await client.time.plan(journey.workspace, first)).changes


@pytest.mark.process
async def test_a_rewind_takes_them_back(edited) -> None:
    journey, client = edited
    await rewind(journey, client)
    assert held(journey) == OLD


@pytest.mark.process
async def test_what_something_else_wrote_since_stays_and_is_named(edited) -> None:
    journey, client = edited
    journey.write("conf.local", "a person's\n")
    restored = await client.time.restore(journey.workspace, f"{journey.task}/1")
    assert held(journey) == OLD | {"conf.local": "a person's\n"}
    assert [one.path for one in restored.left_out] == ["conf.local"]


async def restore(journey, client):
    await client.time.restore(journey.workspace, f"{journey.task}/1")


async def rewind(journey, client):
    start = next(event.seq for event in journey.logged if isinstance(event, TurnStarted))
    await client.time.go_back(cmd.GoBack(task=journey.task, to=start))


@pytest.mark.process
@pytest.mark.parametrize("go_back", [restore, rewind])
async def test_a_restore_whose_end_fails_is_told_as_what_it_did_and_by_nobody_later(
    edited, monkeypatch, go_back
) -> None:
    journey, client = edited
    monkeypatch.setattr(unsaved_edits, "planned_writes", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await go_back(journey, client)
    (told,) = [event for event in journey.logged if isinstance(event, CheckpointRestored)]
    assert told.changed == ("a.txt",)
    assert [*journey.home.root.rglob("made-*.json")] == []
