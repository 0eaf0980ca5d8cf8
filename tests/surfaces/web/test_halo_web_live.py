"""What a page sees of tasks while they go on: from here, from a terminal, once, again, and after something broke."""

import asyncio
import json
import resource
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.samples import choose
from tests.surfaces.cli.halo_process import Halo, call, ended, shell, until_written
from tests.surfaces.web.page import Page, page, serving
from tests.surfaces.web.task_copy import TaskCopy
from websockets.exceptions import ConnectionClosed

from halocline.surfaces.cli.plain.line_menu import CHOICE
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.web.task_view.view import MOST_ROWS
from halocline.task.log import read_log

HI = {"text": "Hello."}
RISKY = {"call": [shell("touch made", risky=True)]}
FOR_EVER = {"call": [shell("echo began > began; sleep 1000")]}
WAITS = {"call": [shell("echo began > began; while [ ! -e go ]; do sleep 0.05; done")]}
SLOWLY = {"text": "One two three four five six seven eight nine ten.", "pace": 0.02, "chunk": 3}


async def test_what_is_said_twice_is_done_once_also_after_a_lost_connection(halo: Halo) -> None:
    begin = {
        "workspace": str(halo.folder),
        "content": [{"type": "text", "text": "hi"}],
        "model": halo.script(HI, {"text": "Again."}),
    }
    async with serving(halo) as server:
        async with page(server) as one:
            await one.say("begin", id="b", **begin)
            first = await one.until(lambda frame: frame.get("id") == "b")
            await one.turn(first["value"])
        async with page(server) as two:
            again = await two.answer("begin", id="b", **begin)
            task = again["value"]
            prompt = {"type": "submit_prompt", "task": task, "content": [{"type": "text", "text": "more"}]}
            answers = [await two.answer("command", id="p", command=prompt) for _ in range(3)]
            await two.say("watch", task=task)
            await two.ended(task, 2)
    assert task == first["value"]
    assert [answer["value"] for answer in answers] == [True] * 3
    assert [event["type"] for event in log(halo, task)].count("turn_started") == 2


async def test_a_long_task_opens_from_its_last_rows_and_older_ones_come_when_asked_for(halo: Halo) -> None:
    await halo.run("run", "-m", halo.script(HI), "hi")
    (task,) = halo.tasks
    lines = path(halo, task).read_bytes().splitlines()
    failed = {"type": "checkpoint_failed", "at": 1.0, "task": task, "text": "x" * 100}
    more = [json.dumps(failed | {"seq": len(lines) + number}).encode() for number in range(1, 2_001)]
    path(halo, task).write_bytes(b"\n".join([*lines, *more]) + b"\n")
    rows = [json.loads(msgspec.json.encode(row)) for row in rows_of(read_log(path(halo, task)))]
    async with serving(halo) as server, page(server) as one:
        await one.say("watch", task=task)
        await one.until(lambda frame: frame["type"] == "task_changed")
        copy = one.tasks[task]
        first, shown = copy.first, copy.rows[copy.first :]
        await one.say("show_rows", task=task, first=0, until=first)
        await one.until(lambda _: copy.first == 0)
    assert (first, shown) == (len(rows) - MOST_ROWS, rows[-MOST_ROWS:])
    assert copy.rows == rows
    assert copy.facts["prompts"][0]["text"] == "hi"


async def test_pages_share_one_view_and_one_that_comes_back_gets_only_what_changed(halo: Halo) -> None:
    await halo.run("run", "-m", halo.script(HI), "hi")
    (task,) = halo.tasks
    async with serving(halo) as server:
        session = await server.session()
        async with page(server, session) as one, page(server, session) as two:
            for each in (one, two):
                await each.say("watch", task=task)
                await each.ended(task)
        renamed = await halo.run("tasks", "rename", task, "Another name")
        async with page(server, session) as again:
            again.tasks[task] = one.tasks[task]
            await again.say("watch", task=task, **one.tasks[task].known())
            await again.facts(task, lambda now: now["name"] == "Another name")
    assert renamed.code == 0
    assert one.tasks[task].view == two.tasks[task].view
    changes = [frame for frame in again.frames if frame["type"] == "task_changed"]
    assert not any(frame.get("is_new") or frame.get("rows") for frame in changes)


async def test_a_task_that_is_only_looked_at_is_not_opened(halo: Halo) -> None:
    await halo.run("run", "-m", halo.script(HI), "hi")
    (task,) = halo.tasks
    async with serving(halo) as server, page(server) as one:
        await one.say("watch", task=task)
        await one.ended(task)
        facts = await one.ask("task", task=task)
        renamed = await halo.run("tasks", "rename", task, "Another name")
        label = await one.facts(task, lambda now: now["name"])
    assert (facts["writer"], facts["is_open"]) == ("", False)
    assert renamed.code == 0
    assert label["name"] == "Another name"


async def test_one_page_decides_and_the_other_sees_who(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one, page(server) as two:
        task = await one.begin(halo, "go", model=halo.script(RISKY, HI))
        for each in (one, two):
            await each.say("watch", task=task)
        asked = [await each.asked(task) for each in (one, two)]
        await two.command("resolve_approval", task, request=asked[1]["request"], decision="allow_once")
        resolved = await one.decided(task)
        late = await one.command("resolve_approval", task, request=asked[0]["request"], decision="reject_once")
        await one.ended(task)
    names = [each.frames[0]["client"] for each in (one, two)]
    assert names[0] != names[1]
    assert "asks" in [frame["tasks"].get(task) for frame in one.frames if frame["type"] == "board"]
    assert resolved["client"] == names[1]
    assert late is False
    assert (halo.folder / "made").exists()


async def test_a_page_answers_what_a_task_in_a_terminal_asks(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        terminal = halo.terminal("-m", halo.script(RISKY, HI), "go")
        await asyncio.to_thread(terminal.expect, "touch made")
        (task,) = halo.tasks
        await one.say("watch", task=task)
        asked = await one.asked(task)
        await one.command("resolve_approval", task, request=asked["request"], decision="allow_once")
        await one.ended(task)
        await asyncio.to_thread(terminal.expect, "Hello")
        terminal.close(force=True)
    assert (halo.folder / "made").exists()


async def test_a_task_goes_on_here_when_its_terminal_dies_while_it_asks(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        terminal = halo.terminal("-m", halo.script(RISKY, HI), "go")
        await asyncio.to_thread(terminal.expect, "touch made")
        (task,) = halo.tasks
        await one.say("watch", task=task)
        first = await one.asked(task)
        terminal.kill(signal.SIGKILL)
        again = await one.asked(task, first["request"])
        await one.command("resolve_approval", task, request=again["request"], decision="allow_once")
        end = await one.ended(task)
        facts = await one.ask("task", task=task)
        terminal.close(force=True)
    assert end["reason"] == "end_turn"
    assert facts["writer"] == str(server.process.pid)


async def test_a_task_that_was_only_looked_at_is_nobodys_when_its_terminal_ends(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        running = await halo.start("run", "-m", halo.script(WAITS, HI), "--approval-mode", "yolo", "go")
        await until_written(halo.folder / "began")
        (task,) = halo.tasks
        await one.say("watch", task=task)
        await one.facts(task, lambda now: now["tool"])
        (halo.folder / "go").touch()
        await one.ended(task)
        await ended(running)
        done = await halo.run("run", "-r", task, "-m", halo.script(HI, HI, HI, name="later"), "again")
        assert done.code == 0, done.err
        await one.ended(task, 2)


async def test_a_terminal_attaches_to_a_task_of_a_page_and_both_see_the_same(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "go", model=halo.script(RISKY, HI))
        await one.say("watch", task=task)
        await one.asked(task)
        terminal = halo.terminal("attach", task)
        await asyncio.to_thread(terminal.expect, CHOICE)
        terminal.send("y\r")
        resolved = await one.decided(task)
        await one.ended(task)
        await asyncio.to_thread(terminal.expect, "Hello")
        terminal.close(force=True)
    assert resolved["decision"] == "allow_once"
    assert not resolved["client"].startswith("web")


async def test_what_cannot_be_read_is_refused_and_says_why(halo: Halo) -> None:
    model = halo.script(HI)
    for _ in range(2):
        await halo.run("run", "-m", model, "hi")
    damaged, newer = halo.tasks
    file = path(halo, damaged)
    file.write_bytes(b"\n".join([b"{]", *file.read_bytes().split(b"\n")[1:]]))
    file = path(halo, newer)
    file.write_bytes(file.read_bytes().replace(b'"type":"task_started"', b'"type":"task_started","format":99', 1))
    async with serving(halo) as server, page(server) as one:
        codes = []
        for task in ("nothing", damaged, newer):
            await one.say("watch", task=task)
            codes.append((await one.until(lambda frame: frame["type"] == "refused"))["code"])
        assert await one.ask("tasks") is not None
    assert codes == ["task_not_found", "log_damaged", "log_too_new"]


async def test_a_task_whose_log_cannot_be_written_says_so_and_the_server_goes_on(halo: Halo) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    async with serving(halo, preexec_fn=small_files) as server, page(server) as one, page(server) as two:
        model = halo.script(HI, HI)
        task = await one.begin(halo, "hi", model=model)
        await one.turn(task)
        await two.say("watch", task=task)
        await two.ended(task)
        await one.command("submit_prompt", task, content=[{"type": "text", "text": "a" * 500_000}])
        broke = [await each.until(lambda frame: frame["type"] == "refused") for each in (one, two)]
        other = await one.begin(halo, "hi", model=model)
        await one.turn(other)
    for frame in broke:
        assert (frame["id"], frame["code"]) == (f"watch {task}", "log_unwritable")
    assert log(halo, other)[-1]["type"] == "turn_ended"


async def test_a_model_that_cannot_be_used_is_refused_in_words(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        content = [{"type": "text", "text": "hi"}]
        unknown = await one.answer("begin", workspace=str(halo.folder), content=content, model="nobody/x")
        keyless = await one.answer("begin", workspace=str(halo.folder), content=content, model="openai/x")
        nowhere = await one.answer("begin", workspace="/nowhere", content=content)
    assert {frame["type"] for frame in (unknown, keyless, nowhere)} == {"refused"}
    assert all(frame["text"] and frame["hint"] for frame in (unknown, keyless, nowhere))
    assert halo.tasks == []


async def test_long_texts_are_cut_for_the_page_and_told_whole_when_asked_for(halo: Halo) -> None:
    text = "0123456789" * 20_000
    script = halo.script({"call": [call("write_to_file", path="a.txt", content=text)]}, HI)
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "write", model=script, approval_mode="yolo")
        await one.turn(task)
        (told,) = one.tasks[task].of("call_row")
        largest = max(len(json.dumps(frame)) for frame in one.frames)
        (cut,) = one.tasks[task].cut.values()
        of_event = await one.ask("row", task=task, seq=cut["seq"], nth=cut["nth"])
        whole = await one.ask("row", task=task, call=told["call"])
    assert cut["cut"] == ["arguments"]
    assert largest < 2**17
    assert (whole["arguments"]["content"], whole["call"]) == (text, of_event["call"])
    assert "a.txt" in whole["output"]


async def test_ctrl_c_lets_a_turn_come_to_its_end(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "go", model=halo.script(FOR_EVER), approval_mode="yolo")
        await until_written(halo.folder / "began")
        server.process.send_signal(signal.SIGINT)
        done = await ended(server.process)
    assert done.code == 0
    assert "turn_ended" in [event["type"] for event in log(halo, task)]
    assert "Traceback" not in done.err


async def test_a_second_ctrl_c_does_not_wait(halo: Halo) -> None:
    stubborn = {"call": [shell("trap '' INT TERM; echo began > began; sleep 1000 & wait; sleep 1000")]}
    async with serving(halo) as server, page(server) as one:
        await one.begin(halo, "go", model=halo.script(stubborn), approval_mode="yolo")
        await until_written(halo.folder / "began")
        server.process.send_signal(signal.SIGINT)
        assert server.process.stderr
        assert b"Stopping" in await server.process.stderr.readline()
        server.process.send_signal(signal.SIGINT)
        done = await ended(server.process)
    assert done.code in (0, 130)


async def test_a_port_that_is_taken_is_named_and_another_server_takes_another(halo: Halo) -> None:
    async with serving(halo) as server:
        taken = await halo.run("web", "--no-open", "--port", server.host.partition(":")[2])
        async with serving(halo) as second, page(server) as one, page(second) as two:
            task = await one.begin(halo, "hi", model=halo.script(HI, HI))
            await one.turn(task)
            await two.say("watch", task=task)
            await two.ended(task)
            assert await two.command("submit_prompt", task, content=[{"type": "text", "text": "more"}])
            await one.ended(task, 2)
    assert (taken.code, "Address already in use" in taken.err) == (2, True)


async def test_settings_that_are_wrong_are_named_and_begin_nothing(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        (halo.home / "settings.toml").write_text("nonsense = 1\n")
        content = [{"type": "text", "text": "hi"}]
        refused = await one.answer("begin", workspace=str(halo.folder), content=content, model=halo.script(HI))
        (halo.home / "settings.toml").write_text("")
        task = await one.begin(halo, "hi", model=halo.script(HI))
        await one.turn(task)
    assert (refused["code"], "nonsense" in refused["text"]) == ("settings", True)


async def test_sigterm_ends_a_server_that_many_pages_are_at(halo: Halo) -> None:
    async with serving(halo) as server, AsyncExitStack() as pages:
        session = await server.session()
        for _ in range(30):
            each = await pages.enter_async_context(page(server, session))
            assert await each.ask("tasks") == []
        server.process.terminate()
        done = await ended(server.process)
    assert done.code == 0
    assert "Traceback" not in done.err


async def test_a_page_that_asks_for_more_than_can_be_answered_is_answered_in_turn(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as flood, page(server) as other:
        for number in range(500):
            await flood.say("query", id=f"q{number}", name="tasks", arguments={})
            await flood.say("nonsense")
        assert await other.ask("tasks") == []
        seen = set()
        while len(seen) < 500:
            seen.add((await flood.until(lambda frame: frame["type"] == "answered"))["id"])


async def test_a_frame_that_is_nested_too_deeply_is_refused_and_the_line_stays(halo: Halo) -> None:
    deep = "[" * 5_000 + "]" * 5_000
    async with serving(halo) as server, page(server) as there:
        for frame in (f'{{"later":{deep}}}', f'{{"type":"query","id":"1","name":"tasks","arguments":{{"x":{deep}}}}}'):
            await there.socket.send(frame)
            refused = await there.until(lambda frame: frame["type"] == "refused")
            assert "nested too deeply" in refused["text"]
        assert await there.ask("tasks") == []


async def test_a_frame_that_is_too_large_ends_the_connection_and_nothing_else(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        async with page(server) as other:
            with suppress(ConnectionClosed):
                await other.socket.send("a" * (9 * 2**20))
            await other.socket.wait_closed()
        assert await one.ask("tasks") == []


@pytest.mark.slow
async def test_a_page_that_does_not_read_costs_a_bounded_amount_of_memory(halo: Halo) -> None:
    text = "0123456789abcdef" * 3_000
    folders = [halo.folder / f"d{number}" for number in range(20)]
    for each in folders:
        each.mkdir()
    turns = [{"text": text, "chunk": 200, "call": [call("list_files", path=each.name)]} for each in folders]
    script = halo.script(*turns, HI)
    async with serving(halo) as server, page(server) as reader, page(server) as lazy:
        task = await reader.begin(halo, "go", model=script, approval_mode="yolo")
        await lazy.say("watch", task=task)
        before = memory(server.process.pid)
        await reader.turn(task)
        grown = memory(server.process.pid) - before
    assert grown < 60_000


@pytest.mark.slow
@settings(max_examples=choose(4, 3))
@given(cuts=st.lists(st.integers(1, 12), max_size=5))
def test_a_page_that_reconnects_anywhere_has_seen_the_same(tmp_path_factory: Any, cuts: list[int]) -> None:
    halo = Halo(tmp_path_factory.mktemp("halo"))
    try:
        asyncio.run(_reconnects(halo, cuts))
    finally:
        halo.clean_up()


async def _reconnects(halo: Halo, cuts: list[int]) -> None:
    script = halo.script({**SLOWLY, "call": [shell("echo one")]}, {**SLOWLY, "call": [shell("echo two")]}, SLOWLY)
    async with serving(halo) as server, page(server) as steady:
        session = await server.session()
        task = await steady.begin(halo, "go", model=script, approval_mode="yolo")
        following = asyncio.create_task(steady.turn(task))
        copy = TaskCopy()
        for frames in [*cuts, 0]:
            async with page(server, session) as each:
                each.tasks[task] = copy
                await _follow(each, task, frames)
        await following
    assert (copy.rows, copy.facts) == (steady.tasks[task].rows, steady.tasks[task].facts)
    assert copy.rows == [json.loads(msgspec.json.encode(row)) for row in rows_of(read_log(path(halo, task)))]


async def _follow(each: Page, task: str, frames: int) -> None:
    """Take in so many frames (0: all until the turn ends) from where the page before was."""
    copy, taken = each.tasks[task], 0
    await each.say("watch", task=task, **copy.known())
    while not copy.of("turn_end_row") and not (frames and taken >= frames):
        taken += (await each.next())["type"] in ("task_changed", "grown")


def path(halo: Halo, task: str) -> Path:
    return halo.home / "tasks" / task / "events.jsonl"


def log(halo: Halo, task: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path(halo, task).read_bytes().splitlines()]


def memory(pid: int) -> int:
    """What a process has in memory, in KiB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))
