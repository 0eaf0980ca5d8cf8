"""Get a value of your own type; an answer that does not fit goes back to the model."""

import asyncio
from dataclasses import dataclass

import halocline


@dataclass
class Bug:
    file: str
    line: int
    what: str


async def main() -> None:
    try:
        done = await halocline.run("Find the bugs in stats.py.", result=list[Bug], mode="plan")
    except halocline.TaskFailed as failed:
        raise SystemExit(f"{failed} {failed.hint}") from failed
    for bug in sorted(done.value, key=lambda bug: bug.line):
        print(f"{bug.file}:{bug.line}: {bug.what}")


if __name__ == "__main__":
    asyncio.run(main())
