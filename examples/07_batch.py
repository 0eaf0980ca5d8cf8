"""Fix many folders at once, at most three at a time and for at most two dollars: python 07_batch.py FOLDER…"""

import asyncio
import sys

import halocline

PROMPT = "Make the tests of this project pass. Change as little as possible."


async def main(folders: list[str]) -> None:
    done = await halocline.run_all(
        [halocline.Job(PROMPT, folder=folder) for folder in folders],
        at_once=3,
        max_total_cost=2.0,
        max_steps=30,
        approval_mode="auto",
    )
    for folder, result in zip(folders, done, strict=True):
        said = f"failed: {result.error}" if result.error else f"{len(result.changes)} files, {result.text}"
        print(f"{folder}: {said}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["."]))
