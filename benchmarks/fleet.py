"""What a cluster costs: `python -m benchmarks.fleet [--tasks 1000]`. Scripted model, real tools, a real Ray cluster.

Short tasks, each in a copy of a folder: one edit and an answer. They run on three node processes of a cluster, and
before and after that in three processes of `halo batch --shard` without Ray: the ideal of this machine. Each run has
all tasks, so that a process has as many of them with Ray as without. Both are timed by their logs, from the first
beginning to the last end; what starts before that is a row of its own.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.batch.fleet.cluster import Cluster

GOAL = 0.8
SCRIPT = """
[[turn]]
call = [{tool = "write_to_file", arguments = {path = "b.txt", content = "right\\n"}}]
[[turn]]
text = "Done."
"""


class Bench:
    """Runs of the same tasks below the folder of a cluster."""

    def __init__(self, cluster: Cluster, tasks: int, at_once: int) -> None:
        self._cluster = cluster
        self._folder = cluster.folder / "bench"
        self._tasks, self._at_once = tasks, at_once
        (self._folder / "work").mkdir(parents=True)
        (self._folder / "work" / "a.txt").write_text("wrong\n" * 40)
        (self._folder / "script.toml").write_text(SCRIPT)
        self._file = self._folder / "tasks.jsonl"

    def run(self, name: str, tasks: int, *words: str, shards: int = 0) -> tuple[float, float]:
        """Return the seconds of the tasks, and those before the first began."""
        item = {"prompt": "do it", "folder": "work", "place": "copy", "model": f"scripted/{self._folder}/script.toml"}
        self._file.write_text("".join(f"{json.dumps({'id': f'i{number}', **item})}\n" for number in range(tasks)))
        home, began = self._folder / name, time.time()
        parts = [("--shard", f"{part + 1}/{shards}", "-j", f"{self._at_once // shards}") for part in range(shards)]
        running = [self._start(home / str(at), *words, *part) for at, part in enumerate(parts or [()])]
        for process in running:
            if process.wait():
                raise SystemExit(f"{name}: a batch ended with {process.returncode}")
        times, ended = self._read_times(home)
        if len(ended) != tasks or set(ended.values()) != {("passed", 1)}:
            raise SystemExit(f"{name}: {len(ended)} of {tasks} ended, with {set(ended.values())} files changed")
        shutil.rmtree(home)
        return max(times) - min(times), min(times) - began

    def _start(self, home: Path, *words: str) -> "subprocess.Popen[bytes]":
        env = {**self._cluster.env, "HALOCLINE_HOME": str(home / "home"), "XDG_CACHE_HOME": str(home / "cache")}
        command = [sys.executable, "-m", "halocline", "batch", str(self._file), "-y", "-j", str(self._at_once), *words]
        return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _read_times(self, home: Path) -> tuple[list[float], dict[str, tuple[str, int]]]:
        """Return the times of beginnings and ends, and how each item ended, with the number of files it changed."""
        times, ended = list[float](), dict[str, tuple[str, int]]()
        for log in home.rglob("batches/tasks/queue.jsonl"):
            for entry in map(json.loads, log.read_text().splitlines()):
                if entry["type"] == "begun" or entry["type"] == "ended":
                    times.append(entry["at"])
                if entry["type"] == "ended":
                    ended[entry["id"]] = entry["outcome"]["ending"], entry["outcome"]["files"]
        return times, ended

    def measure(self) -> int:
        """Print the rows; 1 if the goal is missed. The ideal runs before and after."""
        for name, words, shards in (("warm", ("--on", "ray"), 0), ("warm", (), 3)):
            self.run(name, 12, *words, shards=shards)
        before, _ = self.run("before", self._tasks, shards=3)
        fleet, started = self.run("fleet", self._tasks, "--on", "ray")
        after, _ = self.run("after", self._tasks, shards=3)
        ideal = (before + after) / 2
        rows = {
            "tasks": self._tasks,
            "tasks a second in three processes without Ray": self._tasks / ideal,
            "tasks a second on three node processes": self._tasks / fleet,
            f"… beside without Ray (goal {GOAL})": ideal / fleet,
            "overhead of a task, ms": (fleet - ideal) / self._tasks * 1000,
            "until the first task begins, s": started,
            "load": os.getloadavg()[0],
        }
        for row, value in rows.items():
            print(f"| {row} | {value if isinstance(value, int) else f'{value:.2f}'} |")
        return int(ideal / fleet < GOAL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=12)
    arguments = parser.parse_args()
    cluster = Cluster(dict(os.environ))
    try:
        cluster.start_head()
        cluster.start_node("second")
        cluster.start_node("third")
        return Bench(cluster, arguments.tasks, arguments.at_once).measure()
    finally:
        cluster.close()


if __name__ == "__main__":
    sys.exit(main())
