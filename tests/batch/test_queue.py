"""The queue: what is in its log is so after any kill, and one process writes it."""

import os
import resource

import pytest

from halocline.batch.items import Item
from halocline.batch.queue import LOG_NAME, Ending, Outcome, Queue, read_queue
from halocline.protocol.errors import HaloclineError, UsageError

ITEMS = [Item("a", "p"), Item("b", "q")]
DONE = Outcome(Ending.PASSED, cost=0.5)


async def fill(folder):
    with Queue(folder) as queue:
        await queue.add(ITEMS)
        await queue.begin("a", "task-a")
        await queue.end("a", DONE)
        await queue.begin("b", "task-b")
        return queue.items


async def test_an_opened_queue_is_what_it_was_when_it_was_closed(tmp_path):
    before = await fill(tmp_path)
    with Queue(tmp_path) as queue:
        assert queue.items == before == read_queue(tmp_path)
        assert [one.task for one in before.values()] == ["task-a", "task-b"]
        await queue.add(ITEMS)
        await queue.repeat(["a", "b"])  # b has not ended
        assert queue.items["a"].name == "a.2"
        assert (queue.items["a"].task, queue.items["a"].outcome, queue.items["b"]) == ("", None, before["b"])
    assert read_queue(tmp_path) == queue.items


async def test_an_entry_that_was_cut_short_is_not_there_at_any_length(tmp_path):
    await fill(tmp_path)
    log = tmp_path / LOG_NAME
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    last = sum(map(len, lines[:-1]))
    for length in range(last, len(whole)):
        log.write_bytes(whole[:length])
        with Queue(tmp_path) as queue:
            assert queue.items["b"].task == ""
            await queue.begin("b", "again")
        assert read_queue(tmp_path)["b"].task == "again"


async def test_a_damaged_line_is_named(tmp_path):
    await fill(tmp_path)
    log = tmp_path / LOG_NAME
    log.write_bytes(log.read_bytes().replace(b'"begun"', b'"begun', 1))
    with pytest.raises(HaloclineError, match="Line 3 of"), Queue(tmp_path):
        pass


async def test_a_second_process_is_refused_and_named(tmp_path):
    with Queue(tmp_path), pytest.raises(UsageError, match="runs already") as error, Queue(tmp_path):
        pass
    assert str(os.getpid()) in error.value.text
    with Queue(tmp_path):
        pass


async def test_an_item_that_says_something_else_than_before_is_refused(tmp_path):
    await fill(tmp_path)
    with Queue(tmp_path) as queue, pytest.raises(UsageError, match="says something else there"):
        await queue.add([Item("c", "new"), Item("a", "other")])
    assert "c" not in read_queue(tmp_path)


async def test_what_cannot_be_written_whole_is_not_in_the_log(tmp_path):
    await fill(tmp_path)
    size = (tmp_path / LOG_NAME).stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Queue(tmp_path) as queue:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
        try:
            with pytest.raises(HaloclineError, match="cannot be written"):
                await queue.end("b", DONE)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert queue.items["b"].outcome is None
        await queue.end("b", DONE)
    assert read_queue(tmp_path)["b"].outcome == DONE


async def test_a_further_attempt_takes_the_name_of_no_other_item(tmp_path):
    with Queue(tmp_path) as queue:
        await queue.add([Item("a", "p"), Item("a.2", "q")])
        await queue.end("a", DONE)
        with pytest.raises(UsageError, match="that of another item"):
            await queue.repeat(["a"])
        await queue.end("a.2", DONE)
        await queue.repeat(["a.2"])
        with pytest.raises(UsageError, match="that of another item"):
            await queue.add([Item("a.2.2", "p")])
