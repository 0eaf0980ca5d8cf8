"""Trees of agents on one repository, in the foreground and in the background, of which processes are killed.

After each kill a person starts again what ended: by `halo run -r`, `halo run --bg -r`, or a key on the board.
"""

import asyncio
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pexpect
from tests.crashes.crowd_model import CrowdModel, Part, Plan, Step
from tests.surfaces.cli.forked import HALO
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal

from halocline.protocol import codec
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.providers.scripted.script import Call
from halocline.surfaces.cli.plain.line_menu import CHOICE

SETTINGS = """model = "deepseek/deepseek-v4-pro"
subagents = "on"
sandbox = "off"
subagent_seconds = 3000
subagents_at_once = 10
"""
POLICY = """[[rule]]
decision = "ask"
name = "asked"
argv = ["touch"]
rest = "any"
"""
KINDS = ("front", "back", "asks")
SLOTS, ROUNDS, LONG_SLEEP = 100, 3, 1.5
VICTIMS = ("front", "front", "back", "back", "back", "all", "all", "child")
GO_ON = "Go on."
LIMIT = 240.0
"""Seconds for a wave to come to its end once nothing is killed any more."""


class Crowd:
    """The repository, its person, and the tasks that work on it."""

    def __init__(self, halo: Halo, model: CrowdModel, url: str, seed: int) -> None:
        self.halo, self.model = halo, model
        self.luck = random.Random(seed)
        self.trace = halo.root / "trace"
        self.kills: list[str] = []
        self.diary = halo.root / "diary"
        self.plans: list[Plan] = []
        self._fronts: dict[str, subprocess.Popen[bytes]] = {}
        self._past: dict[str, bytes] = {}
        halo.env |= {"HALOCLINE_BASE_URL": url, "DEEPSEEK_API_KEY": "k"}
        halo.home.mkdir()
        (halo.home / "settings.toml").write_text(SETTINGS)
        (halo.home / "policy.toml").write_text(POLICY)
        self.trace.touch()
        self._make_repository()

    def _make_repository(self) -> None:
        self.write("shared.txt", "".join(f"slot-{at}\nafter {at}\nmore\nand more\n" for at in range(SLOTS)))
        self.write("clash.txt", "".join(f"clash-{at}\nafter {at}\nmore\n" for at in range(SLOTS)))
        self.write("person.txt", "the person's\n")
        for number in range(200):
            self.write(f"src/{number % 10}/file{number}.txt", f"{number}\n")
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "a@example.com")
        self.git("config", "user.name", "A")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.write("person.txt", "the person's\nnot committed\n")
        self.write("untracked.txt", "not added\n")

    def write(self, name: str, text: str) -> None:
        path = self.halo.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words: str) -> str:
        return subprocess.run(("git", *words), cwd=self.halo.folder, capture_output=True, text=True, check=True).stdout

    def log_of(self, task: str) -> Path:
        return self.halo.home / "tasks" / task / codec.LOG_NAME

    def state(self, task: str) -> State | None:
        """A task as the whole lines of its log have it; None if it did not begin."""
        with suppress(FileNotFoundError):
            events = [codec.decode(line) for line in self.log_of(task).read_bytes().split(b"\n")[:-1]]
            return fold_events(events) if events else None
        return None

    def is_over(self, plan: Plan) -> bool:
        state = self.state(plan.name)
        done = state is not None and state.turn is None and bool(state.messages)
        return done and f"The plan {plan.name} is done." in str(state.messages[-1])

    @property
    def unfinished(self) -> list[Plan]:
        return [plan for plan in self.plans if not self.is_over(plan)]

    def begin_plans(self) -> None:
        """Plan the next task of each kind whose last one is over, with two writing agents each."""
        busy = {plan.name.partition("-")[0] for plan in self.unfinished}
        for number, kind in enumerate(KINDS):
            if kind in busy:
                continue
            at, name = len(self.plans), f"{kind}-{len(self.plans)}"
            parts = [self._plan_part(f"{name}-{letter}", 2 * at + index, number) for index, letter in enumerate("ab")]
            last = self._run(f"{name}-last", asks=kind == "asks")
            self.plans.append(plan := Plan(name, parts, last, background=kind == "back"))
            self.model.add(plan)

    def _plan_part(self, name: str, slot: int, number: int) -> Part:
        own, clash = f"{name}.txt", f"clash-{slot // 2}"
        begin = Call("write_to_file", {"path": own, "content": f"{name}\n"})
        steps = [Step(begin, name, own)]
        for at in range(ROUNDS):
            sleep = LONG_SLEEP if at == number else 0.05
            steps.append(self._run(f"{name}-{at}", sleep=sleep))
            steps.append(_edit(own, name, f"{name}-line-{at}", keep=True))
        steps.append(_edit("shared.txt", f"slot-{slot}", f"by-{name}", keep=True))
        steps.append(_edit("clash.txt", clash, f"{clash}-{name}", keep=False))
        return Part(name, steps, (own, "shared.txt", "clash.txt"))

    def _run(self, token: str, *, sleep: float = 0.05, asks: bool = False) -> Step:
        first = f"touch {self.halo.root}/asked-{token}" if asks else f"sleep {sleep}"
        command = f"{first}; echo {token} >> {self.trace}; echo done"
        return Step(Call("execute_command", {"command": command}), token, str(self.trace))

    async def start_all(self) -> None:
        """Start what no process runs, as a person would who sees it."""
        for plan in self.unfinished:
            if plan.name.startswith("front"):
                self._start_front(plan)
        backs = [plan for plan in self.unfinished if not plan.name.startswith("front") and not self._runs(plan)]
        resumable = [plan for plan in backs if (state := self.state(plan.name)) and state.messages]
        if resumable and self.luck.random() < 0.15:
            await asyncio.to_thread(self._resume_on_board, len(resumable))
        for plan in backs:
            if not self._runs(plan) and not self.is_over(plan):
                await self._start_back(plan)

    def _words(self, plan: Plan) -> list[str]:
        state = self.state(plan.name)
        if state is None:
            return ["--session-id", plan.name, f"Do the plan {plan.name}."]
        return ["-r", plan.name, GO_ON if state.messages else f"Do the plan {plan.name}."]

    def _start_front(self, plan: Plan) -> None:
        running = self._fronts.get(plan.name)
        if running and running.poll() is None:
            return
        with open(self.halo.root / f"{plan.name}.out", "ab") as out:
            words = [*HALO, "run", "-p", "-y", *self._words(plan)]
            self._note(" ".join(words[2:]))
            self._fronts[plan.name] = subprocess.Popen(
                words, cwd=self.halo.folder, env=self.halo.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    async def _start_back(self, plan: Plan) -> None:
        words = ["run", "--bg", "-y", *self._words(plan)]
        if words[-1] == GO_ON and self.luck.random() < 0.5:
            words.pop()  # it offers the same
        done = await self.halo.run(*words)
        self._note(f"{' '.join(words)}: {done.code} {done.err}")
        is_late = self.is_over(plan) or "runs in process" in done.err or "is open in another process" in done.err
        assert not done.code or is_late, done.err
        named = re.findall(r"was killed while it ran (.*?)\. All", done.err)
        assert {*", ".join(named).split(", ")} <= {
            "",
            *(plan.name for plan in self.plans),
        }  # an agent is continued by its task

    def _resume_on_board(self, count: int) -> None:
        """Resume the tasks from the list, each by the key for it."""
        terminal = TmuxTerminal(self.halo, 120, 40)
        try:
            terminal.runs(" ".join([*HALO, "board"])).sees("All tasks")
            for _ in range(count + 4):
                time.sleep(0.2)
                terminal.presses("r")
                time.sleep(0.3)
                terminal.presses("Down")
            self._note(f"board:\n{terminal.screen}")
            time.sleep(2)
            terminal.presses("q")
        finally:
            terminal.close()

    def _runs(self, plan: Plan) -> bool:
        """True if a living process holds the task's lock, or has just been given it."""
        return self._owner(self.halo.home / "tasks" / plan.name) != 0

    def _owner(self, folder: Path) -> int:
        with suppress(OSError):
            pid = (folder / "lock").read_text().partition(" ")[0]
            if pid.isdecimal() and _is_alive(int(pid)):
                return int(pid)
        return 0

    @property
    def background(self) -> int:
        return self._owner(self.halo.home / "background")

    async def kill_one(self) -> None:
        """Let some events come, then kill one of the processes, or all."""
        before, wanted = self._count_events(), self.luck.randrange(60)
        until = time.monotonic() + self.luck.uniform(0.5, 5)
        while self._count_events() < before + wanted and time.monotonic() < until and self.unfinished:
            await asyncio.sleep(0.005)
            await self.answer_all()
        await asyncio.sleep(self.luck.uniform(0, 0.05))
        victim = self.luck.choice(VICTIMS)
        fronts = [one.pid for one in self._fronts.values() if one.poll() is None]
        back = [self.background] if self.background else []
        chosen = {"front": fronts, "back": back, "all": fronts + back}.get(victim) or fronts + back
        if victim == "child":
            below = [pid for one in chosen for pid in _list_below(one)]
            chosen = [self.luck.choice(below)] if below else chosen
        if victim == "all":
            chosen = [pid for one in chosen for pid in (one, *_list_below(one))]
        if not chosen:
            return
        self.kills.append(victim)
        self._note(f"kill {len(self.kills)} {victim} {chosen}")
        for pid in chosen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(20):
            while any(map(_is_alive, chosen)):
                await asyncio.sleep(0.005)
        self.check_logs()
        self.person_edits()

    def person_edits(self) -> None:
        with (self.halo.folder / "person.txt").open("a") as file:
            file.write(f"edit {len(self.kills)}\n")

    def check_logs(self) -> None:
        """No log has lost or changed a whole line since the last look."""
        for path in self.halo.home.glob(f"tasks/*/{codec.LOG_NAME}"):
            data, before = path.read_bytes(), self._past.get(path.parent.name, b"")
            assert data.startswith(before), path
            self._past[path.parent.name] = data[: data.rfind(b"\n") + 1]
        lost = [name for name, data in self._past.items() if data and not self.log_of(name).exists()]
        assert lost == []

    def _count_events(self) -> int:
        return sum(path.read_bytes().count(b"\n") for path in self.halo.home.glob(f"tasks/*/{codec.LOG_NAME}"))

    async def answer_all(self) -> None:
        """Answer what tasks of the background ask, on a terminal that joins."""
        for plan in self.unfinished:
            if not plan.name.startswith("asks") or self.luck.random() < 0.8:
                continue
            state = self.state(plan.name)
            if state and state.pending.approvals and self._runs(plan):
                await asyncio.to_thread(self._answer, plan)

    def _answer(self, plan: Plan) -> None:
        terminal = self.halo.terminal("attach", plan.name)
        try:
            found = terminal.expect([CHOICE, pexpect.EOF])
            self._note(f"attach {plan.name}: {found}")
            if found == 0:
                terminal.send("y\r")
                end = time.monotonic() + 20
                while (state := self.state(plan.name)) and state.pending.approvals and time.monotonic() < end:
                    with suppress(pexpect.TIMEOUT, pexpect.EOF):
                        terminal.read_nonblocking(10_000, 0.05)
        finally:
            terminal.kill(signal.SIGKILL)
            terminal.wait()  # its own close gives up after a tenth of a second
            terminal.close()

    async def finish(self) -> None:
        """Kill no more; whatever stops is started again, and all come to their end."""
        end = time.monotonic() + LIMIT
        while self.unfinished:
            assert time.monotonic() < end, [plan.name for plan in self.unfinished]
            await self.start_all()
            await asyncio.sleep(0.3)
            await self.answer_all()
        while self.background or any(one.poll() is None for one in self._fronts.values()):
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        self.check_logs()

    def clean_up(self) -> None:
        for one in self._fronts.values():
            one.kill()
            one.wait()
        if self.background:
            os.kill(self.background, signal.SIGKILL)

    def _note(self, text: str) -> None:
        with self.diary.open("a") as diary:
            diary.write(f"{time.monotonic():.2f} {text}\n")


def _edit(path: str, old: str, new: str, *, keep: bool) -> Step:
    text = f"{old}\n{new}\n" if keep else f"{new}\n"
    call = Call("replace_in_file", {"path": path, "old_text": f"{old}\n", "new_text": text})
    return Step(call, new, path)


def _is_alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def _list_below(pid: int) -> list[int]:
    """All processes that a process started, and theirs."""
    return [*_walk_below(pid)]


def _walk_below(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from _walk_below(child)
