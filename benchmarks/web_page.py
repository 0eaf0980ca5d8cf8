"""The cost of the page of `halo web`: `python -m benchmarks.web_page [--rounds N]`. Needs a Chromium; no ratios.

Load: bytes that a first visit fetches (compressed), and when it can be typed into. Stream: a reply with 600 lines of
code at 200 pieces a second; the longest task of the page's thread, how busy it is, and the server's share of a core.
Open: a task of 2,000 rows, until its past is told and drawn.
"""

import argparse
import asyncio
import os
import re
import signal
import sys
import tempfile
import time
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
ROWS = 2_000
TASK = "261121-120000-many"
OBSERVE = """() => {
  window.tasks = []
  const note = (list) => window.tasks.push(...list.getEntries().map((one) => one.duration))
  new PerformanceObserver(note).observe({entryTypes: ['longtask']})
}"""


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
    (home / "tasks" / TASK).mkdir(parents=True)
    (root / "script.toml").write_text(f"[[turn]]\npace = {PACE}\ntext = '''\n{REPLY}'''\n")
    (home / "settings.toml").write_text(f'model = "scripted/{root}/script.toml"\n')
    with open(home / "tasks" / TASK / codec.LOG_NAME, "wb") as log:
        for seq, event in enumerate(_many(root), 1):
            log.write(codec.encode(_stamped(event, seq)) + b"\n")


def _stamped(event: ev.DurableEvent, seq: int) -> ev.DurableEvent:
    import msgspec

    return msgspec.structs.replace(event, seq=seq, at=1_795_000_000.0 + seq, task=TASK)


def _many(root: Path) -> Sequence[ev.DurableEvent]:
    """A long task: prompts, replies with Markdown, commands with output."""
    events: list[ev.DurableEvent] = [
        ev.TaskStarted(str(root / "work"), "scripted/x", Mode.ACT, ApprovalMode.YOLO, "", "0")
    ]
    for n in range(ROWS // 4):
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
    page = await (await browser.new_context()).new_page()
    await page.add_init_script(READY)
    await page.goto(server.address)
    await page.locator("[data-ready=open] .composer textarea").wait_for()
    ready = await page.evaluate("() => window.readyAt")
    await page.wait_for_timeout(500)
    sizes = await page.evaluate(
        "() => [performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource')]"
        ".reduce((sum, one) => sum + one.encodedBodySize, 0)"
    )
    asked = await page.evaluate("() => performance.getEntriesByType('resource').length")
    await page.context.close()
    return {"load, kB gzip": sizes / 1e3, "requests": asked, "ready, ms": ready}


async def stream(browser: Browser, server: Server, slower: int) -> dict[str, float]:
    page = await (await browser.new_context()).new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open] .composer textarea").wait_for()
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Performance.enable")
    if slower > 1:
        await cdp.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    await page.evaluate(OBSERVE)
    busy, cpu, began = await _busy(cdp), server.cpu, time.perf_counter()
    await page.locator(".composer textarea").fill("Go.")
    await page.keyboard.press("Enter")
    await page.locator(".turn-end").wait_for(timeout=180_000)
    seconds = time.perf_counter() - began
    used, share = server.cpu - cpu, (await _busy(cdp) - busy) / seconds
    tasks: list[float] = await page.evaluate("() => window.tasks")
    await page.context.close()
    name = f"stream ÷{slower}" if slower > 1 else "stream"
    return {
        f"{name}: longest task, ms": max(tasks, default=0.0),
        f"{name}: tasks over 100 ms": float(sum(one > 100 for one in tasks)),
        f"{name}: page busy, %": share * 100,
        f"{name}: server, % of a core": used / seconds * 100,
        f"{name}: seconds": seconds,
    }


async def _busy(cdp: Any) -> float:
    metrics = (await cdp.send("Performance.getMetrics"))["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


async def open_task(browser: Browser, server: Server) -> dict[str, float]:
    page: Page = await (await browser.new_context()).new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open]").wait_for()
    took = await page.evaluate(
        f"""async () => {{
          const began = performance.now()
          location.hash = '#/task/{TASK}'
          while (!document.querySelector('[data-told=yes]')) await new Promise(requestAnimationFrame)
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
          return performance.now() - began
        }}"""
    )
    cards = await page.locator("[data-card]").count()
    assert cards >= ROWS * 0.7, cards
    await page.context.close()
    return {f"opening a task of {ROWS:,} rows, ms": took}


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
                    await open_task(browser, server),
                    await stream(browser, server, 1),
                    await stream(browser, server, 4),
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
