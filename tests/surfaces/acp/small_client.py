"""acp-client, written by hand without the SDK and without files of its own: run by the tests as a program."""

import asyncio
import json
import sys
from pathlib import Path

from acp_client import Agent


async def main(folder: str, *command: str) -> None:
    got = {"asked": [], "updates": [], "loaded": []}

    async def permit(request: dict) -> str | None:
        got["asked"].append(request["toolCall"]["title"])
        wanted = "reject_once" if "touch" in request["toolCall"]["title"] else "allow_once"
        return next(one["optionId"] for one in request["options"] if one["kind"] == wanted)

    first = Agent([*command], Path(folder), permission=permit)
    got["answers"] = [await first.ask("do it", on_update=got["updates"].append)]
    session = first.session
    begun = asyncio.Event()

    def look(update: dict) -> None:
        if update.get("status") == "in_progress":
            begun.set()

    waiting = asyncio.create_task(first.ask("wait", on_update=look))
    await begun.wait()
    first.cancel()
    got["answers"].append(await waiting)
    await first.stop()
    second = Agent([*command], Path(folder), permission=permit, session=session)
    await second.start(on_update=got["loaded"].append)
    got["same"] = second.session == session
    got["answers"].append(await second.ask("still there?"))
    await second.stop()
    sys.stdout.write(json.dumps(got))


asyncio.run(main(*sys.argv[1:]))
