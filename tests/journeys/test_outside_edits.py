"""Files that change behind the model's back, through whole tasks: named once, before the next request."""

import os

import pytest
from msgspec.structs import replace

from halocline.ports.blobs import blob_reference
from halocline.protocol import codec, events as ev
from halocline.protocol.events import FilesChangedOutside
from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.kinds import Mode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="done")


def read(id, path="a.txt"):
    return Call("read_file", {"path": path}, id=id)


def shell(id, command):
    return Call("execute_command", {"command": command, "requires_approval": False}, id=id)


def write(id, path, content):
    return Call("write_to_file", {"path": path, "content": content}, id=id)


def noted(journey) -> list[str]:
    return [part.text for event in journey.logged if isinstance(event, FilesChangedOutside) for part in event.content]


async def talk(journey, *turns, between, **settings):
    """Two prompts, and what happens between them."""
    client = journey.client(turns, **settings)
    await journey.open(client)
    await journey.prompt(client)
    between()
    await journey.prompt(client, "go on")
    await client.close()


async def test_a_file_that_somebody_changed_is_named_before_the_next_request_and_once(journey):
    file = journey.write("a.txt", "one\n")
    turns = (Turn(calls=(read("c1"),)), DONE, Turn(calls=(shell("c2", "true"),), expect="a.txt"), DONE)
    await talk(journey, *turns, between=lambda: file.write_text("two\n"))
    assert journey.kinds[:3] == ["TurnStarted", "FilesChangedOutside", "StepStarted"]
    (changed,) = journey.of(FilesChangedOutside)
    assert changed.files == (ChangedFile("a.txt", blob_reference(b"two\n")),)
    assert noted(journey) == [
        (
            "Changed by the user or another program since you last saw them: a.txt.\n"
            "Read a file again before you edit it or rely on it."
        )
    ]


@pytest.mark.parametrize("change", ["touch", "rewrite", "nothing"])
async def test_a_file_that_holds_the_same_is_not_named(journey, change):
    file = journey.write("a.txt", "one\n")

    def between():
        if change == "touch":
            os.utime(file, (1, 1))
        elif change == "rewrite":
            file.unlink()
            file.write_text("one\n")

    await talk(journey, Turn(calls=(read("c1"),)), DONE, DONE, between=between)
    assert noted(journey) == []


async def test_a_change_that_keeps_size_and_time_is_seen(journey):
    file = journey.write("a.txt", "one\n")
    found = file.stat()

    def between():
        file.write_text("two\n")
        os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))

    await talk(journey, Turn(calls=(read("c1"),)), DONE, DONE, between=between)
    assert len(noted(journey)) == 1


async def test_what_the_task_writes_itself_is_not_named(journey):
    journey.write("a.txt", "one\n")
    formatted = {"formatters": {"*.txt": "sed -i s/two/three/ {path}"}}
    turns = (Turn(calls=(read("c1"), write("c2", "a.txt", "two\n"))), Turn(calls=(read("c3"),)), DONE)
    await journey.run(*turns, **formatted)
    assert (journey.workspace / "a.txt").read_text() == "three\n"
    assert noted(journey) == []


async def test_what_a_command_changed_is_named_with_the_command(journey):
    journey.write("a.txt", "one\n")
    journey.write("b.txt", "one\n")
    turns = (Turn(calls=(read("c1"), read("c2", "b.txt"), shell("c3", "rm b.txt; echo two > a.txt"))), DONE)
    await journey.run(*turns)
    (note,) = noted(journey)
    assert note.startswith("Changed while `rm b.txt; echo two > a.txt` ran: a.txt, b.txt (deleted).\nRead a file again")
    assert [file.by for event in journey.of(FilesChangedOutside) for file in event.files] == [
        "rm b.txt; echo two > a.txt"
    ] * 2


async def test_what_somebody_changed_before_a_command_is_not_put_down_to_it(journey):
    file = journey.write("a.txt", "one\n")

    def answer(event):
        if isinstance(event, ev.StepStarted) and journey.events and len(journey.of(ev.StepStarted)) == 2:
            file.write_text("two\n")
        return

    turns = (Turn(calls=(read("c1"),)), Turn(calls=(shell("c2", "true"),), delay=0.05), DONE)
    await journey.run(*turns, answer=answer)
    assert [file.by for event in journey.of(FilesChangedOutside) for file in event.files] == [""]


async def test_what_the_person_took_back_is_said_to_be_that(journey):
    journey.write("b.txt", "one\n")
    client = journey.client((Turn(calls=(read("c1", "b.txt"), write("c2", "a.txt", "new\n"))), DONE, DONE))
    await journey.open(client)
    await journey.prompt(client)
    await client.time.restore(journey.workspace, f"{journey.task}/1")
    journey.write("b.txt", "two\n")
    await journey.prompt(client, "go on")
    await client.close()
    (note,) = noted(journey)
    assert note.splitlines()[:2] == [
        "Changed by the user or another program since you last saw them: b.txt.",
        "Changes taken back by the user, with /undo or another restore, since you last saw them: a.txt (deleted).",
    ]
    assert journey.state.files.known["a.txt"].stale


async def test_a_task_that_is_resumed_hears_what_changed_meanwhile(journey):
    file = journey.write("a.txt", "one\n")
    journey.write("same.txt", "one\n")
    turns = [Turn(calls=(read("c1"), read("c2", "same.txt"), write("c3", "new.txt", "x\n"))), DONE]
    turns += [Turn(text="ok", expect=("a.txt (deleted), new.txt", "Read a file again"))]
    await journey.run(*turns)
    file.unlink()
    journey.write("new.txt", "y\n")
    await journey.run(*turns, resume=journey.task)
    assert len(noted(journey)) == 1


async def test_at_most_twenty_names_are_said(journey):
    names = [f"{n:02}.txt" for n in range(25)]
    for name in names:
        journey.write(name, "one\n")
    turns = (Turn(calls=tuple(read(name, name) for name in names)), DONE, DONE)

    def between():
        for name in names:
            journey.write(name, "two\n")

    await talk(journey, *turns, between=between)
    assert f"{', '.join(names[:20])} and 5 more." in noted(journey)[0]
    assert len(journey.of(FilesChangedOutside)[0].files) == 25


async def test_a_file_that_is_hidden_by_now_is_not_named(journey):
    file = journey.write("a.txt", "one\n")
    # The rules are looked at with each call, so one of any kind makes the new ones known.
    client = journey.client([Turn(calls=(read("c1"),)), DONE, Turn(calls=(shell("c2", "true"),)), DONE])
    await journey.open(client)
    await journey.prompt(client)
    journey.write(".haloclineignore", "a.txt\n")
    await journey.prompt(client)
    file.write_text("two\n")
    await client.close()
    assert noted(journey) == []


async def test_a_whole_file_is_not_written_over_a_change_that_the_model_has_not_read(journey):
    file = journey.write("a.txt", "one\n")
    turns = (
        *(Turn(calls=(read("c1"),)), DONE),
        *(Turn(calls=(write("c2", "a.txt", "mine\n"),)), Turn(calls=(read("c3"),), expect="would discard")),
        *(Turn(calls=(write("c4", "a.txt", "both\n"),)), DONE),
    )
    await talk(journey, *turns, between=lambda: file.write_text("theirs\n"))
    assert journey.ends == [("c2", "failed"), ("c3", "completed"), ("c4", "completed")]
    assert file.read_text() == "both\n"


async def test_a_task_that_crashed_and_is_resumed_much_later_hears_how_long_it_rested(journey):
    turns = [Turn(calls=(read("c1"),)), DONE]
    turns += [Turn(text="ok", expect=("idle for 2 hours", "previous turn was interrupted", "Mode: plan"))]
    await journey.run(*turns)
    log = journey.home.log(journey.task)
    past = [codec.encode(replace(event, at=event.at - 7_300)) for event in journey.logged[:-1]]  # no end of the turn
    log.write_bytes(b"".join(line + b"\n" for line in past))
    await journey.run(*turns, resume=journey.task, options=TaskOptions(mode=Mode.PLAN))
    assert journey.state.last_message.text == "ok"


async def test_a_file_is_not_deleted_by_a_patch_after_a_change_that_the_model_has_not_read(journey):
    file = journey.write("a.txt", "one\n")
    patch = Call("apply_patch", {"input": "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"}, id="c2")
    turns = (Turn(calls=(read("c1"),)), DONE, Turn(calls=(patch,)), Turn(text="ok", expect="would discard"))
    await talk(journey, *turns, between=lambda: file.write_text("theirs\n"))
    assert journey.ends == [("c2", "failed")]
    assert file.read_text() == "theirs\n"
