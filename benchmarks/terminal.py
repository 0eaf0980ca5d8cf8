"""The live screen, measured through a pseudo-terminal: `python -m benchmarks.terminal`, a table, a code.

A model server sends 1,000 text deltas a second while a person types. Measured: the share of a core, the bytes written
for each byte of text, the time from a key to its echo, the memory at the prompt, and how long the prompt takes to
appear beside the first request of `halo -p`. Also the CPU time of a second in which nothing happens, at the prompt and
below a card, and the five edits of one reply, allowed by a person who presses a key `REACTION` seconds after each card
stands there, as well as commands, web pages and calls of an MCP server: from the first card to the end of the turn. It
needs Linux, because it reads `/proc`.
"""

import fcntl
import json
import os
import pty
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

DELTAS, RATE = 8000, 1000
KEY = "ж"
ROWS, COLUMNS = 40, 120
STARTS = 5
REACTION = 0.35
"""Seconds in which a practised person sees that the expected card is there, and presses its key."""
EDITS, TRIES = 5, 3
IDLE = 5.0
"""Seconds for which nothing happens."""
GOALS = {"core": 30.0, "bytes": 3.0, "echo": 16.0, "echo_95": 40.0, "memory": 70.0, "prompt": 1.6, "frame": 1.5}
GOALS |= {"idle": 15.0, "idle_card": 15.0, "five": 3.0, "five_commands": 3.0, "five_pages": 3.0, "five_mcp": 3.0}
PIECES = (
    "The parser reads each token once and keeps what it made of it in a cache that is never cleared. ",
    "Then **another** sentence with `code` follows, and a third one that is a little longer than the first.\n\n",
    "- an item of a list\n- a second item, with `code`\n\n",
    "```python\ndef function(value: int) -> int:\n    return value * 2  # doubled\n\n\nprint(function(21))\n```\n\n",
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def split_words() -> list[str]:
    """The deltas: words of a reply with prose, lists and code."""
    text = "".join(PIECES) * 400
    words = [word + " " for word in text.split(" ")]
    return words[:DELTAS]


class PacedServer:
    """Answers each request with the deltas at their rate. `first_request` is when the first one came."""

    def __init__(self, deltas: list[str]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._events = [_chunk({"delta": {"content": delta}, "index": 0}) for delta in deltas]
        self.requests: list[float] = []
        self.streamed = (0.0, 0.0)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, suppress(ConnectionError):
            while request := _receive(connection):
                if not request.startswith(b"POST"):
                    connection.sendall(_NOT_FOUND)
                    continue
                self.requests.append(time.monotonic())
                self._stream(connection)

    def _stream(self, connection: socket.socket) -> None:
        connection.sendall(_HEAD)
        begin = time.monotonic()
        for number, event in enumerate(self._events):
            connection.sendall(event)
            if (ahead := begin + number / RATE - time.monotonic()) > 0.001:
                time.sleep(ahead)
        self.streamed = (begin, time.monotonic())
        end = _chunk({"delta": {}, "index": 0, "finish_reason": "stop"})
        connection.sendall(end + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


def _chunk(choice: dict[str, object]) -> bytes:
    body = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    data = b"data: " + json.dumps(body).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


def _receive(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(1 << 16)):
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while lengths and len(body) < int(lengths[0]):
        body += connection.recv(1 << 16)
    return head


class Terminal:
    """A pseudo-terminal with a program in it. `seen` is everything that it wrote, with times."""

    def __init__(self, words: list[str], home: str, folder: str = "") -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = os.environ | {"HALOCLINE_HOME": home, "TERM": "xterm-256color"}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder or home, start_new_session=True
        )
        os.close(slave)
        self.seen: list[tuple[float, bytes]] = []

    def read_until(self, is_done: Callable[[bytes], bool], seconds: float) -> float:
        """Read what is written, and return when it was enough."""
        text, end = b"", time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            if select.select([self.master], [], [], 0.01)[0]:
                data = os.read(self.master, 1 << 16)
                self.seen.append((time.monotonic(), data))
                text += data
                if is_done(text):
                    return time.monotonic()
        raise TimeoutError(f"not seen within {now - end + seconds:.0f} s: {text[-500:]!r}")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def rest(self, seconds: float) -> None:
        """Let time pass, and read what is written."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.seen.append((time.monotonic(), os.read(self.master, 1 << 16)))

    def idle(self) -> float:
        """Milliseconds of CPU time in a second in which nothing happens."""
        begin = self.cpu_nanoseconds()
        self.rest(IDLE)
        return (self.cpu_nanoseconds() - begin) / 1e6 / IDLE

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_nanoseconds(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0])

    def memory(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1000

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def flags(server: PacedServer) -> list[str]:
    url = f"http://127.0.0.1:{server.port}/v1"
    return ["-m", "openai-compatible/bench", "--base-url", url, "--api-key", "x"]


def measure_stream(home: str) -> dict[str, float]:
    """Type while the reply is streamed."""
    deltas = split_words()
    server = PacedServer(deltas)
    terminal = Terminal([sys.executable, "-m", "halocline", *flags(server)], home)
    terminal.read_until(lambda text: b"context" in text or b"act" in text, 30)
    time.sleep(1)
    memory = terminal.memory()
    terminal.type("go\r")
    terminal.read_until(lambda text: b"writing" in text, 30)
    begin, cpu, first = time.monotonic(), terminal.cpu(), len(terminal.seen)
    echoes = []
    while not server.streamed[1] and time.monotonic() - begin < 0.9 * DELTAS / RATE:
        typed = time.monotonic()
        terminal.type(KEY)
        echoes.append(1000 * (terminal.read_until(lambda text: KEY.encode() in text, 5) - typed))
        terminal.type("\x7f")
        terminal.rest(0.15)
    took = time.monotonic() - begin
    share = 100 * (terminal.cpu() - cpu) / took
    written = sum(len(data) for _, data in terminal.seen[first:])
    text = len("".join(deltas).encode()) * min(1.0, took * RATE / DELTAS)
    terminal.close()
    worst = sorted(echoes)[int(0.95 * len(echoes))]
    return {"core": share, "bytes": written / text, "echo": median(echoes), "echo_95": worst, "memory": memory}


def measure_decisions(home: str) -> dict[str, float]:
    """Do nothing at the prompt and below a card; then allow the edits of a reply by one key for all, or for each."""
    terminal = _open_edits(home)
    idle = terminal.idle()
    _see_first_card(terminal)
    idle_card = terminal.idle()
    terminal.close()
    keys = {"five": "s", "five_enter": "\r" * EDITS, "five_singly": "y" * EDITS}
    paces = {name: min(_measure_pace(home, pressed) for _ in range(TRIES)) for name, pressed in keys.items()}
    others = {name: min(_measure_calls(home, *call) for _ in range(TRIES)) for name, call in list_calls(home).items()}
    return {"idle": idle, "idle_card": idle_card, **paces, **others}


class Pages(BaseHTTPRequestHandler):
    """Answers each request with a page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"A page.")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def list_calls(home: str) -> dict[str, tuple[str, str]]:
    """Calls that are no edits, each numbered, with what its card shows: of commands, web pages and an MCP server."""
    server = Path(__file__).with_name("numbers_server.py")
    servers = {"mcpServers": {"numbers": {"command": sys.executable, "args": [str(server)]}}}
    Path(home, "mcp.json").write_text(json.dumps(servers))
    call = '[[turn.call]]\ntool = "{}"\narguments = {{{{ {} }}}}\n'
    pages = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    return {
        "five_commands": (call.format("execute_command", 'command = "mkdir made-{}"'), "creates made-{}"),
        "five_pages": (call.format("web_fetch", f'url = "http://127.0.0.1:{pages.server_port}/page-{{}}"'), "page-{}"),
        "five_mcp": (call.format("numbers__note", 'text = "note-{}"'), "note-{}"),
    }


def _measure_calls(home: str, call: str, card: str) -> float:
    """Seconds from the first card to the end of the turn, with Enter for each of as many calls."""
    terminal = _open(home, call)
    terminal.type("go\r")
    first = 0.0
    for number in range(EDITS):
        title = card.format(number).encode()
        shown = terminal.read_until(lambda text, title=title: title in text, 30)
        first = first or shown
        if not number:
            terminal.read_until(lambda text: "↑↓ or a key".encode() in text, 30)
        terminal.rest(REACTION)
        terminal.type("\r")
    took = terminal.read_until(lambda text: b"All are there." in text, 30) - first
    terminal.close()
    return took


def _measure_pace(home: str, keys: str) -> float:
    """Seconds from the first card to the end of the turn, with a key for each of the cards that come.

    Enter counts only in silence, and the first card says when that is.
    """
    terminal = _open_edits(home)
    first = _see_first_card(terminal)
    for number, key in enumerate(keys, 1):
        place = f"{number} of {EDITS}" if number > 1 else "↑↓ or a key" if key == "\r" else ""
        if place:
            terminal.read_until(lambda text, shown=place: shown.encode() in text, 30)
        terminal.rest(REACTION)
        terminal.type(key)
    took = terminal.read_until(lambda text: b"All are there." in text, 30) - first
    terminal.close()
    return took


def _see_first_card(terminal: Terminal) -> float:
    terminal.type("go\r")
    return terminal.read_until(lambda text: f"1 of {EDITS}".encode() in text, 30)


def _open_edits(home: str) -> Terminal:
    """Open a terminal in an empty folder in which the next prompt leads to several edits."""
    return _open(home, '[[turn.call]]\ntool = "write_to_file"\narguments = {{ path = "{}.txt", content = "new\\n" }}\n')


def _open(home: str, call: str) -> Terminal:
    """Open a terminal in an empty folder in which the next prompt leads to several of these calls."""
    folder, script = tempfile.mkdtemp(prefix="calls-", dir=Path(home).parent), Path(home, "calls.toml")
    calls = "".join(call.format(number) for number in range(EDITS))
    script.write_text(f'[[turn]]\ntext = "Some files."\n{calls}[[turn]]\ntext = "All are there."\n')
    terminal = Terminal([sys.executable, "-m", "halocline", "-m", f"scripted/{script}"], home, folder)
    terminal.read_until(lambda text: b"? keys" in text, 30)
    terminal.rest(2)
    return terminal


def measure_start(home: str) -> dict[str, float]:
    """CPU time to the first frame beside `halo --version`, and seconds to the screen beside the request of `halo -p`.

    The shortest of a few, taking turns.
    """
    prompts, requests, frames, versions = [], [], [], []
    for _ in range(STARTS):
        server = PacedServer(["Hello."])
        terminal = Terminal([sys.executable, "-m", "halocline", *flags(server)], home)
        terminal.read_until(lambda text: "❯".encode() in text, 30)
        frames.append(terminal.cpu_nanoseconds())
        prompts.append(terminal.read_until(lambda text: b"? keys" in text, 30))
        prompts[-1] -= terminal.started
        terminal.close()
        versions.append(_measure_version(home))
        begin = time.monotonic()
        environment = os.environ | {"HALOCLINE_HOME": home}
        words = [sys.executable, "-m", "halocline", "-p", *flags(server), "go"]
        subprocess.run(words, env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        requests.append(server.requests[0] - begin)
    frame, version = min(frames) / 1e6, min(versions) / 1e6
    first = {"frame": frame / version, "frame_ms": frame, "version_ms": version}
    return first | {"prompt": min(prompts) / min(requests), "prompt_s": min(prompts), "request_s": min(requests)}


def _measure_version(home: str) -> int:
    """CPU nanoseconds of `halo --version`."""
    terminal = Terminal([sys.executable, "-m", "halocline", "--version"], home)
    _, _, used = os.wait4(terminal.process.pid, 0)
    os.close(terminal.master)
    return int(1e9 * (used.ru_utime + used.ru_stime))


LABELS = {
    "frame": "CPU time to the first frame beside halo --version",
    "frame_ms": "CPU time to the first frame, ms",
    "version_ms": "CPU time of halo --version, ms",
    "core": "share of a core at 1,000 deltas/s, %",
    "bytes": "bytes written for each byte of text",
    "echo": "key to echo while streaming, median ms",
    "echo_95": "key to echo while streaming, 95th percentile ms",
    "memory": "memory at the prompt, MB",
    "idle": "CPU time of a second at the prompt, ms",
    "idle_card": "CPU time of a second below a card, ms",
    "five": "five edits of a reply, allowed by one key, s",
    "five_enter": "five edits of a reply, allowed by Enter for each, s",
    "five_singly": "five edits of a reply, allowed by a letter for each, s",
    "five_commands": "five commands of a reply, allowed by Enter for each, s",
    "five_pages": "five web pages of a reply, allowed by Enter for each, s",
    "five_mcp": "five calls of an MCP server of a reply, allowed by Enter for each, s",
    "prompt": "time to the screen beside the first request of halo -p",
    "prompt_s": "time to the screen, s",
    "request_s": "time to the first request of halo -p, s",
}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="halocline-terminal-") as folder:
        home = str(Path(folder, "home"))
        Path(home).mkdir()
        measure_start(home)
        figures = measure_start(home) | measure_stream(home) | measure_decisions(home)
    print("| figure | value | goal |\n| --- | ---: | ---: |")
    for name, value in figures.items():
        print(f"| {LABELS[name]} | {value:.2f} | {GOALS.get(name, '')} |")
    return int(any(figures[name] > limit for name, limit in GOALS.items()))


if __name__ == "__main__":
    sys.exit(main())
