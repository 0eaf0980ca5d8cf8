"""Use a task's past: try two ways from one point, keep the better one, and take back the files of the other."""

import asyncio

import halocline


async def main() -> None:
    async with halocline.open(approval_mode="accept-edits") as task:
        await task.run("Read notes.txt.")
        here = task.state.seq
        short = await task.run("Shorten notes.txt.")
        print("short:", short.text)
        await task.rewind(here)
        long = await task.run("Expand notes.txt.")
        print("long:", long.text)
        print("restored:", *(await task.restore(here)).changed)
        print(task.export("markdown").count("## Prompt"), "prompts in the record")


if __name__ == "__main__":
    asyncio.run(main())
