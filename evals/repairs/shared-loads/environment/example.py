import asyncio

from cache import Cache


async def load(key):
    print("loading", key)
    await asyncio.sleep(0.1)
    return key.upper()


async def main():
    cache = Cache(load, 60)
    print(await asyncio.gather(*[cache.get("a") for _ in range(3)]))


asyncio.run(main())
