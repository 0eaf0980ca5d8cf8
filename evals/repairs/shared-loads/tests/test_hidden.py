import asyncio
import unittest

from cache import Cache


class Source:
    """Loads that end when the test says so."""

    def __init__(self):
        self.loads = []
        self.cancelled = []

    async def load(self, key):
        future = asyncio.get_running_loop().create_future()
        self.loads.append((key, future))
        number = len(self.loads)
        try:
            return await future
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise

    def end(self, number, value):
        future = self.loads[number - 1][1]
        if isinstance(value, Exception):
            future.set_exception(value)
        else:
            future.set_result(value)


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


async def wait(awaited):
    """Return its result; what never ends is a failure."""
    return await asyncio.wait_for(awaited, 2)


class Loads(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.time = 100.0
        self.source = Source()
        self.cache = Cache(self.source.load, 10, lambda: self.time)

    async def ask(self, *keys):
        tasks = [asyncio.ensure_future(self.cache.get(key)) for key in keys]
        await settle()
        return tasks

    async def read(self, key):
        return await wait(self.cache.get(key))

    async def test_one_load_for_all_who_wait(self):
        tasks = await self.ask("a", "a", "b", "a")
        self.assertEqual([key for key, _ in self.source.loads], ["a", "b"])
        self.source.end(1, "A")
        self.source.end(2, "B")
        self.assertEqual(await wait(asyncio.gather(*tasks)), ["A", "A", "B", "A"])
        self.assertEqual(await self.read("a"), "A")
        self.assertEqual(len(self.source.loads), 2)

    async def test_the_lifetime_begins_with_the_end_of_the_load(self):
        (task,) = await self.ask("a")
        self.time = 150.0
        self.source.end(1, None)
        self.assertIsNone(await wait(task))
        self.time = 159.5
        self.assertIsNone(await self.read("a"))
        self.time = 160.0
        (task,) = await self.ask("a")
        self.assertEqual(len(self.source.loads), 2)
        self.source.end(2, "new")
        self.assertEqual(await wait(task), "new")

    async def test_a_failure_goes_to_all_and_is_not_kept(self):
        tasks = await self.ask("a", "a")
        self.source.end(1, OSError("down"))
        results = await wait(asyncio.gather(*tasks, return_exceptions=True))
        self.assertEqual([str(error) for error in results], ["down", "down"])
        (task,) = await self.ask("a")
        self.source.end(2, "A")
        self.assertEqual(await wait(task), "A")

    async def test_one_who_is_cancelled_does_not_matter_to_the_others(self):
        tasks = await self.ask("a", "a", "a")
        tasks[0].cancel()
        await settle()
        tasks[2].cancel()
        await settle()
        self.assertEqual(self.source.cancelled, [])
        self.source.end(1, "A")
        self.assertEqual(await wait(tasks[1]), "A")
        self.assertTrue(tasks[0].cancelled() and tasks[2].cancelled())
        self.assertEqual(await self.read("a"), "A")

    async def test_a_load_without_anyone_who_waits_is_cancelled(self):
        tasks = await self.ask("a", "a")
        for task in tasks:
            task.cancel()
        await settle()
        self.assertEqual(self.source.cancelled, [1])
        (task,) = await self.ask("a")
        self.assertEqual(len(self.source.loads), 2)
        self.source.end(2, "A")
        self.assertEqual(await wait(task), "A")

    async def test_one_who_asks_in_the_moment_of_the_cancelling_begins_a_new_load(self):
        (task,) = await self.ask("a")
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (other,) = await self.ask("a")
        self.assertEqual(len(self.source.loads), 2)
        self.source.end(2, "A")
        self.assertEqual(await wait(other), "A")

    async def test_what_is_forgotten_is_loaded_again(self):
        (first,) = await self.ask("a")
        self.cache.forget("a")
        (second,) = await self.ask("a")
        self.assertEqual(len(self.source.loads), 2)
        self.source.end(2, "new")
        self.assertEqual(await wait(second), "new")
        self.source.end(1, "old")
        self.assertEqual(await wait(first), "old")
        self.assertEqual(await self.read("a"), "new")
        self.cache.forget("a")
        self.cache.forget("never seen")
        (third,) = await self.ask("a")
        self.source.end(3, "newest")
        self.assertEqual(await wait(third), "newest")

    async def test_an_old_load_that_ends_is_not_kept(self):
        (first,) = await self.ask("a")
        self.cache.forget("a")
        self.source.end(1, "old")
        self.assertEqual(await wait(first), "old")
        (second,) = await self.ask("a")
        self.assertEqual(len(self.source.loads), 2)
        self.source.end(2, "new")
        self.assertEqual(await wait(second), "new")

    async def test_an_old_load_that_fails_leaves_the_new_one_alone(self):
        (first,) = await self.ask("a")
        self.cache.forget("a")
        (second,) = await self.ask("a")
        self.source.end(1, OSError("down"))
        with self.assertRaises(OSError):
            await wait(first)
        (third,) = await self.ask("a")
        self.assertEqual(len(self.source.loads), 2)
        self.source.end(2, "new")
        self.assertEqual(await wait(asyncio.gather(second, third)), ["new", "new"])


unittest.main()
