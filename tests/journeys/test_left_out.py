"""What a checkpoint left out is named by the restore that cannot bring it back, unless somebody else changed it."""

import pytest

from halocline.protocol.events import CheckpointRestored
from halocline.protocol.left_out import LeftOut
from halocline.providers.scripted.script import Call, Turn

IGNORED = "what .gitignore names is not saved"
LARGE = "files over 5,000 kB are not saved"
KIND = "files of such kinds over 256 kB are not saved"


def run(command: str) -> Turn:
    return Turn(calls=(Call("execute_command", {"command": command}),))


@pytest.fixture
def filled(journey):
    journey.write(".gitignore", "*.local\n/private/\n")
    for name in ("conf.local", "mine.local", "private/a", ".env", "a.txt", "node_modules/m/x.js", "__pycache__/a.pyc"):
        journey.write(name, "old\n")
    journey.write("big.txt", b"x" * 5_000_001)
    journey.write("big.bin", b"x" * 256_001)
    return journey


async def play(journey, *turns: Turn):
    client = journey.client([*turns, Turn(text="done")])
    await journey.open(client)
    await journey.prompt(client, after=0)
    return client


@pytest.mark.process
async def test_what_a_command_did_to_files_that_are_not_saved_is_named_with_the_reason(filled) -> None:
    client = await play(filled, run("rm -rf *; rm .env; echo new > conf.local; echo new > big.bin"))
    try:
        restored = await client.time.restore(filled.workspace, f"{filled.task}/1")
        assert restored.changed == ("a.txt",)
        assert {*restored.left_out} == {
            *(LeftOut(path, IGNORED) for path in ("conf.local", "mine.local", "private/")),
            LeftOut(".env", "secrets and hidden files are not saved"),
            LeftOut("big.txt", LARGE),
            LeftOut("big.bin", KIND),
            *(LeftOut(path, "dependencies and caches are not saved") for path in ("node_modules/", "__pycache__/")),
        }
        assert (filled.workspace / "big.bin").read_text() == "new\n"
        assert filled.logged[-1].left_out == restored.left_out
        assert isinstance(filled.logged[-1], CheckpointRestored)
    finally:
        await client.close()


@pytest.mark.process
async def test_what_a_person_changed_and_what_tools_wrote_again_is_not_named(filled) -> None:
    client = await play(filled, run("echo new > a.txt; echo new > __pycache__/a.pyc"))
    try:
        filled.write("mine.local", "new\n")
        (filled.workspace / "big.bin").unlink()
        plan = await client.time.plan(filled.workspace, f"{filled.task}/1")
        assert (plan.overwrites, plan.left_out) == (("a.txt",), ())
    finally:
        await client.close()


@pytest.mark.process
async def test_a_file_that_was_too_large_is_not_taken_for_one_that_the_task_made(filled) -> None:
    client = await play(filled, run("echo new > big.txt; echo new > made.txt"))
    try:
        plan = await client.time.plan(filled.workspace, f"{filled.task}/1")
        assert (plan.deletes, plan.left_out) == (("made.txt",), (LeftOut("big.txt", LARGE),))
    finally:
        await client.close()


@pytest.mark.process
async def test_a_large_file_that_the_task_made_is_named(filled) -> None:
    client = await play(filled, run("head -c 6000000 /dev/zero > made.txt"))
    try:
        plan = await client.time.plan(filled.workspace, f"{filled.task}/1")
        assert (plan.changes, plan.left_out) == (0, (LeftOut("made.txt", LARGE),))
    finally:
        await client.close()
