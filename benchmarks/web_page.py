"""The cost of the page of `halo web`: `python -m benchmarks.web_page [--rounds N]`. Needs a Chromium.

Load: bytes that a first visit fetches (compressed), and when it can be typed into, cold and warm, beside a page with
one text field in the same browser. Stream: a reply with 600 lines of code at 200 pieces a second. Open: a task of 2,000
rows, until it is drawn; scroll it by 90,000 px. Memory: a task of 10,000 rows, before and after all were scrolled by.
Tasks of the page's thread are measured by the CPU time they take, so that a busy machine changes little.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from halocline.hosts.browser.discovery import QUIET, find_browser
from halocline.protocol import codec, events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult

CODE = "\n".join(f"    value_{n} = transform(source[{n}], scale={n % 7})  # step {n}" for n in range(600))
REPLY = f"Here it is.\n\n```python\ndef build(source):\n{CODE}\n```\n\nThat is all.\n"
PACE = 0.005
ROWS, MANY = 2_000, 10_000
TASK, LONG_TASK = "261121-120000-many", "261121-130000-long"
SCROLL, WHEEL = 90_000, 900
TRACED = ("toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing")
MARK = "measured here"
"""Tells the page's thread in a trace: the browser has pages of its own."""
FIELD = "[data-ready=open] .composer textarea"
PLAIN = "<!doctype html><title>Plain</title><textarea autofocus></textarea>"
PLAIN_FIELD = (
    "<!doctype html><style>textarea{width:780px;height:300px;font:16px sans-serif}</style><textarea></textarea>"
)
DRAFT = f"{'A line of a draft that a person pasted, of some words. ' * 9}\n" * 600
KEYS = 10
PAINTED = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(performance.now()))))"""


READY = """new MutationObserver((_, self) => {
  if (!document.querySelector('[data-ready=open] .composer textarea')) return
  window.readyAt = performance.now()
  self.disconnect()
}).observe(document, {subtree: true, childList: true, attributes: true})"""


class Server:
    """`halo web` with a home of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.address = ""
        self.process: Process | None = None

    async def __aenter__(self) -> "Server":
        env = {**os.environ, "HALOCLINE_HOME": str(self.root / "home"), "HOME": str(self.root)}
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "halocline", "web", str(self.root / "work"), "--no-open", "--port", "0"),
            env=env,
            stdout=PIPE,
        )
        assert self.process.stdout
        found = re.search(r"http://\S+", (await self.process.stdout.readline()).decode())
        assert found
        self.address = found[0]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self.process
        self.process.send_signal(signal.SIGINT)
        await self.process.wait()

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        assert self.process
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def set_up(root: Path) -> None:
    (root / "work").mkdir()
    home = root / "home"
    (root / "script.toml").write_text(f"[[turn]]\npace = {PACE}\ntext = '''\n{REPLY}'''\n")
    home.mkdir()
    (home / "settings.toml").write_text(f'model = "scripted/{root}/script.toml"\n')
    for task, rows in ((TASK, ROWS), (LONG_TASK, MANY)):
        (home / "tasks" / task).mkdir(parents=True)
        with open(home / "tasks" / task / codec.LOG_NAME, "wb") as log:
            for seq, event in enumerate(_many(root, rows), 1):
                log.write(codec.encode(_stamped(event, seq, task)) + b"\n")


def _stamped(event: ev.DurableEvent, seq: int, task: str) -> ev.DurableEvent:
    import msgspec

    return msgspec.structs.replace(event, seq=seq, at=1_795_000_000.0 + seq, task=task)


def _many(root: Path, rows: int) -> Sequence[ev.DurableEvent]:
    """A long task: prompts, replies with Markdown, commands with output."""
    events: list[ev.DurableEvent] = [
        ev.TaskStarted(str(root / "work"), "scripted/x", Mode.ACT, ApprovalMode.YOLO, "", "0")
    ]
    for n in range(rows // 4):
        events.append(ev.TurnStarted((Text(f"Step {n}: look at part {n}"),)))
        call = ToolCall(f"c{n}", "execute_command", {"command": f"make part-{n}"})
        said = Text(f"## Part {n}\n\nIt does *this* and `that`:\n\n- one\n- two\n\n```python\nprint({n})\n```\n")
        events.append(ev.AssistantMessageCompleted(AssistantMessage((said, call))))
        events.append(ev.ToolCallStarted(call.id, call.name, f"make part-{n}", ToolKind.EXECUTE))
        result = ToolResult(call.id, (Text("\n".join(f"line {k} of {n}" for k in range(20))),))
        events.append(ev.ToolCallEnded(call.id, call.name, CallStatus.COMPLETED, result))
        events.append(ev.TurnEnded(StopReason.END_TURN))
    return events


async def load(browser: Browser, server: Server) -> dict[str, float]:
    context = await browser.new_context()
    page = await context.new_page()
    ready = await _ready(page, server.address)
    await page.wait_for_timeout(3_000)
    entries = "[performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource')]"
    sizes = await page.evaluate(f"() => {entries}.reduce((sum, one) => sum + one.encodedBodySize, 0)")
    asked = await page.evaluate(f"() => {entries}.filter((one) => one.transferSize).length")
    warm = await _ready(await context.new_page(), server.address.partition("#")[0])  # as a reload, signed in
    plain = await context.new_page()
    await plain.route("**/plain", lambda route: route.fulfill(body=PLAIN, content_type="text/html"))
    await plain.goto("http://127.0.0.1/plain")
    static = float(await plain.evaluate(PAINTED))
    await context.close()
    return {
        "load, kB gzip": sizes / 1e3,
        "requests": asked,
        "ready cold, ms": ready,
        "ready warm, ms": warm,
        "static page, ms": static,
    }


async def _ready(page: Page, address: str) -> float:
    """Milliseconds until the page can be typed into."""
    await page.add_init_script(READY)
    await page.goto(address)
    await page.locator(FIELD).wait_for()
    return float(await page.evaluate("() => window.readyAt"))


class Work:
    """What the thread of a page does between `begin` and `end`: milliseconds of CPU of each task and of all."""

    def __init__(self, browser: Browser, page: Page) -> None:
        self._browser = browser
        self._page = page

    async def begin(self) -> None:
        await self._browser.start_tracing(page=self._page, categories=list(TRACED))

    async def end(self) -> tuple[float, list[float]]:
        await _run(await self._page.context.new_cdp_session(self._page), f"void performance.mark('{MARK}')")
        events = json.loads(await self._browser.stop_tracing())["traceEvents"]
        thread = next((one["pid"], one["tid"]) for one in events if one["name"] == MARK)
        tasks = [
            event.get("tdur", 0) / 1e3
            for event in events
            if event["name"] == "RunTask" and event["ph"] == "X" and (event["pid"], event["tid"]) == thread
        ]
        return sum(tasks), tasks


async def stream(browser: Browser, server: Server, slower: int) -> dict[str, float]:
    page = await (await browser.new_context()).new_page()
    await page.goto(server.address)
    await page.locator(FIELD).wait_for()
    cdp = await page.context.new_cdp_session(page)
    if slower > 1:
        await cdp.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    work, cpu = Work(browser, page), server.cpu
    await work.begin()
    await page.locator(".composer textarea").fill("Go.")
    await page.keyboard.press("Enter")
    await _wait_for(cdp, ".turn-end")
    used, (busy, tasks) = server.cpu - cpu, await work.end()
    await page.context.close()
    name = f"stream ÷{slower}" if slower > 1 else "stream"
    return {
        f"{name}: longest task, ms of CPU": max(tasks),
        f"{name}: tasks over 50 ms": float(sum(one > 50 for one in tasks)),
        f"{name}: page, s of CPU": busy / 1e3,
        f"{name}: server, s of CPU": used,
    }


async def type_keys(browser: Browser, server: Server) -> dict[str, float]:
    """What a key costs in a message of 300 kB, and in a plain field that holds the same."""
    page = await _open_page(browser, server)
    ours = await _measure_keys(browser, page, page.locator(".composer textarea"))
    await page.context.close()
    plain = await (await browser.new_context()).new_page()
    await plain.set_content(PLAIN_FIELD)
    floor = await _measure_keys(browser, plain, plain.locator("textarea"))
    await plain.context.close()
    return {"a key in a draft of 300 kB, ms of CPU": ours, "… in a plain field": floor, "… ÷": ours / floor}


async def _measure_keys(browser: Browser, page: Page, field: Any) -> float:
    await field.evaluate(
        "(box, text) => { box.value = text; box.dispatchEvent(new Event('input', {bubbles: true})) }", DRAFT
    )
    await field.focus()
    await page.wait_for_timeout(2_000)
    work = Work(browser, page)
    await work.begin()
    for _ in range(KEYS):
        await page.keyboard.press("x")
        await page.wait_for_timeout(150)
    busy, _tasks = await work.end()
    return busy / KEYS


async def open_slowly(browser: Browser, server: Server) -> dict[str, float]:
    """The tasks of a first visit, and of opening a long task, on a CPU four times slower."""
    page = await (await browser.new_context()).new_page()
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    work, found = Work(browser, page), {}
    await work.begin()
    await page.goto(server.address)
    await _wait_for(cdp, FIELD)
    await page.wait_for_timeout(3_000)
    found["first visit"] = (await work.end())[1]
    await work.begin()
    await _run(cdp, f"location.hash = '#/task/{TASK}'")
    await _wait_for(cdp, "[data-told=yes]")
    await page.wait_for_timeout(2_000)
    found[f"opening {ROWS:,} rows"] = (await work.end())[1]
    await page.context.close()
    longest = {f"{name} ÷4: longest task, ms of CPU": max(tasks) for name, tasks in found.items()}
    return longest | {
        f"{name} ÷4: tasks over 50 ms": float(sum(one > 50 for one in tasks)) for name, tasks in found.items()
    }


async def _wait_for(cdp: Any, selector: str) -> None:
    """As a locator waits, but without the script that it runs in the page: that takes longer than the page's own."""
    look = f"const look = () => document.querySelector({selector!r}) ? yes() : setTimeout(look, 200)"
    await _run(cdp, f"new Promise((yes) => {{ {look}; look() }})")


async def _run(cdp: Any, expression: str) -> None:
    await cdp.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})


async def open_task(browser: Browser, server: Server) -> dict[str, float]:
    page = await _open_page(browser, server)
    work = Work(browser, page)
    await work.begin()
    await _go_to_task(page, TASK)
    opened, tasks = await work.end()
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = await _metrics(cdp)
    await _scroll(page, SCROLL, WHEEL)
    after = await _metrics(cdp)
    await page.context.close()
    return {
        f"opening {ROWS:,} rows: ms of CPU": opened,
        f"opening {ROWS:,} rows: longest task, ms of CPU": max(tasks),
        f"scrolling {SCROLL:,} px, s of CPU": after["TaskDuration"] - before["TaskDuration"],
    }


async def remember(browser: Browser, server: Server) -> dict[str, float]:
    """What a page holds of 10,000 rows: when it opens, after some screens, and once all were in view."""
    page = await _open_page(browser, server)
    await _go_to_task(page, LONG_TASK)
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Performance.enable")
    held = {"at first": await _held(cdp)}
    await _scroll(page, SCROLL, WHEEL)
    held["after 90,000 px"] = await _held(cdp)
    while await page.evaluate("() => document.querySelector('.log').scrollTop"):
        await _scroll(page, SCROLL, WHEEL)
    held["after all"] = await _held(cdp)
    await page.context.close()
    return {f"{MANY:,} rows: {name} {when}": number for when, one in held.items() for name, number in one.items()}


async def _open_page(browser: Browser, server: Server) -> Page:
    page = await (await browser.new_context()).new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open]").wait_for()
    return page


async def _go_to_task(page: Page, task: str) -> None:
    await page.evaluate(f"() => {{ location.hash = '#/task/{task}' }}")
    await page.locator("[data-told=yes]").wait_for()
    await page.wait_for_timeout(2_000)


async def _scroll(page: Page, distance: int, step: int) -> None:
    await page.mouse.move(500, 300)
    for _ in range(distance // step):
        await page.mouse.wheel(0, -step)
        await page.wait_for_timeout(30)
    await page.wait_for_timeout(500)


async def _metrics(cdp: Any) -> dict[str, float]:
    return {one["name"]: float(one["value"]) for one in (await cdp.send("Performance.getMetrics"))["metrics"]}


async def _held(cdp: Any) -> dict[str, float]:
    for _ in range(3):  # what one collection lets go, the next one frees
        await cdp.send("HeapProfiler.collectGarbage")
    metrics = await _metrics(cdp)
    nodes = (await cdp.send("Runtime.evaluate", {"expression": "document.getElementsByTagName('*').length"}))["result"]
    return {"elements": nodes["value"], "nodes": metrics["Nodes"], "MB of heap": metrics["JSHeapUsedSize"] / 1e6}


async def measure(rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder))
        async with Server(Path(folder)) as server, async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_browser("").program, args=["--no-sandbox", *QUIET]
            )
            for _ in range(rounds):
                for part in (
                    await load(browser, server),
                    await open_slowly(browser, server),
                    await open_task(browser, server),
                    await remember(browser, server),
                    await stream(browser, server, 1),
                    await stream(browser, server, 4),
                    await type_keys(browser, server),
                ):
                    for name, number in part.items():
                        found.setdefault(name, []).append(number)
            await browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What the page of halo web costs.")
    parser.add_argument("--rounds", type=int, default=3)
    found = asyncio.run(measure(parser.parse_args().rounds))
    print("| | median | worst |\n| --- | --- | --- |")
    for name, numbers in found.items():
        print(f"| {name} | {median(numbers):.1f} | {max(numbers):.1f} |")


if __name__ == "__main__":
    main()
