"""Make a virtual environment with what the lock names and the project: `python scripts/install.py VENV LOCK`.

It says every few seconds what it is doing: pip alone is either silent for a minute, or writes hundreds of lines into a
log. What a program wrote is shown if it fails. An environment that is not whole is made again.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

PAUSE = 3.0
"""Seconds between two lines."""
_PACKAGE = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?==", re.MULTILINE)
_PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--no-deps", "--no-color")
_UNCOMPILED = "--no-compile"
"""pip compiles with one core, a third of its time; `install_all` uses all."""
_PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))"


class Progress:
    """What pip was last seen to do."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._fetched = 0
        self._now = "starting pip"
        self._began = time.monotonic()
        self._ended = threading.Event()

    def begin(self, what: str) -> None:
        """Print what begins now."""
        self._now = what
        self.print_line()

    def read_line(self, line: str) -> None:
        """Take note of a line of pip's output."""
        word, _, rest = line.strip().partition(" ")
        if word == "Collecting":
            self._fetched += 1
            self._now = f"package {self._fetched} of {self._total}: {rest.partition('==')[0]}"
        elif line.startswith("Installing collected packages"):
            self._now = f"unpacking {self._total} packages"
        elif line.startswith(("Building", "Preparing")):
            self._now = line.strip()

    def report(self) -> None:
        """Print what goes on until `end` is called, from a thread of its own."""
        while not self._ended.wait(PAUSE):
            self.print_line()

    def print_line(self) -> None:
        """Print what goes on now."""
        print(f"  {self.seconds:3.0f} s  {self._now}", flush=True)

    def end(self) -> None:
        """Print nothing more."""
        self._ended.set()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began


def count_packages(lock: str) -> int:
    """Return how many packages a lock file names."""
    return len(_PACKAGE.findall(lock))


def run_program(words: Sequence[str | Path], progress: Progress) -> None:
    """Run a program, and read what it says. Raises SystemExit with its exit code after showing that if it fails."""
    output: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        assert program.stdout is not None
        for line in program.stdout:
            output.append(line)
            progress.read_line(line)
    if program.returncode:
        print("".join(output), file=sys.stderr, end="")
        raise SystemExit(program.returncode)


def is_whole(python: Path) -> bool:
    """True if an environment has a Python that runs and has pip; a `venv` that was stopped, or Debian's, has none."""
    try:
        return not subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode
    except OSError:
        return False


def require_venv() -> None:
    """Raises SystemExit, before anything is made, if this Python lacks what Debian keeps in a package of its own."""
    try:
        import_module("ensurepip").version()
    except (ImportError, AttributeError):
        name = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        raise SystemExit(
            f"Python's venv is needed (on Debian and Ubuntu: apt install {name}); then run it again"
        ) from None


def install_all(environment: Path, lock: Path, progress: Progress) -> None:
    """Make the environment if it is not whole, and install the lock's packages and the project into it."""
    python = environment / "bin" / "python"
    if not is_whole(python):
        require_venv()
        progress.begin(f"creating the virtual environment {environment}")
        run_program([sys.executable, "-m", "venv", "--clear", environment], progress)
    progress.begin("starting pip")
    run_program([python, *_PIP, _UNCOMPILED, "--require-hashes", "-r", lock], progress)
    # On all cores. Files that do not compile, such as templates, stay as they are.
    progress.begin("compiling")
    found = subprocess.run([python, "-c", _PACKAGES], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([python, "-m", "compileall", "-qq", "-j", "0", found], stdout=subprocess.DEVNULL, check=False)
    progress.begin("installing halo itself")
    run_program([python, *_PIP, "--no-build-isolation", "-e", "."], progress)


def main() -> None:
    """Install what the lock file names."""
    environment, lock = map(Path, sys.argv[1:])
    progress = Progress(count_packages(lock.read_text()))
    reporter = threading.Thread(target=progress.report, daemon=True)
    reporter.start()
    try:
        install_all(environment, lock, progress)
    finally:
        progress.end()
        reporter.join()
    progress.begin("done")


if __name__ == "__main__":
    main()
