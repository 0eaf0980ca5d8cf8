"""What a command or a tool did to a file by its name comes back, also where links lead from there or to there."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.checkpoints.bench import contents

from halocline.providers.scripted.script import Call, Turn

KINDS = {
    "file": "name",
    "link": "name",
    "link to a folder": "name",
    "broken link": "name",
    "below a linked folder": "linked/name",
    "hard link": "name",
}
COMMANDS = [
    "rm -f {}",
    "unlink {}",
    "ln -s {} {}.new",
    "ln -sf other {}",
    "ln -sfn other {}",
    "mv {} {}.new",
    "cp -P {} {}.new",
    "sed -i s/old/new/ {}",
    "echo new > {}",
    "rm -f {}; echo new > {}.new",
]
PATCHES = {
    "delete": "*** Delete File: {}",
    "move": "*** Update File: {}\n*** Move to: {}.new\n@@\n-old\n+new",
}


def make_files(folder: Path, kind: str) -> None:
    (folder / "real").mkdir(parents=True)
    (folder / "real" / "below").write_text("old\n")
    (folder / "other").write_text("old\n")
    (folder / "witness").write_text("old\n")
    match kind:
        case "file":
            (folder / "name").write_text("old\n")
        case "link":
            (folder / "name").symlink_to("other")
        case "link to a folder":
            (folder / "name").symlink_to("real")
        case "broken link":
            (folder / "name").symlink_to("nothing")
        case "below a linked folder":
            (folder / "linked").symlink_to("real")
            (folder / "real" / "name").write_text("old\n")
        case "hard link":
            os.link(folder / "other", folder / "name")


def command_calls(form: str) -> Iterator[Call]:
    for kind, name in KINDS.items():
        place = f"'{kind}/{name}'"
        text = form.replace("{}.new", f"'{kind}/{name}.new'").replace("{}", place)
        yield Call("execute_command", {"command": f"{text}; echo new > '{kind}/witness'"})


def tool_calls(form: str) -> Iterator[Call]:
    for kind, name in KINDS.items():
        path = f"{kind}/{name}"
        yield Call("read_file", {"path": path})
        if form == "write":
            yield Call("write_to_file", {"path": path, "content": "new\n"})
        else:
            patch = PATCHES[form].replace("{}", path)
            yield Call("apply_patch", {"input": f"*** Begin Patch\n{patch}\n*** End Patch"})


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("form", [*COMMANDS, "write", *PATCHES])
async def test_every_form_of_a_name_comes_back(journey, form: str) -> None:
    for kind in KINDS:
        make_files(journey.workspace / kind, kind)
    before = contents(journey.workspace)
    calls = command_calls(form) if form in COMMANDS else tool_calls(form)
    client = journey.client([*(Turn(calls=(call,)) for call in calls), Turn(text="done")])
    try:
        await journey.open(client)
        await journey.prompt(client, after=0)
        assert contents(journey.workspace) != before
        await client.time.restore(journey.workspace, f"{journey.task}/1")
        assert contents(journey.workspace) == before
    finally:
        await client.close()


@pytest.mark.process
async def test_all_of_many_files_that_a_command_names_come_back(journey) -> None:
    names = [f"{number}.txt" for number in range(30)]
    for name in names:
        journey.write(name, "old\n")
    command = Call("execute_command", {"command": f"rm {' '.join(names)}"})
    client = journey.client([Turn(calls=(command,)), Turn(text="done")])
    try:
        await journey.open(client)
        await journey.prompt(client, after=0)
        assert contents(journey.workspace) == {}
        restored = await client.time.restore(journey.workspace, f"{journey.task}/1")
        assert sorted(restored.changed) == sorted(names)
    finally:
        await client.close()
