"""Ten small tasks by a real small model: `python -m benchmarks.small_model [--forms NAMES] [--pi FOLDER] [--rounds N]`.

The model and its server are those of `make real-model`. FOLDER is where npm installed pi: `npm install --prefix FOLDER
@mariozechner/pi-coding-agent`. All contestants use the same server, one after the other, each in a folder and a home of
its own, within bubblewrap: a model of this size may do anything. Tokens are the server's own count.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.real_server.fetch_model import MODEL, NAME
from tests.real_server.llama_server import Relay, llama_server, relay

from benchmarks.small_tasks import TASKS, Outcome, SmallTask

CONTEXT = 16_384
MOST_STEPS, MOST_SECONDS = 10, 900.0
HALO = str(Path(sys.executable).with_name("halo"))
_TIMINGS = re.compile(rb'"timings":(\{[^{}]*\})')
_SETTINGS = """\
sandbox = "off"
max_tokens = 400
[extra_body."llamacpp/*"]
timings_per_token = true
"""


@dataclass(frozen=True, slots=True)
class Contestant:
    """`command` builds its command line from a server's address, a home, a folder and a prompt."""

    name: str
    command: Callable[[str, Path, Path, str], list[str]]
    answer: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply as its server counted it, in tokens: what it read anew, what it still had, and what it wrote."""

    read: int
    kept: int
    wrote: int


@dataclass(frozen=True, slots=True)
class Run:
    """One task by one contestant. `log` is what it printed."""

    contestant: str
    task: str
    done: bool
    seconds: float
    replies: tuple[Reply, ...]
    answer: str
    log: str

    @property
    def reuse(self) -> float:
        """The part of the earlier requests that the server did not read again; 1.0 if there was one request."""
        pairs = list(zip(self.replies, self.replies[1:], strict=False))
        before = sum(one.read + one.kept for one, _ in pairs)
        return sum(min(two.kept, one.read + one.kept) for one, two in pairs) / before if before else 1.0


def halo(*flags: str, name: str = "halo", settings: str = "") -> Contestant:
    """Return Halocline with these flags and settings."""

    def command(url: str, home: Path, folder: Path, prompt: str) -> list[str]:
        home.mkdir(parents=True, exist_ok=True)
        (home / "settings.toml").write_text(settings + _SETTINGS)
        at = ("-m", f"llamacpp/{NAME}", "--base-url", f"{url}/v1", "--max-steps", str(MOST_STEPS))
        return [HALO, "run", "-y", *at, "--output-format", "stream-json", *flags, "-C", str(folder), prompt]

    return Contestant(name, command, _answer_of_halo)


def _answer_of_halo(printed: str) -> str:
    return str(json.loads(printed.splitlines()[-1]).get("text", "")) if printed.strip() else ""


FORMS = {
    form.name: form
    for form in (
        halo(),
        halo(name="full", settings='prompt = "full"\n'),
        halo(name="compact", settings='prompt = "compact"\n'),
        halo("--text-tools", name="compact text", settings='prompt = "compact"\n'),
    )
}
"""Halocline as it chooses by itself, and with a prompt, tools and a form of calls that the settings choose."""


def pi(folder: Path) -> Contestant:
    """Return pi, as npm installed it in this folder."""
    program = folder.resolve() / "node_modules" / ".bin" / "pi"

    def command(url: str, home: Path, folder: Path, prompt: str) -> list[str]:
        settings = home / ".pi" / "agent"
        settings.mkdir(parents=True, exist_ok=True)
        provider = {
            "baseUrl": f"{url}/v1",
            "api": "openai-completions",
            "apiKey": "none",
            "models": [{"id": NAME, "contextWindow": CONTEXT, "maxTokens": 400}],
        }
        (settings / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
        return [str(program), "-p", prompt, "--provider", "local", "--model", NAME, "--offline"]

    return Contestant("pi", command, str)


async def play(contestant: Contestant, task: SmallTask, between: Relay, place: Path) -> Run:
    """Let a contestant do a task, in a new folder within `place`."""
    home, folder = place / "home", place / "project"
    shutil.rmtree(place, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in task.files.items():
        (folder / name).write_text(text)
    between.replies.clear()
    began = time.monotonic()
    printed = await _run_confined(contestant.command(between.url, home, folder, task.prompt), home, folder, place)
    answer = contestant.answer(printed)
    return Run(
        contestant.name,
        task.name,
        task.is_done(Outcome(folder, answer)),
        time.monotonic() - began,
        tuple(_count(between.replies)),
        answer,
        printed,
    )


async def _run_confined(words: Sequence[str], home: Path, folder: Path, place: Path) -> str:
    """Run a command that can write nowhere but in `place`; return what it printed."""
    walls = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", place, place)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HALOCLINE_HOME": str(home),
        "LANG": "C.UTF-8",
        "TMPDIR": str(place),
    }
    process = await asyncio.create_subprocess_exec(
        *("nice", "bwrap", *walls, "--unshare-pid", "--die-with-parent", *words),
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    reading = asyncio.create_task(process.communicate())
    done, _ = await asyncio.wait({reading}, timeout=MOST_SECONDS)
    if not done:
        process.kill()
    return (await reading)[0].decode(errors="replace")


def _count(replies: Sequence[bytes | bytearray]) -> Iterator[Reply]:
    """Count each reply by the last figures that its server gave."""
    for reply in replies:
        if found := _TIMINGS.findall(bytes(reply)):
            timings: Mapping[str, int] = json.loads(found[-1])
            yield Reply(timings.get("prompt_n", 0), timings.get("cache_n", 0), timings.get("predicted_n", 0))


async def compare(
    contestants: Sequence[Contestant], tasks: Sequence[SmallTask], rounds: int = 1, logs: Path | None = None
) -> list[Run]:
    """Let all do all tasks; the first round takes the likeliest word each time, later ones draw with their seed.

    What each run printed is kept in the folder `logs`.
    """
    runs = []
    place = Path(tempfile.mkdtemp(prefix="halocline-small-"))
    try:
        for number in range(rounds):
            drawn = ("--temp", "0.7", "--seed", str(number)) if number else ("--temp", "0")
            flags = ("--alias", NAME, "-c", str(CONTEXT), "--jinja", *drawn)
            async with llama_server(MODEL, *flags) as server, relay(server.url) as between:
                for contestant in contestants:
                    for task in tasks:
                        runs.append(await play(contestant, task, between, place / "run"))
                        _show(runs[-1])
                        if logs:
                            (logs / f"{len(runs):02} {contestant.name}, {task.name}.log").write_text(runs[-1].log)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return runs


def _show(run: Run) -> None:
    first = run.replies[0] if run.replies else Reply(0, 0, 0)
    words = " ".join(run.answer.split())[:80]
    judged = f"{run.contestant:12} {run.task:20} {'done' if run.done else '–':5} {run.seconds:5.0f} s"
    counts = f"{len(run.replies):2} requests, {first.read + first.kept:5} tokens at first, reuse {run.reuse:.0%}"
    print(f"{judged} {counts}: {words}", flush=True)


def _rows(runs: Sequence[Run], names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    of = {name: [run for run in runs if run.contestant == name] for name in names}
    for task in dict.fromkeys(run.task for run in runs):
        mine = {name: [run.done for run in of[name] if run.task == task] for name in names}
        yield task, [f"{sum(done)} of {len(done)}" for done in mine.values()]
    yield "**all**", [f"**{sum(run.done for run in of[name])} of {len(of[name])}**" for name in names]
    firsts = {name: [run.replies[0].read + run.replies[0].kept for run in of[name] if run.replies] for name in names}
    yield "tokens of the first request", [f"{median(first):,.0f}" if first else "–" for first in firsts.values()]
    yield "requests of a task", [f"{median(len(run.replies) for run in of[name]):g}" for name in names]
    yield "seconds of a task", [f"{median(run.seconds for run in of[name]):.0f}" for name in names]
    many = {name: [run.reuse for run in of[name] if len(run.replies) > 1] for name in names}
    yield "of the earlier request not read again", [f"{min(part):.0%}" if part else "–" for part in many.values()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pi", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="", help="words of the names of tasks, with commas between")
    parser.add_argument("--forms", default="halo", help=f"with commas between: {', '.join(FORMS)}")
    parser.add_argument("--logs", type=Path, help="a folder for what each run printed")
    given = parser.parse_args()
    if not shutil.which("bwrap"):
        parser.error("bubblewrap is needed: a model of this size may do anything")
    contestants = [FORMS[name] for name in given.forms.split(",")] + ([pi(given.pi)] if given.pi else [])
    tasks = [task for task in TASKS if any(word.strip() in task.name for word in given.only.split(","))]
    if given.logs:
        given.logs.mkdir(parents=True, exist_ok=True)
    runs = asyncio.run(compare(contestants, tasks, given.rounds, given.logs))
    names = [contestant.name for contestant in contestants]
    print(f"\n| task | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}", sep="\n")
    for title, values in _rows(runs, names):
        print(f"| {title} | {' | '.join(values)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
