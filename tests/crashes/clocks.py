"""Rides the story under a wall clock that jumps: `python -m tests.crashes.clocks FOLDER SECONDS`.

The clock is the machine's until the first command was run, and then so many seconds off. Before anything of ours is
imported the process is given that clock, as a person would who sets it.
"""

import sys
import time
from pathlib import Path

place, jump = Path(sys.argv[1]), float(sys.argv[2])
real = time.time


def jumping() -> float:
    return real() + jump * (place / "ran").exists()


def jumping_ns() -> int:
    return int(jumping() * 1e9)


if __name__ == "__main__":
    time.time, time.time_ns = jumping, jumping_ns

    import asyncio

    from msgspec.structs import replace
    from tests.crashes.rider import SETTINGS, Person, Storied
    from tests.crashes.story import PROJECT

    from halocline.client.tasks import Client
    from halocline.runtime.controller import Controller
    from halocline.store.paths import Home

    async def ride() -> None:
        settings = replace(SETTINGS, time_limit=120.0)
        home = Home.of({"HALOCLINE_HOME": str(place / "home")})
        client = Client(Controller(Storied(home, settings, {})), "person")
        with open(place / "shown", "wb") as shown:
            await Person(client, place / "project", shown.fileno()).ride("")
        await client.close()

    for name, text in PROJECT.items():
        (place / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "project" / name).write_text(text)
    asyncio.run(ride())
