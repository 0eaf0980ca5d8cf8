"""Rides the story once, and loses the power each time the log was made safe: `python -m tests.crashes.power FOLDER`.

What the disk would hold then is left in FOLDER/cut/1, 2, …; what it held in the end is in FOLDER/home.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from tests.crashes.rider import SETTINGS, Person, Storied
from tests.crashes.story import PROJECT

from halocline.client import Client
from halocline.protocol import codec
from halocline.runtime.controller import Controller
from halocline.store.paths import Home
from halocline.testing.power import Disk


async def ride(folder: Path) -> None:
    home, numbers = folder / "home", count(1)

    def synced(path: Path) -> None:
        if path.name == codec.LOG_NAME:
            disk.cut(folder / "cut" / str(next(numbers)))

    disk = Disk(home, synced)
    disk.install()
    controller = Controller(Storied(Home.of({"HALOCLINE_HOME": str(home)}), SETTINGS, {}))
    client = Client(controller, "person")
    with open(folder / "shown", "wb") as shown:
        await Person(client, folder / "project", shown.fileno()).ride("")
    await client.close()
    disk.cut(folder / "cut" / "end")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for name, text in PROJECT.items():
        (place / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "project" / name).write_text(text)
    asyncio.run(ride(place))
