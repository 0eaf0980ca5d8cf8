"""The examples of the guide: what its pages say `halo` prints, and what it really prints.

A page's `console` blocks are one session, run in order by bash in a small project with a home of its own. A block below
a line that ends in a file's path and a colon is that file. Where an example asks a model, `scripts.toml` plays it.
What differs between runs (ids, times, durations, the model) is replaced by a sample in what is printed and in commands.
`python -m tests.docs.guide_examples [PAGE …]` writes what is printed now into the pages; shorten it by hand with `…`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.surfaces.cli import fork_client
from tests.surfaces.cli.forked import shared_fork_server

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
PROJECT = Path(__file__).parent / "project"
SCRIPTS = tomllib.loads((Path(__file__).parent / "scripts.toml").read_text(encoding="utf-8"))
"""The turns of the model for each command that asks one."""

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([~.\w][\w./-]+)`[^`\n]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST = 60

CHECKPOINT = re.compile(r" · \d+ checkpoints?(?= · )")
"""How many checkpoints were saved before the end of a turn, which may be one more or less."""
SLOW_CHECK = re.compile(r"^.*Checking the goal: .* runs\.\n", re.MULTILINE)
"""What a person is told of a check that takes more than a second, as any does on a busy machine."""
BLANK_LINES = re.compile(r"\n{3,}")
IDS = (
    (re.compile(r"\b\d{6}-\d{6}-[a-z0-9]{4}\b"), "261115-1015{:02}-k4ru"),
    (re.compile(r"(?<=  )[0-9a-f]{10}(?=  20)|(?<=restore )[0-9a-f]{10}\b"), "3f9c{:02}e1b7"),
)
"""Tasks and checkpoints; each gets the sample of its number."""
SAMPLES = (
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b"), "2026-11-15 10:15"),
    (re.compile(r"\b\d+\.\d s\b"), "2.4 s"),
    (re.compile(r"\bin \d\.\d+s\b"), "in 0.001s"),
    (re.compile(r"\b[\d.]+k tokens\b"), "2.1k tokens"),
    (re.compile(r"\bscripted/(~/)?script\.toml"), "anthropic/claude-sonnet-5-5"),
)


class Session:
    """A home and a project in which a page's commands run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ids: dict[str, str] = {}
        self.project = root / "stats"
        shutil.copytree(PROJECT, self.project, ignore=shutil.ignore_patterns("__pycache__"))
        programs = root / "bin"
        programs.mkdir()
        server = shared_fork_server()
        self._inherits = [server.fd] if server else []
        words = ["-SE", fork_client.__file__, str(server.fd)] if server else ["-m", "halocline"]
        halo = programs / "halo"
        halo.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n')
        halo.chmod(0o755)
        self.env = {
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(root),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "COLUMNS": "110",
            "HALOCLINE_SANDBOX": "off",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        for words in ("init -qb main", "add .", "-c user.name=You -c user.email=you@example.org commit -qm Start"):
            subprocess.run(["git", *words.split()], cwd=self.project, env=self.env, check=True)

    @classmethod
    @contextmanager
    def open(cls, page: str) -> "Iterator[Session]":
        """A session with the page's files. Its folder has a short name: a long one would be cut in what is printed."""
        with tempfile.TemporaryDirectory(prefix="halo-") as folder:
            session = cls(Path(folder))
            session._write_files(page)
            yield session

    def _write_files(self, page: str) -> None:
        for name, content in FILE.findall(page):
            path = self.root / name[2:] if name.startswith("~/") else self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            path.chmod(0o755 if content.startswith("#!") else 0o644)

    def run(self, command: str) -> list[str]:
        """The lines that a command prints, on either stream."""
        script = self.root / "script.toml"
        script.write_text(SCRIPTS.get(command, ""))
        for real, sample in self.ids.items():
            command = command.replace(sample, real)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.project,
            env=self.env | {"HALOCLINE_MODEL": f"scripted/{script}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST,
            pass_fds=self._inherits,
        )
        text = self._with_samples(done.stdout.decode().replace(str(self.root), "~"))
        text = BLANK_LINES.sub("\n\n", SLOW_CHECK.sub("", CHECKPOINT.sub("", text)))
        return [line.rstrip() for line in text.strip("\n").splitlines()]

    def _with_samples(self, text: str) -> str:
        for pattern, sample in IDS:
            text = pattern.sub(lambda found, sample=sample: self._sample(found[0], sample), text)
        for pattern, replacement in SAMPLES:
            text = pattern.sub(replacement, text)
        return text

    def _sample(self, real: str, sample: str) -> str:
        known = [other for other in self.ids.values() if other.startswith(sample[:4])]
        return self.ids.setdefault(real, sample.format(len(known) + 1))


def split_session(block: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a `console` block, each with the lines it should print, which may begin with `$` as well."""
    for part in re.split(r"^\$ (?=(?:[A-Z_]+=\S+ )?(?:halo|git) )", block, flags=re.MULTILINE)[1:]:
        command, _, rest = part.partition("\n")
        yield command, [line.rstrip() for line in rest.rstrip("\n").splitlines()]


def console_blocks(page: str) -> list[str]:
    return [text for language, text in BLOCK.findall(page) if language == "console"]


def matches(expected: list[str], printed: list[str]) -> bool:
    """True if the lines are those; `…` stands for anything in a line, and alone for any lines."""
    lines = [r"(?:.*\n)*?" if line.strip() == "…" else _line_pattern(line) for line in expected]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in printed)) is not None


def _line_pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split("…"))) + r"\n"


def update_page(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    with Session.open(page) as session:
        for block in console_blocks(page):
            parts = []
            for command, expected in split_session(block):
                printed = session.run(command)
                shown = expected if expected and matches(expected, printed) else printed
                parts += [f"$ {command}", *shown]
            page = page.replace(f"```console\n{block}```", "```console\n" + "\n".join(parts) + "\n```", 1)
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    for chosen in [GUIDE / f"{name}.md" for name in sys.argv[1:]] or PAGES:
        update_page(chosen)
