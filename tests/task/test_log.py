import asyncio
import gc
import os
import subprocess
import sys
from contextlib import closing

import pytest

from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import LogDamaged, LogTooNew, TaskBusy
from halocline.protocol.events import LogRepaired, ModeChanged, ModelChanged, Noticed, TextDelta
from halocline.protocol.kinds import Mode
from halocline.task.lock import read_owner
from halocline.task.log import Log, LogUnwritable, follow_log, has_beginning, read_log
from halocline.task.stream import QUEUE_LIMIT, Stream


@pytest.fixture
def log(tmp_path):
    log = Log(tmp_path / "t", "t", clock=lambda: 5.0)
    yield log
    log.close()


def changed(n=0):
    return ModelChanged(model=f"m{n}")


def test_events_are_numbered_from_one_and_dated(log):
    first, second = log.append(changed()), log.append(changed())
    assert (first.seq, second.seq, first.at, first.task) == (1, 2, 5.0, "t")


def test_what_was_appended_is_on_disk_at_once(log):
    event = log.append(changed())
    assert list(read_log(log.path)) == [event]


def test_a_transient_event_is_never_written(log):
    log.show(Noticed("hello"))
    assert log.path.read_bytes() == b""


def test_a_torn_last_line_is_cut_and_the_cut_is_recorded(tmp_path):
    log = Log(tmp_path, "t")
    kept = log.append(changed())
    log.close()
    with open(log.path, "ab") as file:
        file.write(b'{"type":"mode_ch')
    log = Log(tmp_path, "t")
    events = log.load()
    assert events[0] == kept
    assert isinstance(events[1], LogRepaired)
    assert events[1].bytes_cut == 16
    assert list(read_log(log.path)) == events
    log.close()


def test_a_task_whose_start_was_cut_in_its_first_line_begins_again(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / LOG_NAME).write_bytes(b'{"type":"task_sta')
    assert not has_beginning(tmp_path / "t" / LOG_NAME)
    with closing(Log(tmp_path / "t", "t")) as log:
        first = log.append(changed())
    assert has_beginning(log.path)
    assert list(read_log(log.path)) == [first]


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(log):
    log.append(changed())
    with open(log.path, "ab") as file:
        file.write(b"garbage\n")
    log.append(changed())
    with pytest.raises(LogDamaged, match="line 2"):
        list(read_log(log.path))


def test_zeros_that_a_power_cut_left_at_the_end_are_cut(tmp_path):
    log = Log(tmp_path, "t")
    kept = log.append(changed())
    log.close()
    with open(log.path, "ab") as file:
        file.write(bytes(200_000))
    log = Log(tmp_path, "t")
    events = log.load()
    log.close()
    assert (events[0], events[1].bytes_cut) == (kept, 200_000)


@pytest.mark.parametrize("head", [b"garbage\n", bytes(100) + b"\n", b'{"type":"task_started"}\n', b"[1]\n"])
def test_a_head_that_cannot_be_read_is_an_error_and_the_log_is_left_alone(tmp_path, head):
    (tmp_path / LOG_NAME).write_bytes(head + b'{"type":"model_changed","model":"m","seq":2}\n')
    log = Log(tmp_path, "t")
    with pytest.raises(LogDamaged, match="line 1"):
        log.load()
    log.close()
    assert log.path.read_bytes().startswith(head)


def test_a_log_of_a_newer_format_is_refused_and_left_alone(tmp_path):
    line = b'{"type":"task_started","format":2,"place":"a field that this version does not know"}\n{"ty'
    (tmp_path / LOG_NAME).write_bytes(line)
    log = Log(tmp_path, "t")
    with pytest.raises(LogTooNew, match="format 2; this version reads up to format 1"):
        log.load()
    log.close()
    assert log.path.read_bytes() == line


def test_a_folder_that_takes_no_log_is_named(tmp_path):
    (tmp_path / "t").write_text("a file in the way")
    with pytest.raises(LogUnwritable, match="Cannot open a task's log"):
        Log(tmp_path / "t", "t")


def test_a_second_writer_is_refused_and_told_who_writes(log):
    with pytest.raises(TaskBusy, match=str(os.getpid())):
        Log(log.path.parent, "t")


def test_the_lock_names_the_writer_and_is_free_after_it(tmp_path):
    log = Log(tmp_path, "t")
    pid, token = read_owner(tmp_path).split()
    assert pid == str(os.getpid())
    assert token.isdecimal()
    log.close()
    assert read_owner(tmp_path) is None


@pytest.mark.process
def test_a_killed_writer_frees_the_lock_and_loses_nothing(tmp_path):
    program = (
        "import sys,os,signal;from pathlib import Path;from halocline.task.log import Log;"
        "from halocline.protocol.events import ModelChanged;"
        f"log=Log(Path({str(tmp_path)!r}),'t');"
        "[print(log.append(ModelChanged(model='m')).seq,flush=True) for _ in range(20)];"
        "os.kill(os.getpid(),signal.SIGKILL)"
    )
    shown = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False).stdout.split()
    log = Log(tmp_path, "t")
    assert [e.seq for e in log.load()] == [int(seq) for seq in shown] == list(range(1, 21))
    log.close()


async def test_what_another_process_wrote_is_told_only_after_what_came_before_it(log):
    heard = Stream(lambda after: read_log(log.path, after))
    first, second = log.append(changed(1)), log.append(changed(2))
    heard.seq = first.seq
    events = heard.events()
    assert await anext(events) == first
    heard.show(Noticed("between"))
    heard.seq = second.seq
    heard.show(second)
    assert [await anext(events), await anext(events)] == [Noticed("between"), second]


async def test_past_and_live_join_without_a_gap(log):
    for n in range(5):
        log.append(changed(n))
    seen = []

    async def listen():
        async for event in log.events(after=2):
            seen.append(event.seq)
            if len(seen) == 3:
                log.append(changed(6))
            if event.seq == 7:
                return

    listener = asyncio.create_task(listen())
    await asyncio.sleep(0)
    log.append(changed(7))
    await listener
    assert seen == [3, 4, 5, 6, 7]


async def test_a_reader_that_falls_behind_reads_the_disk_again_and_misses_no_durable_event(log):
    seen = []

    async def listen():
        async for event in log.events():
            if isinstance(event, ModelChanged):
                seen.append(event.seq)

    listener = asyncio.create_task(listen())
    await asyncio.sleep(0)
    for n in range(QUEUE_LIMIT * 2):
        log.append(changed(n))
    log.finish()
    await listener
    assert seen == list(range(1, QUEUE_LIMIT * 2 + 1))


async def test_neighbouring_deltas_join_for_a_slow_reader(log):
    events = log.events()
    waiting = asyncio.create_task(anext(events))
    await asyncio.sleep(0)
    for text in ("a", "b", "c"):
        log.show(TextDelta(text))
    assert await waiting == TextDelta("abc")
    await events.aclose()


async def test_a_message_that_begins_apart_does_not_join_the_one_before_it_for_a_slow_reader(log):
    events = log.events()
    waiting = asyncio.create_task(anext(events))
    await asyncio.sleep(0)
    for delta in (TextDelta("a"), TextDelta("b", apart=True), TextDelta("c")):
        log.show(delta)
    log.finish()
    assert [await waiting, *[event async for event in events]] == [TextDelta("a"), TextDelta("bc", apart=True)]


@pytest.mark.process
async def test_another_process_can_follow_a_log(tmp_path):
    program = (
        "import time;from pathlib import Path;from halocline.task.log import Log;"
        "from halocline.protocol.events import ModelChanged;"
        f"log=Log(Path({str(tmp_path)!r}),'t');log.append(ModelChanged(model='a'));input();"
        "log.append(ModelChanged(model='b'));input()"
    )
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE)
    while not ((tmp_path / LOG_NAME).exists() and list(read_log(tmp_path / LOG_NAME))):
        await asyncio.sleep(0.01)
    events = follow_log(tmp_path / LOG_NAME)
    assert (await anext(events)).model == "a"
    writer.stdin.write(b"\n")
    assert (await anext(events)).model == "b"
    await events.aclose()
    writer.stdin.write(b"\n")
    await writer.communicate()


@pytest.mark.process
def test_a_log_that_cannot_be_written_says_so_and_keeps_whole_lines(tmp_path):
    program = (
        "import resource;from pathlib import Path;from halocline.task.log import Log,LogUnwritable;"
        "from halocline.protocol.events import ModelChanged;import signal;"
        "signal.signal(signal.SIGXFSZ,signal.SIG_IGN);"
        f"log=Log(Path({str(tmp_path)!r}),'t');log.append(ModelChanged(model='m'));"
        "resource.setrlimit(resource.RLIMIT_FSIZE,(200,200))\n"
        "try: log.append(ModelChanged(model='m'*300))\n"
        "except LogUnwritable as error: print(error.hint)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "event 1 is safe" in done.stdout
    assert [e.seq for e in read_log(tmp_path / LOG_NAME)] == [1]


async def test_sync_is_done_once_for_what_is_new(log):
    log.append(ModeChanged(mode=Mode.PLAN))
    await log.sync()
    await log.sync()
    assert next(read_log(log.path)).mode is Mode.PLAN


async def test_what_events_refer_to_is_synced_ahead_of_the_next_sync(log):
    loop, begun = asyncio.get_running_loop(), asyncio.Event()
    log.refers_to(lambda: loop.call_soon_threadsafe(begun.set))
    log.sync_ahead()
    await begun.wait()
    assert log.seq == 0


async def test_a_failure_ahead_is_tried_again_by_the_next_sync(log):
    loop, tries, begun = asyncio.get_running_loop(), [], asyncio.Event()

    def fail_once():
        tries.append(len(tries))
        loop.call_soon_threadsafe(begun.set)
        if len(tries) == 1:
            raise OSError("the disk is full")

    log.refers_to(fail_once)
    log.append(changed())
    log.sync_ahead()
    await begun.wait()
    await log.sync()
    assert tries == [0, 1]


async def test_a_sync_that_comes_first_leaves_nothing_to_do_ahead(log):
    tries = []
    log.refers_to(lambda: tries.append(1))
    log.append(changed())
    log.sync_ahead()
    await log.sync()
    await asyncio.sleep(0.05)
    assert tries == [1]


@pytest.mark.parametrize("waits", [0, 0.02])
async def test_nothing_is_synced_ahead_of_a_log_that_is_closed_and_no_failure_is_left_behind(tmp_path, waits):
    loop, left, tries = asyncio.get_running_loop(), [], []
    loop.set_exception_handler(lambda loop, context: left.append(context["message"]))

    def fail():
        tries.append(1)
        raise OSError("the disk is full")

    log = Log(tmp_path / "t", "t")
    log.refers_to(fail)
    log.sync_ahead()
    await asyncio.sleep(waits)
    log.close()
    tried = len(tries)
    await asyncio.sleep(0.05)
    gc.collect()
    assert (len(tries), left) == (tried, [])


async def test_who_subscribes_after_the_end_is_told_of_it():
    stream, closed = Stream(lambda after: ()), asyncio.Event()

    class Late:
        def push(self, event):
            pass

        def close(self):
            closed.set()

    stream.finish()
    stream.attach(Late())
    assert closed.is_set()
