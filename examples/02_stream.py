"""Watch a task while it works: its words as they come, its calls as they end, and what it cost."""

import asyncio

import halocline
from halocline import events


async def main() -> None:
    async with halocline.open() as task:
        async for event in task.stream("List the files here, then say what this project is."):
            match event:
                case events.TextDelta(text=text):
                    print(text, end="", flush=True)
                case events.ToolCallStarted(title=title):
                    print(f"\n  > {title}")
                case events.ToolCallEnded(status=status):
                    print(f"  < {status.value}")
        print()
        first = task.result
        second = await task.run("And in one word?")
        print(second.text, "after", (first.steps if first else 0) + second.steps, "requests")


if __name__ == "__main__":
    asyncio.run(main())
