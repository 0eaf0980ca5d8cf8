"""A cluster of three node processes, the third with a network of its own where that can be made, and batches on it."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.batch.fleet.cluster import Cluster
from tests.batch.fleet.set_up import MISSING, ray

PASSES = "grep -q right b.txt"
LIMIT = 200.0


class Namespace:
    """A network of its own, with one wire to this machine, which can be cut."""

    def __init__(self) -> None:
        word, third = secrets.token_hex(3), secrets.randbelow(200) + 20
        self.name, self._inside = f"hr{word}", f"hi{word}"
        self.here, self.there = f"10.213.{third}.1", f"10.213.{third}.2"
        run_ip("netns", "add", self.name)
        run_ip("link", "add", f"ho{word}", "type", "veth", "peer", "name", self._inside, "netns", self.name)
        run_ip("addr", "add", f"{self.here}/30", "dev", f"ho{word}")
        run_ip("link", "set", f"ho{word}", "up")
        run_ip("-n", self.name, "addr", "add", f"{self.there}/30", "dev", self._inside)
        run_ip("-n", self.name, "link", "set", "lo", "up")
        self.join()

    @property
    def words(self) -> tuple[str, ...]:
        """The words that run a program in it."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        run_ip("-n", self.name, "link", "set", self._inside, "down")

    def join(self) -> None:
        run_ip("-n", self.name, "link", "set", self._inside, "up")

    def close(self) -> None:
        run_ip("netns", "del", self.name)


def run_ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def make_namespace() -> Namespace | None:
    try:
        return Namespace()
    except (OSError, subprocess.CalledProcessError):
        return None


class Bench:
    """The cluster, and a folder for batches of which none knows the others."""

    def __init__(self, cluster: Cluster, third: Namespace | None, folder: Path) -> None:
        self.cluster = cluster
        self.third = third
        self.folder = folder
        self.trace, self.flag = folder / "trace", folder / "flag"
        self.home = folder / "home"
        self.repository = folder / "repository"
        self.repository.mkdir()
        (self.repository / "a.txt").write_text("wrong\n")
        for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm first"):
            subprocess.run(["git", *words.split()], cwd=self.repository, check=True)
        self._started = list[subprocess.Popen[str]]()

    def write_tasks(self, count: int, *commands: str) -> str:
        """Write items that run commands, in which {id} is theirs, then make the change."""
        lines = []
        for id in (f"i{number}" for number in range(count)):
            turns = [*(_turn("execute_command", command=command.format(id=id)) for command in commands)]
            turns.append(_turn("write_to_file", path="b.txt", content=f"right {id}\n"))
            script = self.folder / f"{id}.toml"
            script.write_text("".join(turns) + '[[turn]]\ntext = "Done."\n' * 3)
            item = {"id": id, "prompt": "mend it", "git": str(self.repository), "model": f"scripted/{script}"}
            lines.append(json.dumps({**item, "accept": PASSES}))
        path = self.folder / "tasks.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        env = {**self.cluster.env, "HOME": str(self.folder), "HALOCLINE_HOME": str(self.home)}
        command = [sys.executable, "-m", "halocline", "batch", "-y", "--json", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self._started.append(subprocess.Popen(command, env=env, cwd=self.folder, **pipes))
        return self._started[-1]

    def finish(self, running: "subprocess.Popen[str]", code: int = 0) -> dict[str, Any]:
        out, err = running.communicate(timeout=LIMIT)
        logs = "".join(path.read_text()[-4000:] for path in self.home.glob("logs/*"))
        assert running.returncode == code, f"{out[-500:]}\n{err[-6000:]}\n{logs}"
        report: dict[str, Any] = json.loads(out)
        return report

    def read_ends(self) -> list[str]:
        """The ids of all ends that count, each as often as there is one."""
        entries = [json.loads(line) for line in self.queue.read_text().splitlines()]
        return [entry["id"] for entry in entries if entry["type"] == "ended"]

    @property
    def queue(self) -> Path:
        return self.home / "batches" / "tasks" / "queue.jsonl"

    def read_trace(self) -> list[str]:
        return self.trace.read_text().split() if self.trace.exists() else []

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.communicate()


def _turn(tool: str, **arguments: str) -> str:
    named = ", ".join(f"{name} = {json.dumps(value)}" for name, value in arguments.items())
    return f'[[turn]]\ncall = [{{tool = "{tool}", arguments = {{{named}}}}}]\n'


def wait_for(is_so: Callable[[], object], seconds: float = LIMIT) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def third() -> Iterator[Namespace | None]:
    space = make_namespace()
    yield space
    if space:
        space.close()


@pytest.fixture(scope="module")
def cluster(third: Namespace | None) -> Iterator[Cluster]:
    if not ray():
        pytest.skip(MISSING)
    made = Cluster(dict(os.environ), third.here if third else "127.0.0.1")
    try:
        made.start_head()
        made.start_node("second")
        start_third(made, third)
        yield made
    finally:
        made.close()


def start_third(cluster: Cluster, third: Namespace | None) -> None:
    cluster.start_node("third", third.there if third else "", third.words if third else ())


@pytest.fixture
def bench(cluster: Cluster, third: Namespace | None, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(cluster, third, tmp_path)
    yield made
    made.close()
