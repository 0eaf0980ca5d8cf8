"""Rides the story once, and loses the power at each safe point: `python -m tests.crashes.power FOLDER [git] [alone]`.

What the disk would hold then is left in FOLDER/cut/N-WHY: each time the log was made safe, while a person is asked, and
while a command runs. What it held in the end is in FOLDER/home. With `git`, the project is a repository, whose objects
the checkpoints borrow; `alone` leaves the power on, and the commands wait until somebody else removes their flags.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from msgspec.structs import replace
from tests.crashes.disk import Disk
from tests.crashes.rider import SETTINGS, Person, Storied
from tests.crashes.story import PROJECT, TURNS

from halocline.client.tasks import Client
from halocline.ports.model import Model
from halocline.protocol import codec, events as ev
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.runtime.controller import Controller
from halocline.store.paths import Home

LONGEST = 20.0
"""Seconds that a safe point may take on a busy machine."""
DESTROYS = {"r1": "rm -f README.md", "r2": "rm -f a.txt", "r3": "rm -rf deep"}
"""What the commands do first. Nothing of it is left unless a checkpoint has it."""
_RUNS = "touch ../running-{id}; while [ -e ../running-{id} ]; do sleep 0.01; done; "


def _destroy_first(turn: Turn) -> Turn:
    """Let the turn's commands destroy something, once the power was lost while they run."""
    return replace(turn, calls=tuple(map(_lengthen, turn.calls)))


def _lengthen(call: Call) -> Call:
    command = call.arguments.get("command")
    if not isinstance(command, str) or call.id not in DESTROYS:
        return call
    text = f"{_RUNS.format(id=call.id)}{DESTROYS[call.id]}; {command}"
    return replace(call, arguments={**call.arguments, "command": text})


class Destroying(Storied):
    async def model(self, named: str) -> Model:
        return Scripted(tuple(map(_destroy_first, TURNS)), "scripted/story")


class Patient(Person):
    """A person who takes the power while they are asked, as soon as the question is safe."""

    disk: Disk
    place: Path
    numbers: "count[int]"

    async def before(self, event: ev.Event) -> None:
        if isinstance(event, (ev.ApprovalRequested, ev.QuestionAsked)):
            line = codec.encode(event) + b"\n"
            async with asyncio.timeout(LONGEST):
                while not any(line in held for held in self.disk.list_kept(codec.LOG_NAME)):
                    await asyncio.sleep(0.01)
            self.disk.cut(self.place / f"{next(self.numbers)}-asked-{event.request}")


@asynccontextmanager
async def losing_power(folder: Path, disk: Disk, numbers: "count[int]") -> AsyncIterator[None]:
    """Lose the power while a command runs, and let it go on then."""

    async def watch() -> None:
        while True:
            for flag in folder.glob("running-*"):
                disk.cut(folder / "cut" / f"{next(numbers)}-{flag.name}")
                flag.unlink()
            await asyncio.sleep(0.01)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


async def ride(folder: Path) -> None:
    home, numbers = folder / "home", count(1)

    def synced(path: Path) -> None:
        if path.name == codec.LOG_NAME:
            disk.cut(folder / "cut" / f"{next(numbers)}-log")

    disk = Disk(home, synced)
    disk.install()
    client = open_client(home)
    with open(folder / "shown", "wb") as shown:
        person = Patient(client, folder / "project", shown.fileno())
        person.disk, person.place, person.numbers = disk, folder / "cut", numbers
        async with losing_power(folder, disk, numbers):
            await person.ride("")
    disk.cut(folder / "cut" / f"{next(numbers)}-end")
    await client.close()


async def ride_alone(folder: Path) -> None:
    """Ride the story, with nobody who takes the power: what removes the flags of commands does that."""
    client = open_client(folder / "home")
    with open(os.devnull, "wb") as nowhere:
        await Person(client, folder / "project", nowhere.fileno()).ride("")
    await client.close()


def open_client(home: Path) -> Client:
    controller = Controller(Destroying(Home.of({"HALOCLINE_HOME": str(home)}), SETTINGS, {}))
    return Client(controller, "person")


def make_project(folder: Path, *, in_git: bool) -> None:
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if in_git:
        who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
            subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | who)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    make_project(place / "project", in_git="git" in sys.argv[2:])
    asyncio.run(ride_alone(place) if "alone" in sys.argv[2:] else ride(place))
