"""A task for each place where a file is no file: a process of its own, as it may hang. Prints what each one said.

Arguments: a folder, the kind of thing, and the places, from the workspace or (with ~/) from the home folder.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.journeys.conftest import Journey

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.sections import McpSettings

CALLS = (
    Call("read_file", {"path": "a.txt"}),
    Call("search_files", {"regex": "needle"}),
    Call("list_files", {"path": ".", "recursive": True}),
    Call("execute_command", {"command": "echo made > b.txt"}),
)
TRUSTED = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)


def make_special(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "link to a pipe":
            os.mkfifo(path.with_name(f"{path.name}.pipe"))
            path.symlink_to(f"{path.name}.pipe")
        case "link to a device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "socket":
            os.chdir(path.parent)  # the names of sockets are short
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(path.name)


async def told(folder: Path, kind: str, places: list[str]) -> dict[str, object]:
    folder.mkdir()
    own = folder / "own"
    os.environ["HOME"] = str(own)
    journey = Journey(folder)
    journey.env = {"HOME": str(own)}
    journey.write("a.txt", "needle\n")
    journey.write(".git/HEAD", "ref: refs/heads/main\n")
    for place in places:
        root, name = (own, place[2:]) if place.startswith("~/") else (journey.workspace, place)
        if place.startswith("~/.halocline/"):
            root, name = journey.home.root, place.removeprefix("~/.halocline/")
        make_special(kind, root / name)
    turns = [*(Turn(calls=(call,)) for call in CALLS), Turn(text="done")]
    client = journey.client(turns, memory=True, mcp=McpSettings(wait=0.1))
    remarks: list[str] = []
    try:
        await journey.open(client, TRUSTED)
        remarks += [*client.remarks(journey.task), *client.rule_problems(journey.workspace)]
        await journey.prompt(client, after=0)
    finally:
        await client.close()
    said = [event.text for event in journey.events if isinstance(event, ev.Noticed)]
    return {"ends": [status for _, status in journey.ends], "said": [*remarks, *said, *journey.results]}


def main(folder: str, kind: str, *places: str) -> None:
    alone = [[place] for place in places]
    for number, some in enumerate(alone if kind == "pipe" else layers(places)):
        say(some)
        say(asyncio.run(told(Path(folder, str(number)), kind, some)))


def layers(places: Sequence[str]) -> Iterator[list[str]]:
    """Those that can be there together: none lies in another one."""
    left = list(places)
    while left:
        some = [place for place in left if not any(place.startswith(f"{other}/") for other in left)]
        left = [place for place in left if place not in some]
        yield some


def say(value: object) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
