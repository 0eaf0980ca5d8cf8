"""The board, measured through a pseudo-terminal: `python -m benchmarks.board`, a table, a code.

Another process runs a task whose model sends 1,000 text deltas a second. The board has that task open while a person
types. Measured: the share of a core, the memory, the time from a key to its echo, and how long the list takes to
appear. It needs Linux, because it reads `/proc`.
"""

import os
import select
import sys
import tempfile
import time
from statistics import median

from benchmarks.terminal import DELTAS, KEY, RATE, PacedServer, Terminal, flags, split_words

GOALS = {"core": 40.0, "memory": 95.0}
STARTS = 3


def measure_stream(home: str) -> dict[str, float]:
    """Type on the board while it shows the reply of another process."""
    server = PacedServer(split_words())
    runner = Terminal([sys.executable, "-m", "halocline", *flags(server)], home)
    runner.read_until(lambda text: b"context" in text or b"act" in text, 30)
    runner.type("hold\r")
    board = open_board(home)
    board.read_until(lambda text: b"running (1)" in text, 30)
    board.type("\r")
    board.read_until(lambda text: b"Ctrl-X" in text, 30)
    board.type("\t")
    time.sleep(1)
    begin, cpu, echoes = time.monotonic(), board.cpu(), list[float]()
    while not server.streamed[1] and time.monotonic() - begin < 0.6 * DELTAS / RATE:
        typed = time.monotonic()
        board.type(KEY)
        echoes.append(1000 * (board.read_until(lambda text: KEY.encode() in text, 5) - typed))
        board.type("\x7f")
        read_on(board, 0.15)
        read_on(runner, 0.0)
    share = 100 * (board.cpu() - cpu) / (time.monotonic() - begin)
    memory = board.memory()
    runner.close()
    board.close()
    worst = sorted(echoes)[int(0.95 * len(echoes))]
    return {"core": share, "memory": memory, "echo": median(echoes), "echo_95": worst}


def read_on(terminal: Terminal, seconds: float) -> None:
    """Read what a program writes, so that it never waits for its terminal."""
    end = time.monotonic() + seconds
    while select.select([terminal.master], [], [], max(0.0, end - time.monotonic()))[0]:
        os.read(terminal.master, 1 << 16)
        if time.monotonic() > end:
            return


def open_board(home: str) -> Terminal:
    return Terminal([sys.executable, "-m", "halocline", "board"], home)


def measure_start(home: str) -> float:
    """Seconds until the list is on the screen; the shortest of a few."""
    times = []
    for _ in range(STARTS):
        board = open_board(home)
        times.append(board.read_until(lambda text: b"All tasks" in text, 30) - board.started)
        board.close()
    return min(times)


LABELS = {
    "core": "share of a core at 1,000 deltas/s, %",
    "memory": "memory while streaming, MB",
    "echo": "key to echo while streaming, median ms",
    "echo_95": "key to echo while streaming, 95th percentile ms",
    "start": "time to the list of tasks, s",
}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="halocline-board-") as home:
        figures = {"start": measure_start(home)} | measure_stream(home)
    print("| figure | value | goal |\n| --- | ---: | ---: |")
    for name, value in figures.items():
        print(f"| {LABELS[name]} | {value:.2f} | {GOALS.get(name, '')} |")
    return int(any(figures[name] > limit for name, limit in GOALS.items()))


if __name__ == "__main__":
    sys.exit(main())
