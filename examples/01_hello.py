"""The smallest program: one prompt in the current folder, and its answer.

It uses the model that `halo login` set up; name another with model="provider/model".
"""

import asyncio

import halocline


async def main() -> None:
    done = await halocline.run("What is in this folder? Answer in one sentence.")
    print(done.text)
    print(f"{done.tokens.total} tokens, task {done.task}")


if __name__ == "__main__":
    asyncio.run(main())
